// Declarations with live ranges, and register pressure as a plot.
import { ask, type Declarations } from "./api";
import { el, Rows, svg } from "./dom";
import { showBars } from "./editor";
import { MANY, store } from "./store";
import { currentView, type View } from "./views";

const WIDTH = 1000;
const HEIGHT = 120;
let found: Declarations = { declarations: [], pressure: [], grf: 32, instructions: 0 };
let sorted: number[] = [];
let order: "table" | "live" | "size" = "table";

const plot = svg("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", tabindex: 0 });
const caption = el("p", { class: "caption" });
const rows = new Rows("list", "Declarations", 20, row);
const sort = el("select", { "aria-label": "Order" },
  el("option", { value: "table" }, "as declared"), el("option", { value: "live" }, "longest live"), el("option", { value: "size" }, "largest"));
sort.addEventListener("change", () => {
  order = sort.value as typeof order;
  arrange();
});

function lived(n: number) {
  return (found.declarations[n]?.live ?? []).reduce((sum, [a, b]) => sum + b - a, 0);
}

function arrange() {
  sorted = found.declarations.map((_, n) => n);
  if (order === "live") sorted.sort((a, b) => lived(b) - lived(a));
  if (order === "size") sorted.sort((a, b) => (found.declarations[b]?.bytes ?? 0) - (found.declarations[a]?.bytes ?? 0));
  rows.resize(sorted.length);
}

function row(index: number): HTMLElement {
  const d = found.declarations[sorted[index] as number];
  if (!d) return el("div");
  const at = store.selection?.routine === store.routine ? store.selection?.instruction : undefined;
  const alive = at !== undefined && d.live.some(([a, b]) => at >= a && at < b);
  const count = Math.max(1, found.instructions);
  const life = svg("svg", { class: "life", viewBox: `0 0 ${count} 1`, preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const [a, b] of d.live) life.append(svg("rect", { x: a, y: 0, width: Math.max(b - a, count / 200), height: 1 }));
  if (at !== undefined) life.append(svg("rect", { class: "now", x: at, y: 0, width: Math.max(1, count / 150), height: 1 }));
  const spans = d.live.map(([a, b]) => `${a} to ${b - 1}`).join(", ");
  const line = el("div", { class: `row decl${alive ? " alive" : ""}`, role: "listitem", title: `live at instructions ${spans || "none"}` },
    el("button", { class: "name link", "aria-label": `${d.name}, ${d.type}, ${d.elements} elements, live at instructions ${spans || "none"}` }, d.name),
    el("span", { class: "type" }, `${d.type}×${d.elements}`),
    el("span", { class: "about" }, d.alias ? `= ${d.alias}` : d.input ? "input" : `${d.bytes} B`),
    el("span", { class: "uses" }, `${d.writes}w ${d.reads}r`),
    life as unknown as HTMLElement);
  line.querySelector("button")?.addEventListener("click", () => {
    const first = d.live[0]?.[0];
    if (first !== undefined) store.selectInstruction(store.routine, first, "declarations");
  });
  return line;
}

function draw() {
  const { pressure } = found;
  const most = pressure.reduce((a, b) => Math.max(a, b), 1);
  const count = Math.max(1, pressure.length);
  const x = (n: number) => ((n / count) * WIDTH).toFixed(1);
  const y = (v: number) => (HEIGHT - (v / most) * (HEIGHT - 8)).toFixed(1);
  let path = `M0 ${HEIGHT}`;
  // Of several instructions in one column of the plot the highest is drawn.
  const each = Math.max(1, Math.ceil(count / WIDTH));
  for (let n = 0; n < pressure.length; n += each) {
    const v = pressure.slice(n, n + each).reduce((a, b) => Math.max(a, b), 0);
    path += `L${x(n)} ${y(v)}L${x(Math.min(n + each, count))} ${y(v)}`;
  }
  path += `L${WIDTH} ${HEIGHT}Z`;
  const peak = Math.max(0, pressure.indexOf(most));
  plot.replaceChildren(svg("path", { class: "area", d: path }));
  if (store.selection?.routine === store.routine && store.selection.instruction !== undefined) {
    const at = x(store.selection.instruction + 0.5);
    plot.append(svg("line", { class: "now", x1: at, x2: at, y1: 0, y2: HEIGHT }));
  }
  plot.setAttribute("aria-label", `Registers in use by instruction; most are ${most} at instruction ${peak}. Arrow keys move.`);
  const here = store.selection?.routine === store.routine ? pressure[store.selection?.instruction ?? -1] : undefined;
  caption.textContent = `At most ${most} registers of ${found.grf} bytes, at instruction ${peak}${here !== undefined ? `; here ${here}` : ""}. `
    + "An estimate of what a finalizer has to fit into the register file.";
}

plot.addEventListener("click", (event) => {
  const box = plot.getBoundingClientRect();
  const n = Math.floor((((event as MouseEvent).clientX - box.left) / box.width) * found.pressure.length);
  store.selectInstruction(store.routine, n, "declarations");
});
plot.addEventListener("keydown", (event) => {
  const key = (event as KeyboardEvent).key;
  const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  if (!step) return;
  event.preventDefault();
  store.selectInstruction(store.routine, (store.selection?.instruction ?? -1) + step, "declarations");
});

export const declarationsView: View = {
  id: "declarations",
  title: "Declarations",
  root: el("div", {}, plot as unknown as HTMLElement, caption, el("label", { class: "inline" }, "Order ", sort), rows.box),
  async refresh() {
    if (store.length > MANY) return load();
    arrange();
    draw();
  },
  follow() {
    rows.draw(true);
    draw();
  },
};

async function load() {
  found = { declarations: [], pressure: [], grf: 32, instructions: 0 };
  try {
    if (store.summary?.routines.length) found = await ask<Declarations>("declarations", { routine: store.routine });
  } catch {
    // A routine that could not be decoded has none.
  }
  if (!document.body.dataset["heat"]) showBars(found.pressure, "registers in use", false);
  if (currentView() === "declarations") {
    arrange();
    draw();
  }
}

// The bars beside the code are shown in every view; those of long routines only in the view of the declarations.
store.add({
  async refresh() {
    if (store.length <= MANY) await load();
    else if (currentView() !== "declarations") found = { declarations: [], pressure: [], grf: 32, instructions: 0 };
  },
});

export const pressure = () => found.pressure;
