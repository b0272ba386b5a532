// The explorer: opening, saving, sharing, keys. Everything else is up to the panes.
import "./style.css";
import { ask, data, openDump, openFile, type Status } from "./api";
import "./bytes";
import { reset as resetTree } from "./tree";
import { focus, format, goTo, redoEdit, reveal, setText, text, undoEdit } from "./editor";
import { declarationsView } from "./declarations";
import { diffView, setSecond } from "./diff";
import { byId, el } from "./dom";
import { flowView } from "./flow";
import { examples, type Example } from "./gallery";
import { say } from "./message";
import { runCheck, runEnd, runStart, runStep, runUntil, runView, setPreset, type Preset } from "./run";
import { base64, fromBase64, pack, unpack, type State } from "./share";
import { store } from "./store";
import { findingsView, linesView, statisticsView } from "./tables";
import { addViews, currentView, resetViews, showView } from "./views";

addViews([flowView, declarationsView, linesView, statisticsView, findingsView, runView, diffView]);

/** What a page that `visakit explore` serves compiles sources for; other pages have no compiler. */
const device = document.querySelector<HTMLMetaElement>('meta[name="compiles-for"]')?.content;
/** How files of a whole state end. */
const SHARED = ".explorer.json";
const SOURCES = [".cl", ".cpp", ".c", ".h"];

let compared: { name: string; bytes: Uint8Array } | undefined;
/** Longer states are put into the address only when they are shared. */
const LONGEST = 16_000;

interface Given {
  name: string;
  bytes: Uint8Array;
}

