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

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
