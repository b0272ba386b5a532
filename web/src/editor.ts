// The text: CodeMirror, with all knowledge of the language provided by the libraries.
import { acceptCompletion, autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, redo, undo } from "@codemirror/commands";
import { codeFolding, foldGutter, foldKeymap, foldService } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { type ChangeDesc, Compartment, EditorState, RangeSetBuilder, StateEffect, StateField, type Extension } from "@codemirror/state";
import {
  type BlockInfo, Decoration, type DecorationSet, drawSelection, EditorView, gutter, GutterMarker, highlightActiveLine, hoverTooltip, keymap, lineNumbers,
  type ViewUpdate,
} from "@codemirror/view";
import { ask, type Links, type Problem, type Status } from "./api";
import { byId, el } from "./dom";
import { say } from "./message";
import { store, type Selection } from "./store";

const DELAY = 40;
const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--paper)", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.45" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--line)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--select) !important" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--edge)", maxWidth: "560px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--ink)" },
  ".cm-hover": { padding: "6px 10px", whiteSpace: "pre-wrap", maxHeight: "300px", overflow: "auto", fontSize: "12px" },
  ".cm-linked": { backgroundColor: "var(--select)" },
  ".cm-ran": { outline: "1px solid var(--run)", backgroundColor: "var(--run-soft)" },
  ".t-comment": { color: "var(--t-comment)" },
  ".t-directive": { color: "var(--t-directive)" },
  ".t-mnemonic": { color: "var(--t-mnemonic)", fontWeight: "600" },
  ".t-label, .t-function": { color: "var(--t-label)" },
  ".t-variable": { color: "var(--t-variable)" },
  ".t-predicate, .t-resource": { color: "var(--t-resource)" },
  ".t-predefined": { color: "var(--t-predefined)" },
  ".t-property": { color: "var(--t-property)" },
  ".t-number": { color: "var(--t-number)" },
  ".t-type": { color: "var(--t-type)" },
  ".t-string": { color: "var(--t-string)" },
  ".bar": { display: "block", height: "11px", marginTop: "3px", backgroundColor: "var(--plot)", borderRadius: "1px" },
  ".bar.hot": { backgroundColor: "var(--run)" },
  ".cm-bars": { width: "26px" },
  ...Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`.w${n}`, { width: `${n * 0.75}px` }])),
});

const setColours = StateEffect.define<DecorationSet>();
const colours = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setColours)) return effect.value;
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const setMarks = StateEffect.define<DecorationSet>();
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMarks)) return effect.value;
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Bar extends GutterMarker {
  constructor(readonly width: number, readonly hot: boolean, readonly title: string) {
    super();
  }
  override eq(other: Bar) {
    return other.width === this.width && other.hot === this.hot && other.title === this.title;
  }
  override toDOM() {
    return el("span", { class: `bar w${this.width}${this.hot ? " hot" : ""}`, title: this.title });
  }
}
interface Bars {
  /** For each instruction of the routine. */
  values: (number | undefined)[];
  most: number;
  unit: string;
  hot: boolean;
  links?: Links;
  /** From the text as it is to the one that the links are of. */
  back?: ChangeDesc;
}
const setBars = StateEffect.define<Bars>();
const bars = StateField.define<Bars>({
  create: () => ({ values: [], most: 1, unit: "", hot: false }),
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setBars)) return effect.value;
    if (!transaction.docChanged) return value;
    const back = transaction.changes.invertedDesc;
    return { ...value, back: value.back ? back.composeDesc(value.back) : back };
  },
});
/** The bar of a line: only those in sight are made. */
function barOf(view: EditorView, line: BlockInfo): Bar | null {
  const { values, most, unit, hot, links, back } = view.state.field(bars);
  if (!links) return null;
  const [from, to] = back ? [back.mapPos(line.from, 1), back.mapPos(line.to, -1)] : [line.from, line.to];
  const instruction = links.below(to, 0);
  const value = values[instruction];
  if (value === undefined || value <= 0 || (links.at(instruction)?.[0] ?? -1) < from) return null;
  return new Bar(Math.max(1, Math.round((value / most) * 32)), hot, `${value} ${unit}`);
}

const readOnly = new Compartment();
let view: EditorView;
let timer: ReturnType<typeof setTimeout> | undefined;
let sent = 0;
let quiet = false;

async function colour() {
  const { from, to } = view.viewport;
  const doc = view.state.doc;
  const first = Math.max(0, doc.lineAt(from).number - 20);
  const last = doc.lineAt(Math.min(to, doc.length)).number + 20;
  const { pieces } = await ask<{ pieces: [number, number, string][] }>("highlights", { routine: store.routine, from: first, to: last });
  // The text may have changed since: the answer to the change comes soon.
  if (doc !== view.state.doc) return;
  const builder = new RangeSetBuilder<Decoration>();
  for (const [start, end, kind] of pieces) {
    if (end <= doc.length && start < end) builder.add(start, end, Decoration.mark({ class: `t-${kind}` }));
  }
  view.dispatch({ effects: setColours.of(builder.finish()) });
}

