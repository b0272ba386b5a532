// The bytes, coloured by field, with the path of the field under the pointer.
import { ask, data, type FieldRow } from "./api";
import { byId, el, hex, Rows } from "./dom";
import { store, type Selection } from "./store";

const COLUMNS = 16;

let bytes = new Uint8Array();
let fields = new Map<number, FieldRow>();
let loaded = { from: 0, to: 0 };
let generation = 0;
let caret = 0;
const path = byId<HTMLOutputElement>("path");

const rows = new Rows("grid", "Bytes of the object", 18, row, load);

function cellId(offset: number) {
  return `byte-${offset}`;
}

function row(index: number): HTMLElement {
  const start = index * COLUMNS;
  const line = el("div", { class: "row", role: "row", "aria-rowindex": index + 1 });
  line.append(el("span", { class: "offset", role: "rowheader" }, hex(start, 6)));
  let text = "";
  for (let offset = start; offset < Math.min(start + COLUMNS, bytes.length); offset++) {
    const byte = bytes[offset] as number;
    const field = fields.get(offset);
    const cell = el("span", { class: `byte c-${field?.[2] ?? "none"}`, role: "gridcell", id: cellId(offset) }, hex(byte));
    cell.dataset["at"] = String(offset);
    if (field && field[0] === offset) cell.classList.add("first");
    const { selection } = store;
    if (selection && offset >= selection.from && offset < selection.to) cell.classList.add("selected");
    if (offset === caret) cell.classList.add("caret");
    line.append(cell);
    text += byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·";
  }
  line.append(el("span", { class: "ascii", role: "gridcell" }, text));
  return line;
}

async function load(first: number, last: number) {
  const from = Math.max(0, (first - 32) * COLUMNS);
  const to = Math.min(bytes.length, (last + 32) * COLUMNS);
  if (first * COLUMNS >= loaded.from && Math.min(last * COLUMNS, bytes.length) <= loaded.to) return;
  loaded = { from, to };
  const asked = generation;
  const list = await ask<FieldRow[]>("fields", { from, to });
  if (asked !== generation) return;
  fields = new Map();
  for (const field of list) {
    for (let at = Math.max(field[0], from); at < Math.min(field[1], to); at++) fields.set(at, field);
  }
  if (!path.textContent && store.selection) tell(caret);
  rows.draw(true);
}

function tell(offset: number) {
  const field = fields.get(offset);
  path.textContent = field ? `${hex(offset, 6)}  ${field[3]}${field[4] ? ` = ${field[4]}` : ""}` : "";
}

function choose(offset: number) {
  caret = Math.max(0, Math.min(bytes.length - 1, offset));
  const field = fields.get(caret);
  tell(caret);
  if (field) store.selectBytes(field[0], field[1], "bytes");
  rows.show(Math.floor(caret / COLUMNS));
  rows.box.setAttribute("aria-activedescendant", cellId(caret));
}

rows.box.addEventListener("mouseover", (event) => {
  const at = (event.target as HTMLElement).dataset?.["at"];
  if (at !== undefined) tell(Number(at));
});
rows.box.addEventListener("click", (event) => {
  const at = (event.target as HTMLElement).dataset?.["at"];
  if (at !== undefined) choose(Number(at));
});
rows.box.addEventListener("keydown", (event) => {
  const field = fields.get(caret);
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: field && event.ctrlKey ? field[1] - caret : 1,
    ArrowUp: -COLUMNS,
    ArrowDown: COLUMNS,
    PageUp: -COLUMNS * 16,
    PageDown: COLUMNS * 16,
    Home: -(caret % COLUMNS),
    End: COLUMNS - 1 - (caret % COLUMNS),
  };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  choose(caret + step);
});
byId("bytes").append(rows.box);

store.add({
  async refresh() {
    generation++;
    const asked = generation;
    const fresh = await data(0);
    if (asked !== generation) return;
    bytes = new Uint8Array(fresh);
    loaded = { from: 0, to: 0 };
    fields = new Map();
    if (!bytes.length) path.textContent = "No bytes: the text does not assemble.";
    else if (!store.selection) {
      // Another file begins at its beginning.
      path.textContent = "";
      caret = 0;
      rows.box.scrollTop = 0;
    }
    rows.resize(Math.ceil(bytes.length / COLUMNS));
  },
  follow(selection: Selection, origin: string) {
    if (origin !== "bytes") {
      caret = selection.from;
      rows.show(Math.floor(selection.from / COLUMNS));
      // Bytes that are not loaded yet are announced when they are.
      tell(caret);
    }
    rows.draw(true);
  },
});
