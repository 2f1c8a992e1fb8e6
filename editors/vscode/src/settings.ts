/** What the user has configured, as the language server reads it. Nothing here needs VS Code. */

/** A way to ask for a setting of ours by its name. */
export type Ask = (name: string) => unknown;

/** The server's own options: docs/guide/editors.md. Empty ones are left out, so that the configuration file decides. */
export function serverOptions(ask: Ask): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of ["cluster", "config", "kubernetesVersion"]) {
    const value = ask(name);
    if (typeof value === "string" && value.trim() !== "") {
      found[name] = value.trim();
    }
  }
  for (const name of ["select", "ignore"]) {
    const value = texts(ask(name));
    if (value.length > 0) {
      found[name] = value;
    }
  }
  return found;
}

/** The program and its first arguments. */
export function program(ask: Ask): [string, ...string[]] {
  const [first, ...rest] = texts(ask("command")).filter((word) => word !== "");
  return first === undefined ? ["ptcompile"] : [first, ...rest];
}

/** How the language server is started. */
export interface ServerProcess {
  readonly command: string;
  readonly args: string[];
  readonly options: { readonly cwd?: string };
}

/**
 * The server for a workspace. In one that is not trusted it starts in the extension's own folder: `python -m ptcompile` would
 * run a ptcompile.py of the workspace, and Windows looks for programs in the current folder.
 */
export function serverProcess(words: readonly [string, ...string[]], trusted: boolean, ownFolder: string): ServerProcess {
  const [command, ...rest] = words;
  const args = [...rest, "server", "--stdio"];
  return trusted ? { command, args, options: {} } : { command, args: [...args, "--untrusted"], options: { cwd: ownFolder } };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
