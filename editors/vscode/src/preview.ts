import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { later } from "./later";

const WAIT = 300;

/** The page of `ptcompile explain --html` beside the text that it is about, new whenever that changes. */
export class Previews implements vscode.Disposable {
  private readonly panels = new Map<string, vscode.WebviewPanel>();

  constructor(private readonly client: () => LanguageClient | undefined) {}

  /** Show the page of a text, or bring it to the front. */
  show(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    const there = this.panels.get(uri);
    if (there !== undefined) {
      there.reveal(vscode.ViewColumn.Beside, true);
      return;
    }
    const name = vscode.workspace.asRelativePath(document.uri);
    const panel = vscode.window.createWebviewPanel(
      "ptcompile.preview",
      `${name}: where every line came from`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true },
    );
    this.panels.set(uri, panel);
    const refresh = later(WAIT, () => void this.fill(uri, panel));
    const changed = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document.uri.toString() === uri) {
        refresh.call();
      }
    });
    const saved = vscode.workspace.onDidSaveTextDocument(() => refresh.call());
    const recolored = vscode.window.onDidChangeActiveColorTheme(() => refresh.call());
    panel.onDidDispose(() => {
      this.panels.delete(uri);
      vscode.Disposable.from(refresh, changed, saved, recolored).dispose();
    });
    void this.fill(uri, panel);
  }

  private async fill(uri: string, panel: vscode.WebviewPanel): Promise<void> {
    const client = this.client();
    if (client === undefined || !client.isRunning()) {
      return;
    }
    const { HighContrastLight, Light } = vscode.ColorThemeKind;
    const scheme = [HighContrastLight, Light].includes(vscode.window.activeColorTheme.kind) ? "light" : "dark";
    const asked = { command: "ptcompile.explainPage", arguments: [uri, scheme] };
    const page = await client.sendRequest<{ text: string } | null>("workspace/executeCommand", asked).catch(() => null);
    if (page !== null && this.panels.get(uri) === panel) {
      panel.webview.html = page.text;
    }
  }

  dispose(): void {
    for (const panel of this.panels.values()) {
      panel.dispose();
    }
  }
}
