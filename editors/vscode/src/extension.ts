import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

import { Previews } from "./preview";
import { program, serverOptions, serverProcess } from "./settings";
import { Tasks } from "./tasks";

let client: LanguageClient | undefined;
let ownFolder = "";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  ownFolder = context.extensionPath;
  const previews = new Previews(() => client);
  context.subscriptions.push(
    previews,
    vscode.tasks.registerTaskProvider("ptcompile", new Tasks()),
    vscode.commands.registerCommand("ptcompile.restart", () => restart()),
    vscode.commands.registerCommand("ptcompile.preview", () => {
      const document = vscode.window.activeTextEditor?.document;
      if (document !== undefined) {
        previews.show(document);
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("ptcompile")) {
        void restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose().catch(() => undefined);
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("ptcompile", vscode.workspace.workspaceFolders?.[0]);
  const words = program((name) => settings.get(name));
  const server: ServerOptions = serverProcess(words, vscode.workspace.isTrusted, ownFolder);
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "yaml" },
      { scheme: "file", language: "json" },
      { scheme: "untitled", language: "yaml" },
    ],
    initializationOptions: serverOptions((name) => settings.get(name)),
  };
  const starting = new LanguageClient("ptcompile", "ptcompile", server, options);
  client = starting;
  try {
    await starting.start();
  } catch (error) {
    if (client === starting) {
      client = undefined;
    }
    const help = "python -m pip install 'ptcompile[server]', or set ptcompile.command";
    void vscode.window.showErrorMessage(`ptcompile: ${words[0]} does not start (${String(error)}): ${help}`);
  }
}