function diagnostics(problems: Problem[]): Diagnostic[] {
  const length = view.state.doc.length;
  return problems
    .filter((p) => p.from !== undefined)
    .map((p) => ({
      from: Math.min(p.from as number, length),
      to: Math.min(Math.max(p.to as number, p.from as number), length),
      severity: p.severity,
      message: [p.message, p.help].filter(Boolean).join("\n"),
      source: p.rule,
      actions: p.fix
        ? [{
            name: p.fix.title,
            apply: () => view.dispatch({ changes: { from: p.fix!.from, to: p.fix!.to, insert: p.fix!.text } }),
          }]
        : undefined,
    }));
}

/** Sends the text as it is now, and lets everything follow. */
async function send() {
  const number = ++sent;
  const started = performance.now();
  const text = view.state.doc.toString();
  try {
    const status = await ask<Status>("edit", { text });
    if (number !== sent) return;
    view.dispatch(setDiagnostics(view.state, diagnostics(status.problems)));
    void colour();
    const errors = status.problems.filter((p) => p.severity === "error").length;
    await store.changed(status);
    const time = Math.round(performance.now() - started);
    document.body.dataset["latency"] = String(time);
    const size = `${status.size} bytes, ${time} ms`;
    say(status.assembles ? `Assembles: ${size}` : `${errors} ${errors === 1 ? "fault" : "faults"}; the other panes show the last object`, !status.assembles);
  } catch (error) {
    say((error as Error).message, true);
  }
}

