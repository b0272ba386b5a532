// The structure of the object: parts and fields, which can be edited where they are numbers.
import { ask, data, type TreeRow } from "./api";
import { byId, el, hex, Rows } from "./dom";
import { replaceText } from "./editor";
import { say } from "./message";
import { store, type Selection } from "./store";

interface Item extends TreeRow {
  key: string;
  part: number;
  depth: number;
  place: [number, number];
}

/** The node of a part as a whole. */
const HEAD = -1;

let items: Item[] = [];
let open = new Set<string>();
let current = 0;
let generation = 0;
let following = 0;

const rows = new Rows("tree", "Structure of the object", 22, row);

const keyOf = (part: number, chunk: number | null, node: number | null) => `${part}:${chunk ?? ""}:${node ?? ""}`;

function row(index: number): HTMLElement {
  const item = items[index] as Item;
  const { selection } = store;
  const chosen = selection !== undefined && item.children === 0 && item.from < selection.to && item.to > selection.from;
  const line = el("div", {
    class: `row item${index === current ? " current" : ""}${chosen ? " selected" : ""}`,
    role: "treeitem",
    id: `tree-${index}`,
    "aria-level": item.depth + 1,
    "aria-posinset": item.place[0],
    "aria-setsize": item.place[1],
    "aria-selected": index === current,
    "aria-expanded": item.children ? String(open.has(item.key)) : undefined,
  });
  line.dataset["index"] = String(index);
  line.style.paddingLeft = `${item.depth * 14 + 6}px`;
  line.append(
    el("span", { class: "twist", "aria-hidden": "true" }, item.children ? (open.has(item.key) ? "▾" : "▸") : ""),
    el("span", { class: `label c-${item.class}` }, item.label),
    el("span", { class: "value" }, item.value),
    el("span", { class: "offset" }, hex(item.from, 4)),
  );
  return line;
}

async function children(part: number, chunk: number | null, node: number | null, depth: number): Promise<Item[]> {
  const list = await ask<TreeRow[]>("tree", { part, chunk, node });
  return list.map((r, n) => ({ ...r, part, depth, key: keyOf(part, r.chunk, r.node), place: [n + 1, list.length] }));
}

function heads(): Item[] {
  const summary = store.summary;
  if (!summary) return [];
  const about = (label: string, value: string, part: number, from: number, to: number): Item => ({
    node: HEAD, chunk: null, label, value, class: "group", from, to, children: 1, editable: false, key: keyOf(part, null, HEAD), part, depth: 0,
    place: [part + 1, summary.routines.length + 1],
  });
  const list = [about("header", `version ${summary.format}`, 0, 0, summary.routines[0]?.offset ?? summary.size)];
  for (const [n, r] of summary.routines.entries()) {
    list.push(about(`${r.kind} ${n}`, `"${r.name}", ${r.instructions} instructions`, n + 1, r.offset, r.offset + r.size));
  }
  return list;
}

/** Lists everything that is unfolded. */
async function build(): Promise<Item[]> {
  const list: Item[] = [];
  const visit = async (item: Item) => {
    list.push(item);
    if (!item.children || !open.has(item.key)) return;
    let below: Item[];
    if (item.node === HEAD && item.part > 0) {
      // The routine itself is the only entry of its part.
      const [routine] = await children(item.part, null, null, item.depth);
      below = routine ? await children(item.part, null, routine.node, item.depth + 1) : [];
    } else {
      below = await children(item.part, item.chunk, item.node === HEAD ? null : item.node, item.depth + 1);
    }
    for (const child of below) await visit(child);
  };
  for (const item of heads()) await visit(item);
  return list;
}

async function rebuild() {
  const asked = ++generation;
  const list = await build();
  if (asked !== generation) return;
  items = list;
  current = Math.min(current, Math.max(0, items.length - 1));
  rows.resize(items.length);
}

async function toggle(index: number, wanted?: boolean) {
  const item = items[index];
  if (!item?.children) return;
  const now = open.has(item.key);
  if (wanted === now) return;
  if (now) open.delete(item.key);
  else open.add(item.key);
  await rebuild();
}

