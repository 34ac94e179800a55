import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Node by default: starting jsdom costs more than all the tests; a file that needs it says so.
export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  test: { environment: "node", include: ["tests/**/*.test.{ts,tsx}"] },
});
