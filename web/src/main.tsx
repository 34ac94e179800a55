import { createRoot } from "react-dom/client";
import { App } from "@/app/App";
import { Page } from "@/app/page";
import { followLinks } from "@/app/route";
import "@/styles.css";

followLinks();
createRoot(document.getElementById("root")!).render(<App page={new Page()} />);

if ("serviceWorker" in navigator && import.meta.env.PROD) {
  addEventListener("load", () => void navigator.serviceWorker.register("/sw.js").catch(() => null));
}
