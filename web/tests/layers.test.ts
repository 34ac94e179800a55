// Who may import whom. Arrows point down; nothing imports `app`.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const SRC = join(import.meta.dirname, "../src");
const MAY: Record<string, string[]> = {
  wire: ["wire"],
  model: ["wire", "model"],
  ui: ["model", "ui"],
  connection: ["wire", "connection"],
  store: ["wire", "model", "connection", "store"],
  features: ["wire", "model", "ui", "connection", "store", "features"],
};

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));

test.each(files)("%s imports only what stands below it", (name) => {
  const layer = relative(SRC, join(SRC, name)).split("/")[0]!;
  const allowed = MAY[layer];
  if (!allowed) return expect(["app", "main.tsx", "vite-env.d.ts"]).toContain(layer);
  const imports = [...readFileSync(join(SRC, name), "utf8").matchAll(/from "@\/([\w-]+)/g)].map((found) => found[1]!);
  expect(imports.filter((each) => !allowed.includes(each))).toEqual([]);
});

test.each(files.filter((name) => !name.endsWith(".gen.ts")))("%s is short", (name) => {
  expect(readFileSync(join(SRC, name), "utf8").split("\n").length).toBeLessThanOrEqual(250);
});