function updated(update: ViewUpdate) {
  if (update.docChanged && !quiet) {
    clearTimeout(timer);
    timer = setTimeout(() => void send(), DELAY);
  } else if (update.viewportChanged) {
    void colour();
  }
  if (update.selectionSet && !quiet && !update.docChanged) {
    store.selectText(update.state.selection.main.head, "text");
  }
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  if (!context.explicit && !context.matchBefore(/[\w.%$@"=:<(]+$/)) return null;
  // Requests refer to the current text.
  clearTimeout(timer);
  const asked = ask<Status>("edit", { text: context.state.doc.toString() });
  timer = setTimeout(() => void send(), DELAY);
  await asked;
  const found = await ask<{ from: number; to: number; options: { label: string; type: string; detail: string }[] }>("complete", { at: context.pos });
  return { from: found.from, options: found.options, validFor: /^\w*$/ };
}

const hover = hoverTooltip(async (_, at) => {
  const found = await ask<{ from: number; to: number; markdown: string } | null>("hover", { at }).catch(() => null);
  if (!found) return null;
  return {
    pos: found.from,
    end: found.to,
    above: true,
    create: () => ({ dom: el("div", { class: "cm-hover" }, found.markdown.replace(/`/g, "").replace(/\*\*/g, "")) }),
  };
});

async function goToDefinition(): Promise<void> {
  const found = await ask<[number, number] | null>("definition", { at: view.state.selection.main.head });
  if (found) view.dispatch({ selection: { anchor: found[0], head: found[1] }, scrollIntoView: true });
}

export async function format(): Promise<void> {
  const changes = await ask<{ from: number; to: number; insert: string }[]>("format");
  view.dispatch({ changes });
}

const folding = foldService.of((state, start) => {
  const line = state.doc.lineAt(start);
  if (!/^\s*\.(kernel|function)\b/.test(line.text)) return null;
  // Read-only text is one routine, and may be long.
  if (state.readOnly) return { from: line.to, to: state.doc.length };
  for (let n = line.number + 1; n <= state.doc.lines; n++) {
    const text = state.doc.line(n).text;
    if (/^\s*\.(kernel|function)\b/.test(text)) return { from: line.to, to: state.doc.line(n - 1).to };
  }
  return { from: line.to, to: state.doc.length };
});

function extensions(): Extension {
  return [
    theme,
    lineNumbers(),
    gutter({
      class: "cm-bars",
      lineMarker: barOf,
      lineMarkerChange: (u) => u.startState.field(bars) !== u.state.field(bars),
      initialSpacer: () => new Bar(0, false, ""),
    }),
    foldGutter(),
    codeFolding(),
    folding,
    history(),
    drawSelection(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    lintGutter(),
    autocompletion({ override: [complete], activateOnTyping: true }),
    hover,
    colours,
    marks,
    bars,
    readOnly.of(EditorState.readOnly.of(false)),
    // As in the libraries: a lone carriage return is a blank. Pasted text may contain some.
    EditorState.lineSeparator.of("\n"),
    // Files are opened by the page, not inserted into the text that they are dropped on.
    EditorView.domEventHandlers({ drop: (event) => !!event.dataTransfer?.files.length }),
    EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?/g, "\n")),
    EditorView.contentAttributes.of({ "aria-label": "vISA text", tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
    EditorView.updateListener.of(updated),
    keymap.of([
      { key: "F12", run: () => (void goToDefinition(), true) },
      { key: "Shift-Alt-f", run: () => (void format(), true) },
      { key: "Tab", run: acceptCompletion },
      ...completionKeymap, ...lintKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap,
    ]),
  ];
}

// In a shadow tree the editor's styles are separate style sheets, which the strict policy allows.
const host = byId("text");
const root = host.attachShadow({ mode: "open" });
const inside = el("div", { id: "editor" });
const size = new CSSStyleSheet();
size.replaceSync("#editor { height: 100% }");
root.adoptedStyleSheets = [size];
root.append(inside);
view = new EditorView({ parent: inside, root, state: EditorState.create({ extensions: extensions() }) });

/** Shows another file. What was typed into the one before and not sent yet, or not answered, is nobody's any more. */
export function setText(text: string, editable: boolean) {
  clearTimeout(timer);
  sent++;
  quiet = true;
  view.setState(EditorState.create({ doc: text, extensions: extensions() }));
  view.dispatch({ effects: readOnly.reconfigure(EditorState.readOnly.of(!editable)) });
  quiet = false;
  view.scrollDOM.scrollTo(0, 0);
  if (store.summary) view.dispatch(setDiagnostics(view.state, diagnostics(store.summary.problems)));
  void colour();
}

/** Changes the text to another one where they differ, so that it can be undone. */
export function replaceText(text: string) {
  const old = view.state.doc.toString();
  let front = 0;
  while (front < old.length && front < text.length && old[front] === text[front]) front++;
  let back = 0;
  const most = Math.min(old.length, text.length) - front;
  while (back < most && old[old.length - 1 - back] === text[text.length - 1 - back]) back++;
  view.dispatch({ changes: { from: front, to: old.length - back, insert: text.slice(front, text.length - back) } });
}

export const text = () => view.state.doc.toString();
export const focus = () => view.focus();
export const undoEdit = () => undo(view);
export const redoEdit = () => redo(view);
export function goTo(from: number, to = from) {
  const length = view.state.doc.length;
  view.dispatch({
    selection: { anchor: Math.min(from, length) },
    effects: EditorView.scrollIntoView(Math.min(to, length), { y: "center" }),
  });
  view.focus();
}

/** Puts a place at the top, where it is not in sight at first: code comes after long declarations. */
export function reveal(at: number | undefined) {
  const LINES = 12;
  const { doc } = view.state;
  if (at === undefined || at > doc.length || doc.lineAt(at).number < LINES) return;
  view.dispatch({ effects: EditorView.scrollIntoView(at, { y: "start", yMargin: 40 }) });
}

let ran: { routine: number; instruction: number } | undefined;

function mark() {
  const list: { from: number; to: number; kind: string }[] = [];
  const { selection } = store;
  const length = view.state.doc.length;
  const link = store.link(selection?.routine, selection?.instruction);
  if (link) list.push({ from: link[0], to: link[1], kind: "cm-linked" });
  const last = store.link(ran?.routine, ran?.instruction);
  if (last) list.push({ from: last[0], to: last[1], kind: "cm-ran" });
  const set = list.filter((m) => m.to <= length && m.from < m.to).map((m) => Decoration.mark({ class: m.kind }).range(m.from, m.to));
  view.dispatch({ effects: setMarks.of(Decoration.set(set, true)) });
}

/** Marks the instruction that a run did last. */
export function markRun(routine?: number, instruction?: number) {
  ran = routine === undefined || instruction === undefined ? undefined : { routine, instruction };
  mark();
  const link = store.link(ran?.routine, ran?.instruction);
  if (link) view.dispatch({ effects: EditorView.scrollIntoView(link[0], { y: "nearest", yMargin: 60 }) });
}

/** Bars beside the instructions of the routine: registers in use, or how often each ran. */
export function showBars(values: (number | undefined)[], unit: string, hot: boolean) {
  let most = 1;
  for (const value of values) if (value !== undefined && value > most) most = value;
  view.dispatch({ effects: setBars.of({ values, most, unit, hot, links: store.links[store.routine] }) });
}

store.add({
  refresh() {
    mark();
  },
  follow(selection: Selection, origin: string) {
    mark();
    if (origin === "text" || selection.routine === undefined) return;
    const link = store.link(selection.routine, selection.instruction);
    if (!link || link[0] >= view.state.doc.length) return;
    view.dispatch({ effects: EditorView.scrollIntoView(link[0], { y: "nearest", yMargin: 60 }) });
  },
});
