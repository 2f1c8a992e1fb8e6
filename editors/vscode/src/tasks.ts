import * as vscode from "vscode";

import { OFFERED, commandLine, type Definition } from "./commandLine";
import { program } from "./settings";

const MATCHERS = ["$ptcompile", "$ptcompile-note"];

/** Lint, compile and check as tasks, whose findings are problems. */
export class Tasks implements vscode.TaskProvider {
  provideTasks(): vscode.Task[] {
    return (vscode.workspace.workspaceFolders ?? []).flatMap((folder) =>
      OFFERED.map(({ title, ...definition }) => task(folder, definition, title)).filter((one) => one !== undefined),
    );
  }

  resolveTask(given: vscode.Task): vscode.Task | undefined {
    const scope = given.scope;
    const folder = typeof scope === "object" ? scope : vscode.workspace.workspaceFolders?.[0];
    const definition = given.definition as unknown as Definition;
    return folder === undefined ? undefined : task(folder, definition, given.name);
  }
}

function task(folder: vscode.WorkspaceFolder, definition: Definition, title: string): vscode.Task | undefined {
  const words = commandLine(definition);
  if (words === null) {
    return undefined;
  }
  const settings = vscode.workspace.getConfiguration("ptcompile", folder);
  const [first, ...rest] = program((name) => settings.get(name));
  const execution = new vscode.ProcessExecution(first, [...rest, ...words], { cwd: folder.uri.fsPath });
  const found = new vscode.Task({ ...definition }, folder, title, "ptcompile", execution, MATCHERS);
  found.group = definition.command === "compile" ? vscode.TaskGroup.Build : vscode.TaskGroup.Test;
  return found;
}
