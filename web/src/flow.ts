// Control flow as a graph, laid out by the libraries.
import { ask, type Flow } from "./api";
import { el, svg } from "./dom";
import { MANY, store, type Selection } from "./store";
import type { View } from "./views";

let flow: Flow | undefined;
let folded = new Set<number>();
let shown = -1;
/** Longer blocks are folded at first. */
const LONG = 80;
/** The smallest scale at which instructions are read with ease; the shape of folded blocks is seen at half of their size. */
const READABLE = 0.7;
const tooLong = el("p", { class: "hint", hidden: true }, `Routines of more than ${MANY} instructions are not drawn.`);
const camera = { x: 0, y: 0, scale: 1 };
let focused = 0;

const scene = svg("g");
const defs = svg("defs");
for (const style of ["uniform", "divergent", "call"]) {
  defs.append(
    svg("marker", { id: `arrow-${style}`, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      svg("path", { d: "M0 0L8 4L0 8z", class: `head ${style}` })),
  );
}
const picture = svg("svg", { class: "flow", role: "group", "aria-label": "Control flow. Arrow keys move, plus and minus zoom, F folds a block.", tabindex: 0 }, defs, scene);
const legend = el("p", { class: "legend" },
  el("span", { class: "uniform" }, "all lanes"), el("span", { class: "divergent" }, "some lanes"), el("span", { class: "call" }, "call"));
const tools = el("div", { class: "tools", role: "toolbar", "aria-label": "Graph" },
  tool("+", "Zoom in", () => zoom(1.25)), tool("−", "Zoom out", () => zoom(0.8)), tool("⤢", "Fit", fit),
  tool("Fold all", "Fold all blocks", () => foldAll(true)), tool("Unfold", "Unfold all blocks", () => foldAll(false)));
const root = el("div", { class: "flow-view" }, tools, tooLong, picture as unknown as HTMLElement, legend);

function tool(text: string, label: string, action: () => void) {
  const button = el("button", { "aria-label": label, title: label }, text);
  button.addEventListener("click", action);
  return button;
}

function place() {
  scene.setAttribute("transform", `translate(${camera.x} ${camera.y}) scale(${camera.scale})`);
}

function zoom(by: number, x = picture.clientWidth / 2, y = picture.clientHeight / 2) {
  const scale = Math.min(4, Math.max(0.05, camera.scale * by));
  camera.x = x - ((x - camera.x) * scale) / camera.scale;
  camera.y = y - ((y - camera.y) * scale) / camera.scale;
  camera.scale = scale;
  place();
}

function fit() {
  if (!flow || !picture.clientWidth) return;
  // Wide graphs stay readable: their first block is in the middle then.
  camera.scale = Math.min(1.2, Math.max(0.45, picture.clientWidth / flow.width));
  const first = flow.blocks[0];
  const whole = flow.width * camera.scale <= picture.clientWidth;
  const middle = whole || !first ? flow.width / 2 : first.x + first.width / 2;
  camera.x = picture.clientWidth / 2 - middle * camera.scale;
  camera.y = 4 - (whole || !first ? 0 : Math.max(0, first.y - 20) * camera.scale);
  place();
}

function foldAll(on: boolean) {
  folded = new Set(on ? flow?.blocks.map((_, n) => n) : []);
  void load(true);
}

function toggle(block: number) {
  if (folded.has(block)) folded.delete(block);
  else folded.add(block);
  void load(false);
}

function draw() {
  if (!flow) return;
  const { line, pad } = flow;
  const parts: Node[] = [];
  for (const edge of flow.edges) {
    const d = `M${edge.points.join("L")}`;
    parts.push(svg("path", { class: `edge ${edge.style}`, d, "marker-end": `url(#arrow-${edge.style})` }));
    if (edge.label) parts.push(svg("text", { class: "edge-text", x: edge.label[0], y: edge.label[1] - 2 }, edge.text));
  }
  for (const [n, block] of flow.blocks.entries()) {
    const label = `Block ${n}: ${block.missing ? block.lines[0] : `instructions ${block.from} to ${Math.max(block.from, block.to - 1)}`}`;
    const group = svg("g", { class: `block${block.missing ? " missing" : ""}`, role: "group", "aria-label": label, tabindex: n === 0 ? 0 : -1 });
    group.dataset["block"] = String(n);
    group.append(svg("rect", { x: block.x, y: block.y, width: block.width, height: block.height, rx: 3 }));
    for (const [k, text] of block.lines.entries()) {
      const at = svg("text", { x: block.x + pad, y: block.y + pad / 2 + line * (k + 1) - 3 }, text);
      at.dataset["instruction"] = String(block.from + k);
      group.append(at);
    }
    parts.push(group);
  }
  scene.replaceChildren(...parts);
  follow();
}

function follow(move = false) {
  const { selection } = store;
  for (const text of scene.querySelectorAll<SVGElement>("text[data-instruction]")) {
    const own = selection?.routine === store.routine && text.dataset["instruction"] === String(selection.instruction);
    text.classList.toggle("selected", own);
  }
  if (selection?.routine !== store.routine || selection.instruction === undefined) return;
  const number = flow?.blocks.findIndex((b) => selection.instruction! >= b.from && selection.instruction! < b.to) ?? -1;
  for (const group of scene.querySelectorAll<SVGElement>(".block")) {
    group.classList.toggle("selected", group.dataset["block"] === String(number));
  }
  const block = flow?.blocks[number];
  if (!block || !move) return;
  const x = block.x * camera.scale + camera.x;
  const y = (block.y + (selection.instruction - block.from) * (flow?.line ?? 13)) * camera.scale + camera.y;
  if (x < 0 || x > picture.clientWidth - 40) camera.x += 30 - x;
  if (y < 10 || y > picture.clientHeight - 20) camera.y += picture.clientHeight / 3 - y;
  place();
}

function focusBlock(n: number) {
  if (!flow) return;
  focused = Math.max(0, Math.min(flow.blocks.length - 1, n));
  const groups = scene.querySelectorAll<SVGElement>(".block");
  groups.forEach((g, k) => g.setAttribute("tabindex", k === focused ? "0" : "-1"));
  groups[focused]?.focus();
  const block = flow.blocks[focused];
  if (block) store.selectInstruction(store.routine, block.from, "blocks");
}

async function load(whole: boolean, first = false) {
  tooLong.hidden = store.length <= MANY;
  if (!store.summary?.routines.length || store.length > MANY) {
    flow = undefined;
    scene.replaceChildren();
    return;
  }
  try {
    flow = await ask<Flow>("flow", { routine: store.routine, folded: [...folded] });
  } catch {
    flow = undefined;
    scene.replaceChildren();
    return;
  }
  // What does not fit in a size to be read is folded first, so that the shape is seen.
  const isWide = picture.clientWidth > 0 && flow.blocks.length > 1 && picture.clientWidth / flow.width < READABLE;
  const long = flow.blocks.flatMap((b, n) => (isWide || b.lines.length > LONG ? [n] : []));
  if (first && long.length) {
    folded = new Set(long);
    return load(true);
  }
  draw();
  if (whole) fit();
}

picture.addEventListener("wheel", (event) => {
  const e = event as WheelEvent;
  e.preventDefault();
  const box = picture.getBoundingClientRect();
  zoom(Math.exp(-e.deltaY / 400), e.clientX - box.left, e.clientY - box.top);
}, { passive: false });
let drag: { x: number; y: number; moved: boolean } | undefined;
picture.addEventListener("pointerdown", (event) => {
  drag = { x: (event as PointerEvent).clientX - camera.x, y: (event as PointerEvent).clientY - camera.y, moved: false };
});
picture.addEventListener("pointermove", (event) => {
  const e = event as PointerEvent;
  if (!drag || !e.buttons) return;
  const x = e.clientX - drag.x;
  const y = e.clientY - drag.y;
  if (Math.abs(x - camera.x) + Math.abs(y - camera.y) > 3) drag.moved = true;
  camera.x = x;
  camera.y = y;
  place();
});
picture.addEventListener("click", (event) => {
  if (drag?.moved) return;
  const target = event.target as SVGElement;
  const group = target.closest<SVGElement>(".block");
  if (!group || !flow) return;
  const number = Number(group.dataset["block"]);
  const block = flow.blocks[number];
  if (!block) return;
  focused = number;
  const line = Number(target.dataset["instruction"] ?? block.from);
  store.selectInstruction(store.routine, Math.min(line, block.to - 1), "flow");
});
picture.addEventListener("dblclick", (event) => {
  const group = (event.target as SVGElement).closest<SVGElement>(".block");
  if (group) toggle(Number(group.dataset["block"]));
});
picture.addEventListener("keydown", (event) => {
  const e = event as KeyboardEvent;
  const keys: Record<string, () => void> = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": fit,
    ArrowDown: () => focusBlock(focused + 1), ArrowUp: () => focusBlock(focused - 1),
    ArrowLeft: () => { camera.x += 40; place(); }, ArrowRight: () => { camera.x -= 40; place(); },
    f: () => toggle(focused), Enter: () => focusBlock(focused),
  };
  const action = keys[e.key];
  if (!action || e.ctrlKey || e.altKey || e.metaKey) return;
  e.preventDefault();
  e.stopPropagation();
  action();
});

export const flowView: View = {
  id: "flow",
  title: "Control flow",
  root,
  async refresh() {
    const key = store.routine;
    const whole = key !== shown;
    if (whole) folded = new Set();
    shown = key;
    await load(whole || camera.scale === 1, whole);
  },
  follow(_: Selection, origin: string) {
    follow(origin !== "flow");
  },
  reset() {
    shown = -1;
  },
};