async function unzipped(given: Given): Promise<Given> {
  if (given.bytes[0] !== 0x1f || given.bytes[1] !== 0x8b) return given;
  const stream = new Blob([given.bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return { name: given.name.replace(/\.gz$/, ""), bytes: new Uint8Array(await new Response(stream).arrayBuffer()) };
}

const ends = (name: string, ...list: string[]) => list.some((end) => name.toLowerCase().endsWith(end));
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Opens what was chosen or dropped: an object or a text, with its metadata, its source, or a case around it. */
async function openAll(given: Given[], preset?: Preset, view?: string) {
  const started = performance.now();
  let files = await Promise.all(given.map(unzipped));
  let source: string | undefined;
  const whole = files.find((f) => ends(f.name, SHARED));
  if (whole) return restore(JSON.parse(decode(whole.bytes)) as State);
  if (device && !preset && files.every((f) => ends(f.name, ...SOURCES)) && isNew(files)) {
    source = files.filter((f) => ends(f.name, ".cl")).map(baseName)[0];
    files = [...(await compiled(files)), ...files];
  }
  const metadata = files.find((f) => ends(f.name, ".zeinfo", ".ze_info", "zeinfo.yaml"));
  for (const file of files.filter((f) => ends(f.name, ...SOURCES))) store.sources.set(baseName(file), decode(file.bytes));
  let main = files.filter((f) => ends(f.name, ".isa", ".visaasm", ".zebin", ".elf", ".bin") && f.bytes.length > 0);
  const description = files.find((f) => f.name.split("/").pop() === "case.json");
  if (description) {
    const found = caseOf(description, files);
    preset = found.preset;
    if (found.main) main = [found.main];
    view ??= "run";
  }
  // Texts in a folder, without an object, are a compiler's dump.
  const texts = files.filter((f) => f.name.includes("/") && /\.visaasm/.test(f.name));
  const dumped = !description && texts.length > 0 && !main.some((f) => ends(f.name, ".isa"));
  // Of several files the object says most.
  main.sort((a, b) => rank(a.name) - rank(b.name));
  const first = dumped ? texts[0] : main[0] ?? files.find((f) => f !== metadata && !ends(f.name, ...SOURCES, ".json"));
  if (!first) {
    if (metadata && store.summary) await attach(metadata);
    else if (files.length && store.summary) await store.refresh();
    else throw new Error("no object, text or zebin among the files");
    return;
  }
  const summary = dumped ? await openDump(files, chooseKernel) : await openFile(0, first.name.split("/").pop() as string, first.bytes);
  resetViews();
  resetTree();
  compared = undefined;
  compiledFrom = source;
  setPreset(preset);
  store.metadata = "";
  if (metadata && !dumped) {
    store.metadata = decode(metadata.bytes);
    await ask("attach", { text: store.metadata });
  }
  store.summary = summary;
  setText(summary.text, summary.editable);
  await store.opened(summary);
  reveal(store.link(0, 0)?.[0]);
  chrome();
  await showView(view ?? (summary.problems.some((p) => p.severity === "error") ? "findings" : currentView()));
  const last = files.length > 1 && !description && !dumped && main.length === 2 && !view ? main[1] : undefined;
  if (last) await second(last);
  document.body.dataset["opened"] = String(Math.round(performance.now() - started));
  const names = summary.notes.length ? ` ${summary.notes[0]}` : "";
  say(`Opened ${summary.name}: version ${summary.format}, ${summary.size} bytes.${names}`, summary.notes.length > 0);
}

const rank = (name: string) => (ends(name, ".isa") ? 0 : ends(name, ".zebin", ".elf") ? 1 : ends(name, ".visaasm") ? 2 : 3);

/** The source that the program which is open was compiled from here. */
let compiledFrom: string | undefined;
const baseName = (f: Given) => f.name.split("/").pop() as string;

/** Whether sources are to be compiled: those that a program from elsewhere names belong to it. */
const isNew = (sources: Given[]) => sources.some((f) => baseName(f) === compiledFrom) || !sources.some((f) => text().includes(baseName(f)));

/** What the compiler beside the server makes of the one source that has kernels. */
async function compiled(sources: Given[]): Promise<Given[]> {
  const source = sources.find((f) => ends(f.name, ".cl"));
  if (!source) return [];
  const name = baseName(source);
  say(`Compiling ${name} for ${device}…`);
  const address = new URL(`compile?${encodeURIComponent(name)}`, location.href.split("#")[0]);
  const answer = await fetch(address, { method: "POST", body: source.bytes as BlobPart });
  if (!answer.ok) throw new Error(`${name}: ${await answer.text()}`);
  const { files, error } = (await answer.json()) as { files?: { name: string; bytes: string }[]; error?: string };
  if (error) throw new Error(error);
  return (files ?? []).map((f) => ({ name: f.name, bytes: fromBase64(f.bytes) }));
}

async function attach(metadata: Given) {
  store.metadata = decode(metadata.bytes);
  await ask("attach", { text: store.metadata });
  await store.refresh();
  say(`${metadata.name} belongs to ${store.summary?.name ?? "the file"} now; Run knows its arguments.`);
}

/** What a case says of its run. */
function caseOf(description: Given, files: Given[]): { preset: Preset; main?: Given } {
  const about = JSON.parse(decode(description.bytes));
  const find = (path?: string) => files.find((f) => path && f.name.split("/").pop() === path.split("/").pop());
  const hexOf = (file?: Given) => Array.from(file?.bytes ?? [], (b) => b.toString(16).padStart(2, "0")).join("");
  const types: Record<string, string> = { int: "i32", uint: "u32", float: "f32", double: "f64", long: "i64", ulong: "u64", short: "i16", ushort: "u16", char: "i8", uchar: "u8", half: "f16" };
  const list = (about.args ?? []).map((arg: Record<string, unknown>) => {
    const type = types[String(arg["type"])] ?? "u32";
    const kind = String(arg["kind"]);
    if (kind === "buffer") return { kind, type, count: arg["count"] ?? 0, hex: hexOf(find(String(arg["file"]))) };
    if (kind === "scalar") return { kind: "value", type, count: arg["count"] ?? 1, hex: arg["bytes"] };
    if (kind === "local") return { kind, count: arg["size"] };
    if (kind === "sampler") return { kind, normalized: arg["normalized"], addressing: arg["addressing"], filter: arg["filter"] };
    const sizes = [arg["width"], arg["height"], arg["depth"], arg["array_size"]].filter((n) => n !== undefined);
    return { kind: "image", image: kind, sizes, order: arg["channel_order"], channel: arg["channel_type"], hex: hexOf(find(String(arg["file"]))) };
  });
  const preset: Preset = { mode: "kernel", global: about.global_size?.slice(0, about.work_dim), local: about.local_size, arguments: list };
  return { preset, main: find(about.isa ?? about.visaasm) };
}

async function second(given: Given) {
  await openFile(1, given.name, given.bytes);
  compared = given;
  setSecond(given.name);
  await showView("diff");
  await diffView.refresh();
}

const fetched = async (url: URL): Promise<Given> => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url.pathname}: ${answer.status} ${answer.statusText}`);
  return { name: decodeURIComponent(url.pathname.split("/").pop() ?? "").replace(/-[\w-]{8}(?=\.)/, ""), bytes: new Uint8Array(await answer.arrayBuffer()) };
};

async function openExample(example: Example) {
  const wanted = [example.file, example.metadata, example.source].filter((u) => u !== undefined);
  const files = await Promise.all(wanted.map(fetched));
  const preset = example.preset && structuredClone(example.preset);
  for (const [n, url] of Object.entries(example.data ?? {})) {
    const { bytes } = await fetched(url);
    Object.assign(preset?.arguments?.[Number(n)] ?? {}, { hex: Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("") });
  }
  await openAll(files, preset, example.view);
  if (example.second) await second(await fetched(example.second));
  say(example.lesson);
}

/** What stands above the panes. */
function chrome() {
  const { summary } = store;
  if (!summary) return;
  document.title = `${summary.name} · visakit explorer`;
  byId("title").textContent = `${summary.name} · ${summary.format}${summary.editable ? "" : " · shown only"}`;
  const list = byId<HTMLSelectElement>("routine");
  const options = summary.routines.map((r, n) => el("option", { value: n }, `${r.kind} ${r.name || n}`));
  list.replaceChildren(...options);
  list.value = String(store.routine);
  list.disabled = options.length < 2;
  byId<HTMLSelectElement>("platform").disabled = !summary.editable;
}

store.add({ refresh: chrome, follow: () => remember() });

async function stateNow(): Promise<State> {
  const { summary } = store;
  const state: State = { name: summary?.name ?? "", routine: store.routine, view: currentView(), at: store.selection?.from };
  if (summary?.editable) state.text = text();
  else state.bytes = base64(await data(0));
  if (store.metadata) state.metadata = store.metadata;
  if (compared) state.second = { name: compared.name, bytes: base64(compared.bytes) };
  return state;
}

let remembering: ReturnType<typeof setTimeout> | undefined;
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(async () => {
    if (!store.summary || (!store.summary.editable && store.summary.size > LONGEST)) return;
    const packed = await pack(await stateNow());
    if (packed.length <= LONGEST) history.replaceState(null, "", `#s=${packed}`);
  }, 600);
}
store.add({ refresh: remember });

