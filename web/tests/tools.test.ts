import { expect, test } from "vitest";
import { aboutOf, givenTo } from "@/model/tools";

const given = (fields: object) => givenTo(JSON.stringify(fields));

test("a command, a change and a file have their shapes", () => {
  expect(given({ command: "make\ntest" })).toEqual({ shape: "command", command: "make\ntest" });
  expect(given({ path: "a", old: "x", new: "y" })).toEqual({ shape: "edit", path: "a", was: "x", is: "y" });
  expect(given({ path: "a", content: "x" })).toEqual({ shape: "file", path: "a", text: "x" });
  expect(given({ a: 1, b: "c" })).toEqual({ shape: "fields", fields: [["a", "1"], ["b", "c"]] });
});

test("what was cut off, or is no object, is shown as it is", () => {
  expect(givenTo('{"path": "a", "con')).toEqual({ shape: "raw", text: '{"path": "a", "con' });
  expect(givenTo("[1]")).toEqual({ shape: "raw", text: "[1]" });
});

test("nothing hides in what is shown", () => {
  const { command } = given({ command: "echo \u202eb\u200b\u001b[2K\rrm" }) as { command: string };
  expect(command).toBe("echo \\u202eb\\u200b\\u001b[2K\\u000drm");
});

test("a line about it", () => {
  expect(aboutOf('{"command": "ls"}')).toBe("ls");
  expect(aboutOf('{"path": "a.py", "content": ""}')).toBe("a.py");
});
