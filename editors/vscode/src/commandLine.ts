/** Tasks as command lines. Nothing here needs VS Code. */

/** A task as tasks.json has it. */
export interface Definition {
  readonly type: string;
  readonly command: string;
  readonly files?: readonly string[];
  readonly output?: string;
  readonly target?: string;
}

/** The tasks that are offered without any tasks.json. */
export const OFFERED: readonly (Definition & { readonly title: string })[] = [
  { type: "ptcompile", command: "lint", title: "lint the workspace" },
  { type: "ptcompile", command: "check", output: "manifests/", title: "check that manifests/ is up to date" },
  { type: "ptcompile", command: "compile", output: "manifests/", title: "compile the workspace into manifests/" },
];

/** The arguments of the program; null for a definition that says nothing that can be done. */
export function commandLine(task: Definition): string[] | null {
  const files = task.files === undefined || task.files.length === 0 ? ["."] : [...task.files];
  const concise = ["--output-format", "concise"];
  const target = task.target === undefined || task.target === "" ? [] : ["--target", task.target];
  switch (task.command) {
    case "lint":
      return ["lint", ...concise, "--", ...files];
    case "compile":
      return ["compile", ...concise, ...target, "-o", task.output ?? "manifests/", "--", ...files];
    case "check":
      return ["compile", ...concise, ...target, "-o", task.output ?? "manifests/", "--check", "--", ...files];
    default:
      return null;
  }
}