async function share() {
  if (!store.summary) return;
  const state = await stateNow();
  if (device) {
    // The address ends with the server, which no other machine reaches.
    const name = `${stem()}${SHARED}`;
    save(name, JSON.stringify(state), "application/json");
    return say(`${name} holds this state: any explorer opens it.`);
  }
  const packed = await pack(state);
  history.replaceState(null, "", `#s=${packed}`);
  const length = location.href.length;
  try {
    await navigator.clipboard.writeText(location.href);
    say(`The address holds this state (${length} characters) and is copied.`);
  } catch {
    say(`The address holds this state (${length} characters); copy it from the address bar.`);
  }
}

async function restore(state: State) {
  const bytes = state.text !== undefined ? new TextEncoder().encode(state.text) : fromBase64(state.bytes ?? "");
  const files: Given[] = [{ name: state.name || "shared.visaasm", bytes }];
  // The name may indicate an object; the content in the address decides.
  const summary = files[0] as Given;
  if (state.metadata) files.push({ name: "shared.zeinfo", bytes: new TextEncoder().encode(state.metadata) });
  if (!ends(summary.name, ".isa", ".visaasm", ".zebin", ".elf", ".bin")) summary.name += ".visaasm";
  await openAll(files, undefined, state.view);
  if (state.second) await second({ name: state.second.name, bytes: fromBase64(state.second.bytes) });
  if (state.view) await showView(state.view);
  if (state.routine) await store.show(state.routine);
  if (state.at !== undefined) store.selectBytes(state.at, state.at + 1, "");
}

