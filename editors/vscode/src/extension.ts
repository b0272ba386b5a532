// The extension: starts `visakit lsp`, executes the commands of its lenses, and debugs with
// `visakit dap`.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

function settings(): { path: string; platform: string } {
  const configuration = vscode.workspace.getConfiguration("visakit");
  return {
    path: configuration.get<string>("path") || "visakit",
    platform: configuration.get<string>("platform") || "",
  };
}

async function start(): Promise<void> {
  const { path, platform } = settings();
  const server: ServerOptions = { command: path, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "visa" }],
    initializationOptions: { platform, commands: ["visakit.run", "visakit.showControlFlow"] },
    synchronize: { configurationSection: "visakit" },
  };
  client = new LanguageClient("visakit", "vISA", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const what = error instanceof Error ? error.message : String(error);
    const open = "Open the setting";
    const chosen = await vscode.window.showErrorMessage(
      `\`${path} lsp\` does not start: ${what}. Colours work without it; the setting visakit.path names the program.`,
      open,
    );
    if (chosen === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "visakit.path");
    }
  }
}

async function restart(): Promise<void> {
  await client?.stop();
  await start();
}

/** One word of a command line, whatever the shell. */
function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) {
    return word;
  }
  return process.platform === "win32" ? `"${word.replace(/"/g, '\\"')}"` : `'${word.replace(/'/g, `'\\''`)}'`;
}

/** Asks for the arguments of `visakit run`, and runs it in a terminal. */
async function run(address: string, kernel: string): Promise<void> {
  const file = vscode.Uri.parse(address);
  if (file.scheme !== "file") {
    void vscode.window.showErrorMessage("Only files can be run: save the text first.");
    return;
  }
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === file.toString());
  if (open && !(await open.save())) {
    return;
  }
  const words = await vscode.window.showInputBox({
    title: `visakit run ${kernel}`,
    prompt: "Arguments: --bare --set V32=1,2,3 --print V33, or --zeinfo k.zeinfo --global 64 --arg zeros:256",
    value: "--bare",
    ignoreFocusOut: true,
  });
  if (words === undefined) {
    return;
  }
  const terminal = vscode.window.createTerminal({ name: `visakit run ${kernel}` });
  terminal.show(true);
  const chosen = words.includes("--bare") ? "" : ` --kernel ${quoted(kernel)}`;
  terminal.sendText(`${quoted(settings().path)} run ${quoted(file.fsPath)}${chosen} ${words}`);
}

/** Shows the control flow of a routine, which the server draws. */
async function showControlFlow(address: string, routine: string): Promise<void> {
  let image: unknown;
  try {
    image = await client?.sendRequest("workspace/executeCommand", {
      command: "visakit.controlFlow",
      arguments: [address, routine],
    });
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    return;
  }
  if (typeof image !== "string") {
    return;
  }
  const panel = vscode.window.createWebviewPanel("visakit.controlFlow", `Control flow: ${routine}`, {
    viewColumn: vscode.ViewColumn.Beside,
    preserveFocus: true,
  });
  // An image cannot run scripts, and the page may load nothing else.
  const source = Buffer.from(image, "utf8").toString("base64");
  panel.webview.html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>body { background: white; }</style>
</head>
<body><img alt="Control flow" src="data:image/svg+xml;base64,${source}"></body>
</html>`;
}

/** The program of the settings speaks the debugger's protocol as well. */
const debuggers: vscode.DebugAdapterDescriptorFactory = {
  createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(settings().path, ["dap"]),
};

/** F5 without a configuration: asks for the words that `visakit debug` takes. */
const configurations: vscode.DebugConfigurationProvider = {
  async resolveDebugConfiguration(_folder, given) {
    if (given.type) {
      return given;
    }
    const file = vscode.window.activeTextEditor?.document;
    if (file?.languageId !== "visa" || file.uri.scheme !== "file") {
      return undefined;
    }
    const words = await vscode.window.showInputBox({
      title: "visakit debug",
      prompt: "Arguments: --zeinfo k.zeinfo --global 64 --arg zeros:256, or --bare --set V32=1,2,3",
      value: "--bare",
      ignoreFocusOut: true,
    });
    if (words === undefined) {
      return undefined;
    }
    const args = [file.uri.fsPath, ...words.split(/\s+/).filter((word) => word)];
    return { type: "visakit", request: "launch", name: "visakit", args, stopOnEntry: true };
  },
};

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("visakit.restart", restart),
    vscode.commands.registerCommand("visakit.run", run),
    vscode.commands.registerCommand("visakit.showControlFlow", showControlFlow),
    vscode.debug.registerDebugAdapterDescriptorFactory("visakit", debuggers),
    vscode.debug.registerDebugConfigurationProvider("visakit", configurations),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("visakit.path")) {
        void restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