function choose(index: number) {
  const item = items[index];
  if (!item) return;
  current = index;
  rows.show(index);
  rows.box.setAttribute("aria-activedescendant", `tree-${index}`);
  following++;
  store.selectBytes(item.from, Math.max(item.to, item.from), "tree");
}

/** Puts a field in place of its value: a number, or bytes in hex after `0x`. */
function edit(index: number) {
  const item = items[index];
  const line = rows.box.querySelector<HTMLElement>(`#tree-${index}`);
  if (!item?.editable || !line || !store.summary?.editable) {
    say(item?.children ? "Only fields are edited." : "This field is not edited here; edit the text.");
    return;
  }
  const width = item.to - item.from;
  const input = el("input", { class: "edit", "aria-label": `New bytes of ${item.label}, ${width} in hex`, maxlength: width * 2 });
  void data(0).then((bytes) => {
    input.value = Array.from(bytes.slice(item.from, item.to), (b) => hex(b)).join("");
    input.select();
  });
  let ended = false;
  const done = (focus: boolean) => {
    // Removing it takes the focus from it, which ends it, too.
    if (ended) return;
    ended = true;
    input.remove();
    rows.draw(true);
    if (focus) rows.box.focus();
  };
  input.addEventListener("keydown", async (event) => {
    event.stopPropagation();
    if (event.key === "Escape") done(true);
    if (event.key !== "Enter") return;
    try {
      const text = await ask<string>("patch", { offset: item.from, hex: input.value.replace(/\s/g, "") });
      done(true);
      replaceText(text);
    } catch (error) {
      say((error as Error).message, true);
    }
  });
  input.addEventListener("blur", () => done(false));
  line.querySelector(".value")?.replaceChildren(input);
  input.focus();
}

rows.box.addEventListener("click", (event) => {
  const line = (event.target as HTMLElement).closest<HTMLElement>(".item");
  if (!line || (event.target as HTMLElement).tagName === "INPUT") return;
  const index = Number(line.dataset["index"]);
  if ((event.target as HTMLElement).classList.contains("twist")) void toggle(index);
  else choose(index);
});
rows.box.addEventListener("dblclick", (event) => {
  const line = (event.target as HTMLElement).closest<HTMLElement>(".item");
  if (!line) return;
  const index = Number(line.dataset["index"]);
  if (items[index]?.children) void toggle(index);
  else edit(index);
});
rows.box.addEventListener("keydown", (event) => {
  const item = items[current];
  switch (event.key) {
    case "ArrowDown": choose(Math.min(items.length - 1, current + 1)); break;
    case "ArrowUp": choose(Math.max(0, current - 1)); break;
    case "Home": choose(0); break;
    case "End": choose(items.length - 1); break;
    case "ArrowRight":
      if (item?.children && !open.has(item.key)) void toggle(current, true);
      else choose(Math.min(items.length - 1, current + 1));
      break;
    case "ArrowLeft":
      if (item && open.has(item.key)) void toggle(current, false);
      else if (item) {
        let parent = current;
        while (parent > 0 && (items[parent] as Item).depth >= item.depth) parent--;
        choose(parent);
      }
      break;
    case "Enter":
      if (item?.children) void toggle(current);
      else edit(current);
      break;
    case "F2": edit(current); break;
    default: return;
  }
  event.preventDefault();
});
byId("tree").append(rows.box);

store.add({
  async refresh() {
    await rebuild();
  },
  async follow(selection: Selection, origin: string) {
    rows.draw(true);
    if (origin === "tree") return;
    const asked = ++following;
    const path = await ask<{ part: number; steps: [number | null, number | null][] } | null>("tree_path", { offset: selection.from });
    if (!path || asked !== following) return;
    const keys = [keyOf(path.part, null, HEAD), ...path.steps.map(([chunk, node]) => keyOf(path.part, chunk, node))];
    const leaf = keys.pop() as string;
    const closed = keys.filter((key) => !open.has(key));
    for (const key of closed) open.add(key);
    if (closed.length) await rebuild();
    const index = items.findIndex((item) => item.key === leaf);
    if (index < 0 || asked !== following) return;
    current = index;
    rows.show(index);
  },
});

export function reset() {
  open = new Set();
  current = 0;
  rows.box.scrollTop = 0;
}
