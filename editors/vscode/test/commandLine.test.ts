import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { OFFERED, commandLine } from "../src/commandLine";

const MANIFEST = JSON.parse(readFileSync("package.json", "utf8")) as {
  contributes: {
    problemPatterns: { name: string; regexp: string; code: number; message: number }[];
    taskDefinitions: { properties: { command: { enum: string[] } } }[];
  };
};

test("every task that is declared can be done", () => {
  for (const command of MANIFEST.contributes.taskDefinitions[0]?.properties.command.enum ?? []) {
    assert.ok(commandLine({ type: "ptcompile", command }), command);
  }
  assert.equal(commandLine({ type: "ptcompile", command: "delete" }), null);
});

test("the words of a task", () => {
  assert.deepEqual(commandLine({ type: "ptcompile", command: "lint" }), [
    "lint", "--output-format", "concise", "--", ".",
  ]);
  const compile = { type: "ptcompile", command: "compile", files: ["-a.yaml"], output: "out/", target: "volcano" };
  assert.deepEqual(commandLine(compile), [
    "compile", "--output-format", "concise", "--target", "volcano", "-o", "out/", "--", "-a.yaml",
  ]);
  assert.equal(OFFERED.every((one) => commandLine(one) !== null), true);
});

test("findings of the real program are problems", { skip: process.env["PTCOMPILE"] === undefined }, () => {
  const folder = mkdtempSync(join(tmpdir(), "ptcompile-"));
  writeFileSync(join(folder, "pod.yaml"), "apiVersion: v1\nkind: Pod\nmetadata: {name: A}\n");
  const words = commandLine({ type: "ptcompile", command: "lint" }) ?? [];
  let printed = "";
  try {
    printed = execFileSync(process.env["PTCOMPILE"] ?? "", ["-m", "ptcompile", ...words], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    printed = String((error as { stdout: string }).stdout);
  }
  const pattern = MANIFEST.contributes.problemPatterns.find((one) => one.name === "ptcompile");
  const found = printed.trim().split("\n").map((line) => new RegExp(pattern?.regexp ?? "").exec(line));
  assert.ok(found.length > 1);
  for (const one of found) {
    assert.ok(one, printed);
    assert.match(one[1] ?? "", /pod\.yaml$/);
    assert.match(one[pattern?.code ?? 0] ?? "", /^PTC\d{3}$/);
  }
});
