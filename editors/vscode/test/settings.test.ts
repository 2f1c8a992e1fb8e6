import assert from "node:assert/strict";
import { test } from "node:test";

import { program, serverOptions, serverProcess, type Ask } from "../src/settings";

const having =
  (values: Record<string, unknown>): Ask =>
  (name) =>
    values[name];

test("settings that are not made are left to the configuration file", () => {
  assert.deepEqual(serverOptions(having({})), {});
  assert.deepEqual(serverOptions(having({ cluster: " ", select: [], ignore: "PTC1", config: 3 })), {});
});

test("settings that are made", () => {
  const given = { cluster: "prod.yaml", kubernetesVersion: "1.34", ignore: ["PTC109", 5], other: "x" };
  assert.deepEqual(serverOptions(having(given)), { cluster: "prod.yaml", kubernetesVersion: "1.34", ignore: ["PTC109"] });
});

test("the program", () => {
  assert.deepEqual(program(having({})), ["ptcompile"]);
  assert.deepEqual(program(having({ command: [] })), ["ptcompile"]);
  assert.deepEqual(program(having({ command: ["python", "-m", "ptcompile"] })), ["python", "-m", "ptcompile"]);
});

test("the server of a workspace that is not trusted", () => {
  const words: [string, ...string[]] = ["/venv/bin/python", "-P", "-m", "ptcompile"];
  const args = ["-P", "-m", "ptcompile", "server", "--stdio"];
  assert.deepEqual(serverProcess(words, true, "/own"), { command: "/venv/bin/python", args, options: {} });
  assert.deepEqual(serverProcess(words, false, "/own"), {
    command: "/venv/bin/python",
    args: [...args, "--untrusted"],
    options: { cwd: "/own" },
  });
});