function save(name: string, bytes: BlobPart, type: string) {
  const link = el("a", { href: URL.createObjectURL(new Blob([bytes], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
const stem = () => (store.summary?.name ?? "kernel").replace(/\.[^.]*$/, "");
async function saveObject() {
  if (!store.summary?.assembles) say("The text does not assemble: the last object that did is saved.", true);
  save(`${stem()}.isa`, (await data(0)) as BlobPart, "application/octet-stream");
}
const saveText = () => save(`${stem()}.visaasm`, store.summary?.crlf ? text().replaceAll("\n", "\r\n") : text(), "text/plain");

async function guarded(action: () => Promise<unknown> | unknown) {
  try {
    await action();
  } catch (error) {
    say((error as Error).message, true);
  }
}

function dialog(title: string, ...content: HTMLElement[]) {
  const box = byId<HTMLDialogElement>("dialog");
  const close = el("button", { class: "close", "aria-label": "Close" }, "×");
  close.addEventListener("click", () => box.close());
  box.replaceChildren(el("h2", { id: "dialog-title" }, title), close, ...content);
  box.showModal();
  return box;
}

/** Which kernel of a dump: closing the list takes the first. */
function chooseKernel(kernels: string[]): Promise<string> {
  return new Promise((resolve) => {
    const list = el("ul", { class: "gallery" });
    const box = dialog("Kernels of the folder", list);
    for (const kernel of kernels) {
      const button = el("button", {}, kernel);
      button.addEventListener("click", () => {
        resolve(kernel);
        box.close();
      });
      list.append(el("li", {}, button));
    }
    box.addEventListener("close", () => resolve(kernels[0] as string), { once: true });
  });
}

function gallery() {
  const list = el("ul", { class: "gallery" });
  for (const example of examples) {
    const button = el("button", {}, el("strong", {}, example.title), el("span", {}, example.lesson));
    button.addEventListener("click", () => {
      byId<HTMLDialogElement>("dialog").close();
      void guarded(() => openExample(example));
    });
    list.append(el("li", {}, button));
  }
  dialog("Gallery", el("p", {}, "Twelve examples, each with one thing to learn."), list);
}

const KEYS: [string, string][] = [
  ["Alt+O", "open files"], ["Alt+G", "gallery"], ["Alt+S", "save the object"], ["Alt+L", "share"], ["Alt+D", "compare with a file"],
  ["Alt+1 … Alt+7", "views on the right"], ["Alt+T, Alt+Y, Alt+U", "to the text, the bytes, the structure"],
  ["Alt+R, Alt+N, Alt+B", "start a run, step forwards, step back"], ["Alt+K, Alt+E, Alt+C", "run through the selected instruction, to the end, under the checkers"], ["Ctrl+Z, Ctrl+Y", "undo, redo"], ["Ctrl+Space", "proposals"],
  ["F12", "to the declaration"], ["F8", "to the next fault"], ["Shift+Alt+F", "format the text"], ["Arrows, Enter, F2", "in the structure: move, unfold, edit a field"],
  ["+, −, 0, F", "in the graph: zoom, fit, fold a block"], ["?", "this list"],
];
function keys() {
  const list = el("dl", { class: "keys" });
  for (const [key, what] of KEYS) list.append(el("dt", {}, el("kbd", {}, key)), el("dd", {}, what));
  dialog("Keys", list);
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset["theme"] ?? (dark ? "dark" : "light");
  document.documentElement.dataset["theme"] = now === "dark" ? "light" : "dark";
}

const click = (id: string, action: () => Promise<unknown> | unknown) => byId(id).addEventListener("click", () => void guarded(action));
click("open", () => byId("file").click());
click("gallery", gallery);
click("save-object", saveObject);
click("save-text", saveText);
click("compare", () => byId("file-second").click());
click("share", share);
click("theme", theme);
click("help", keys);

async function chosen(input: HTMLInputElement): Promise<Given[]> {
  const files = [...(input.files ?? [])];
  const given = await Promise.all(files.map(async (f) => ({ name: f.name, bytes: new Uint8Array(await f.arrayBuffer()) })));
  input.value = "";
  return given;
}
byId<HTMLInputElement>("file").addEventListener("change", (event) => void guarded(async () => openAll(await chosen(event.target as HTMLInputElement))));
byId<HTMLInputElement>("file-second").addEventListener("change", (event) => void guarded(async () => {
  const [given] = await chosen(event.target as HTMLInputElement);
  if (!given) return;
  if (store.summary) await second(await unzipped(given));
  else await openAll([given]);
}));

/** Files of a folder that was dropped, with the folders inside of it. */
async function entries(entry: FileSystemEntry, path = ""): Promise<Given[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ name: path + file.name, bytes: new Uint8Array(await file.arrayBuffer()) }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const all: Given[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length || all.length > 500) return all;
    for (const inner of some) all.push(...(await entries(inner, `${path}${entry.name}/`)));
  }
}
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const dropped = [...(event.dataTransfer?.items ?? [])].map((i) => i.webkitGetAsEntry()).filter((e) => e !== null);
  void guarded(async () => openAll((await Promise.all(dropped.map((e) => entries(e)))).flat()));
});

byId<HTMLSelectElement>("routine").addEventListener("change", (event) => {
  const routine = Number((event.target as HTMLSelectElement).value);
  void guarded(async () => {
    await store.show(routine);
    if (store.summary && !store.summary.editable) setText(store.summary.text, false);
    const link = store.link(routine, 0);
    if (link) {
      store.selectInstruction(routine, 0, "");
      goTo(link[0]);
    }
  });
});
const PLATFORMS = ["", "skl", "tgllp", "dg2", "pvc", "mtl", "bmg"];
byId("platform").append(...PLATFORMS.map((p) => el("option", { value: p }, p || "as the text says")));
byId("platform").addEventListener("change", (event) => void guarded(async () => {
  const status = await ask<Status>("platform", { name: (event.target as HTMLSelectElement).value });
  await store.changed(status);
}));

// One part of the window at a time where there is no room for all.
const PARTS: [string, string][] = [["left", "Bytes"], ["text-pane", "Text"], ["right", "Views"]];
function part(id: string) {
  document.body.dataset["part"] = id;
  for (const [name] of PARTS) byId(`switch-${name}`).setAttribute("aria-selected", String(name === id));
}
for (const [id, title] of PARTS) {
  const button = el("button", { role: "tab", id: `switch-${id}`, "aria-controls": id }, title);
  button.addEventListener("click", () => part(id));
  byId("switch").append(button);
}
part("text-pane");

function toText() {
  part("text-pane");
  focus();
}
/** To the bytes or the structure, which a comparison has no room for. */
async function toRows(id: string) {
  part("left");
  if (currentView() === "diff") await showView("flow");
  byId(id).querySelector<HTMLElement>(".rows")?.focus();
}

document.addEventListener("keydown", (event) => {
  const inText = (event.target as HTMLElement).id === "text" || /INPUT|SELECT|TEXTAREA/.test((event.target as HTMLElement).tagName);
  if (event.key === "?" && !inText) return keys();
  if (event.key === "z" && event.ctrlKey && !inText) return void undoEdit();
  if (event.key === "y" && event.ctrlKey && !inText) return void redoEdit();
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  const views = [flowView, declarationsView, linesView, statisticsView, findingsView, runView, diffView];
  const view = views[Number(event.key) - 1];
  const actions: Record<string, () => unknown> = {
    o: () => byId("file").click(), g: gallery, s: saveObject, l: share, d: () => byId("file-second").click(),
    t: toText, y: () => toRows("bytes"), u: () => toRows("tree"),
    r: runStart, n: () => runStep(1), b: () => runStep(-1), k: runUntil, e: runEnd, c: runCheck, F: () => (event.shiftKey ? format() : undefined),
  };
  const action = view ? () => (part("right"), showView(view.id)) : actions[event.key];
  if (!action) return;
  event.preventDefault();
  void guarded(action);
});

async function begin() {
  await showView("flow");
  const fragment = location.hash;
  if (fragment.startsWith("#s=")) return restore(await unpack(fragment.slice(3)));
  if (fragment.startsWith("#files=")) {
    // Served by `visakit explore`: names of files in the folder beside this page.
    const names = fragment.slice(7).split("&").map(decodeURIComponent);
    const files = await Promise.all(names.map(async (name, n) => ({ name, bytes: (await fetched(new URL(`files/${n}`, location.href.split("#")[0]))).bytes })));
    return openAll(files);
  }
  return openExample(examples[0] as Example);
}
void guarded(begin).then(() => (document.body.dataset["ready"] = "yes"));
