import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const daemon = process.env["HOLDFAST_ADDRESS"] ?? "http://127.0.0.1:4653";

export default defineConfig({
  plugins: [tailwindcss(), react()],
  resolve: { alias: { "@": here("./src") } },
  build: {
    outDir: here("../src/holdfast/server/static"),
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    // A data: address in a style sheet would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": { target: daemon, ws: true }, "/login": daemon } },
});
