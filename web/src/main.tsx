import { createRoot } from "react-dom/client";
import { App } from "@/app/App";
import { notifyFrom } from "@/app/attention";
import { Page } from "@/app/page";
import { followLinks } from "@/app/route";
import "@/styles.css";

followLinks();
const page = new Page();
notifyFrom(page.sessions);
createRoot(document.getElementById("root")!).render(<App page={page} />);

if ("serviceWorker" in navigator && import.meta.env.PROD) {
  addEventListener("load", () => void navigator.serviceWorker.register("/sw.js").catch(() => null));
}
