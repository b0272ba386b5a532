// Runs: the form, steps forwards and backwards, lanes, values, memory, heat.
import { ask, type Checked, type CheckedPlace, type Heat, type HeatRow, type RunForm, type RunState, type Variable } from "./api";
import { el } from "./dom";
import { markRun, showBars } from "./editor";
import { pressure } from "./declarations";
import { say } from "./message";
import { store } from "./store";
import type { View } from "./views";

export interface Preset {
  mode?: "bare" | "kernel";
  global?: number[];
  local?: number[];
  arguments?: object[];
  sets?: Record<string, string>;
}
let preset: Preset | undefined;
let form: RunForm | undefined;
let state: RunState | undefined;
let thread = 0;
let shownAll = false;
/** What the bars beside the text show of a run. */
const HEATS: Record<string, { title: string; unit: string; of: (row: HeatRow) => number }> = {
  executions: { title: "times run", unit: "times run", of: ([, executions]) => executions },
  cycles: { title: "time", unit: "cycles by the cost model", of: ([, , , , cycles]) => cycles },
  idle: { title: "idle lanes", unit: "lanes that did nothing", of: ([, , lanes, slots]) => slots - lanes },
};
let findings: Checked | undefined;
/** Parts of memory that were unfolded; the first argument is at first. */
const unfolded = new Map<string, boolean>();

const fields = el("form", { class: "run-form", "aria-label": "What to run" });
const controls = el("div", { class: "tools", role: "toolbar", "aria-label": "Run" });
const status = el("p", { class: "run-status", role: "status" });
const lanes = el("div", { class: "lanes" });
const values = el("div", { class: "values", tabindex: 0, role: "region", "aria-label": "Values of variables" });
const memory = el("div", { class: "memory" });
const checked = el("div", { class: "checked" });
const printed = el("pre", { class: "elements", hidden: true, "aria-label": "Printed by the kernel" });
const root = el("div", { class: "run-view" }, fields, controls, status, checked, lanes, values, memory, printed);

function control(text: string, label: string, action: () => Promise<unknown> | void, id: string) {
  const button = el("button", { type: "button", title: label, id: `run-${id}` }, text);
  button.addEventListener("click", () => void guarded(action));
  controls.append(button);
}
control("▶ Start", "Start (Alt+R)", start, "start");
control("◀ Back", "One step back (Alt+B)", () => go("run_step", { by: -1 }), "back");
control("Step ▶", "One step forward (Alt+N)", () => go("run_step", { by: 1 }), "step");
control("+10", "Ten steps forward", () => go("run_step", { by: 10 }), "ten");
control("To line", "On until the selected instruction has run (Alt+K)", until, "until");
control("To end", "On to the end (Alt+E)", () => go("run_end"), "end");
control("Check", "Run everything under the checkers: memory, undefined values, races, barriers (Alt+C)", check, "check");
const heat = el("select", { id: "run-heat", "aria-label": "Heat: bars beside the text, of the whole run" },
  el("option", { value: "" }, "no heat"), ...Object.entries(HEATS).map(([value, { title }]) => el("option", { value }, `heat: ${title}`)));
heat.addEventListener("change", () => void guarded(showHeat));
controls.append(heat);

function until() {
  const { selection } = store;
  if (selection?.instruction === undefined) throw new Error("Select an instruction first.");
  return go("run_until", { routine: selection.routine, instruction: selection.instruction });
}

async function guarded(action: () => Promise<unknown> | void) {
  try {
    await action();
  } catch (error) {
    say((error as Error).message, true);
    status.textContent = (error as Error).message;
  }
}

const numbers = (text: string) => text.split(/[\s,x×]+/).filter(Boolean).map(Number);

function labelled(text: string, input: HTMLElement) {
  return el("label", {}, el("span", {}, text), input);
}

const TYPES = ["u32", "i32", "f32", "u8", "i8", "u16", "i16", "u64", "i64", "f16", "f64"];
const guess = (type: string) =>
  ({ float: "f32", int: "i32", uint: "u32", char: "i8", uchar: "u8", short: "i16", ushort: "u16", long: "i64", ulong: "u64", half: "f16", double: "f64" })[
    type.replace(/\*|const|\s/g, "").replace(/\d+$/, "")] ?? "u32";

function buildForm() {
  const routine = store.summary?.routines[store.routine];
  if (!form || !routine) return;
  const hasKernel = form.arguments !== null;
  const mode = el("select", { name: "mode" },
    ...(hasKernel ? [el("option", { value: "kernel" }, "on a grid, as OpenCL does")] : []),
    el("option", { value: "bare" }, "bare: one thread, variables set by name"));
  if (preset?.mode) mode.value = preset.mode;
  const room = el("div", { class: "fields" });
  const fill = () => {
    const parts: HTMLElement[] = [];
    if (mode.value === "kernel" && form?.arguments) {
      const global = preset?.global?.join(" ") ?? "64";
      const local = preset?.local?.join(" ") ?? (form.required?.some((n) => n > 0) ? form.required.join(" ") : "");
      parts.push(labelled("work-items", el("input", { name: "global", value: global, inputmode: "numeric" })));
      parts.push(labelled("group", el("input", { name: "local", value: local, placeholder: "by itself" })));
      form.arguments.forEach((argument, n) => {
        const given = preset?.arguments?.[n] as { kind?: string; type?: string; values?: string; hex?: string; count?: number } | undefined;
        const kind = el("select", { name: `kind-${n}`, "aria-label": `Kind of ${argument.name}` },
          ...["buffer", "value", "local", "null", "image", "sampler"].map((k) => el("option", { value: k }, k)));
        kind.value = given?.kind ?? (argument.type.startsWith("image") ? "image" : argument.type.startsWith("sampler") ? "sampler"
          : argument.space === "local" ? "local" : argument.pointer ? "buffer" : "value");
        const type = el("select", { name: `type-${n}`, "aria-label": `Type of ${argument.name}` }, ...TYPES.map((t) => el("option", { value: t }, t)));
        type.value = given?.type ?? guess(argument.type);
        const count = el("input", { name: `count-${n}`, value: given?.count ?? (kind.value === "value" ? 1 : 64), inputmode: "numeric", "aria-label": `Elements of ${argument.name}` });
        const list = el("input", { name: `values-${n}`, value: given?.values ?? (kind.value === "buffer" ? "iota" : kind.value === "value" ? "1" : ""), placeholder: "zeroes", "aria-label": `Values of ${argument.name}: numbers with commas, or iota` });
        if (given?.hex !== undefined) list.dataset["hex"] = given.hex;
        if (given?.hex !== undefined) list.value = `${given.hex.length / 2} bytes of the case`;
        list.addEventListener("input", () => delete list.dataset["hex"]);
        parts.push(el("div", { class: "argument", role: "group", "aria-label": argument.name },
          el("span", {}, `${argument.name} ${argument.type}`), kind, type, count, list));
      });
    } else {
      for (const input of form?.inputs ?? []) {
        parts.push(labelled(`${input.name} ${input.type}×${input.elements}`,
          el("input", { name: `set-${input.name}`, value: preset?.sets?.[input.name] ?? "", placeholder: "zeroes" })));
      }
      const known = new Set(form?.inputs.map((i) => i.name));
      const others = Object.entries(preset?.sets ?? {}).filter(([name]) => !known.has(name));
      const rest = el("textarea", { name: "others", rows: Math.max(2, others.length), spellcheck: "false", placeholder: "NAME = 1, 2, 3" });
      rest.value = others.map(([name, text]) => `${name} = ${text}`).join("\n");
      parts.push(labelled("other variables", rest));
    }
    room.replaceChildren(...parts);
  };
  mode.addEventListener("change", fill);
  fill();
  const hint = hasKernel ? [] : [el("p", { class: "hint" }, "Open the kernel's .zeinfo beside it to run it on a grid.")];
  fields.replaceChildren(labelled(`Run ${routine.name}`, mode), room, ...hint);
}
fields.addEventListener("submit", (event) => {
  event.preventDefault();
  void guarded(start);
});

function formData(): object {
  const data = new FormData(fields);
  const value = (name: string) => String(data.get(name) ?? "");
  if (value("mode") === "bare") {
    const sets: Record<string, string> = {};
    for (const [name, text] of data.entries()) {
      if (name.startsWith("set-")) sets[name.slice(4)] = String(text);
    }
    for (const line of value("others").split("\n").filter((l) => l.trim())) {
      const [name, ...rest] = line.split("=");
      sets[(name ?? "").trim()] = rest.join("=").trim();
    }
    return { mode: "bare", sets };
  }
  const list = (form?.arguments ?? []).map((_, n) => {
    const given = preset?.arguments?.[n] ?? {};
    const input = fields.querySelector<HTMLInputElement>(`[name="values-${n}"]`);
    const bytes = input?.dataset["hex"] !== undefined ? { hex: input.dataset["hex"] } : { hex: undefined, values: value(`values-${n}`) };
    return { ...given, kind: value(`kind-${n}`), type: value(`type-${n}`), count: Number(value(`count-${n}`)), ...bytes };
  });
  return { mode: "kernel", global: numbers(value("global")), local: numbers(value("local")), arguments: list };
}

async function start() {
  thread = 0;
  findings = undefined;
  state = await ask<RunState>("run_start", { routine: store.routine, ...formData() });
  await show();
}

async function go(method: string, parameters: object = {}) {
  if (!state) await start();
  state = await ask<RunState>(method, parameters);
  thread = state.fault?.thread ?? state.last?.thread ?? Math.min(thread, state.threads.length - 1);
  await show();
}

async function check() {
  if (!state) await start();
  status.textContent = "Running under the checkers…";
  findings = await ask<Checked>("run_check");
  await show();
}

const named = (place: CheckedPlace | null) =>
  !place ? "" : `instruction ${place.instruction}${place.line ? `, ${place.file?.split(/[\\/]/).pop() ?? "line"}:${place.line}` : ""}`;

/** What the checkers found; choosing one goes to the moment at which it happened. */
function showFindings() {
  checked.replaceChildren();
  if (!findings) return;
  const { findings: found, stopped } = findings;
  const number = found.length ? `${found.length} ${found.length === 1 ? "finding" : "findings"}` : "nothing found";
  checked.append(el("h3", {}, `Checkers: ${number}${stopped ? " until the run was stopped" : ""}`));
  if (stopped) {
    const [first] = stopped.places;
    const where = first ? `; ${first.threads} ${first.threads === 1 ? "thread" : "threads"} at ${named(first.place)}` : "";
    checked.append(el("p", {}, `${stopped.message}; ${stopped.groups_ended} of ${stopped.groups} groups had ended${where}`));
  }
  const list = el("ul", { class: "findings" });
  for (const finding of found) {
    const { place, other } = finding;
    const button = el("button", { type: "button", class: `finding ${finding.level === "error" ? "error" : ""}`, title: finding.meaning },
      el("strong", {}, finding.kind), " ", el("span", { class: "place" }, named(place)), " ", finding.message,
      ...(finding.count > 1 ? [el("small", {}, ` ${finding.count} times`)] : []),
      ...(finding.item ? [el("em", {}, finding.item)] : []),
      ...(other ? [el("em", {}, [other.what, named(other.place), other.item].filter(Boolean).join(", "))] : []));
    button.addEventListener("click", () => void guarded(async () => {
      await go("run_moment", { group: finding.group, step: finding.step });
      if (place.routine !== null) store.selectInstruction(place.routine, place.instruction, "run");
    }));
    list.append(el("li", {}, button));
  }
  checked.append(list);
}

async function show() {
  showFindings();
  if (!state) {
    status.textContent = "";
    lanes.replaceChildren();
    values.replaceChildren();
    memory.replaceChildren();
    printed.hidden = true;
    markRun();
    return;
  }
  const { last, fault } = state;
  markRun(fault?.routine ?? last?.routine, fault?.instruction ?? last?.instruction);
  const where = last ? `, thread ${last.thread} did instruction ${last.instruction}` : "";
  status.textContent = `Step ${state.step}, group ${state.group + 1} of ${state.groups}${where}${state.ended ? ". Ended." : ""}`
    + (fault ? ` Fault: ${fault.message}` : "");
  status.classList.toggle("wrong", fault !== null);
  printed.hidden = !state.printed;
  printed.textContent = state.printed;
  const grid: HTMLElement[] = [];
  const count = Math.max(1, Math.min(32, state.lanes));
  for (const [t, about] of state.threads.slice(0, 64).entries()) {
    // Of the thread that ran the lanes of its last instruction, of the others those that run next.
    const mask = last?.thread === t ? last.mask : about.state === "ended" ? 0 : about.mask;
    const at = about.instruction === null || about.state === "ended" ? about.state : `${about.state}, next is instruction ${about.instruction}`;
    const cells = Array.from({ length: count }, (_, lane) => el("span", { class: `lane${(mask >>> lane) & 1 ? " on" : ""}` }));
    const button = el("button", { type: "button", class: `thread${t === thread ? " current" : ""}`, "aria-pressed": String(t === thread), title: `Thread ${t}: ${at}`,
      "aria-label": `T${t} ${at}, lanes ${mask.toString(2).padStart(count, "0")}` }, `T${t} `, ...cells);
    button.addEventListener("click", () => {
      thread = t;
      void guarded(show);
    });
    grid.push(button);
  }
  lanes.replaceChildren(...grid);
  await Promise.all([showValues(), showMemory(), showHeat()]);
}

async function showValues() {
  const list = await ask<Variable[]>("run_values", { thread });
  const wanted = list.filter((v) => v.changed.length || shownAll || !v.zero).sort((a, b) => Number(b.changed.length > 0) - Number(a.changed.length > 0))
    .filter((v) => shownAll || !["surface", "sampler"].includes(v.class));
  const all = el("button", { type: "button", "aria-pressed": String(shownAll) }, shownAll ? "Show fewer" : "Show all");
  all.addEventListener("click", () => {
    shownAll = !shownAll;
    void showValues();
  });
  const body = el("tbody");
  const columns = Math.max(1, Math.min(16, state?.lanes ?? 16));
  for (const variable of wanted.slice(0, 200)) {
    const { elements } = variable;
    const most = Math.min(elements.length, variable.changed.length ? 64 : columns);
    for (let first = 0; first < Math.max(1, most); first += columns) {
      const cells = elements.slice(first, first + columns).map((text, n) =>
        el("td", { class: variable.changed.includes(first + n) ? "changed" : "" }, text));
      const head = first === 0 ? `${variable.name}` : "";
      body.append(el("tr", {}, el("th", { scope: "row", title: `${variable.type}×${elements.length}${variable.alias ? `, in ${variable.alias}` : ""}` }, head, " ", el("small", {}, first === 0 ? variable.type : `[${first}]`)), ...cells));
    }
  }
  values.replaceChildren(el("h3", {}, `Values of thread ${thread} `, all), el("table", { class: "grid" }, body));
}

/** Memory that is unfolded is kept up to date. */
async function showMemory() {
  const parts: HTMLElement[] = [];
  const part = async (title: string, space: string, number: number, type: string, first = false) => {
    const key = `${space} ${number}`;
    const open = unfolded.get(key) ?? first;
    const body = el("p", { class: "elements" });
    const load = async () => {
      const found = await ask<{ bytes: number; elements: string[] }>("run_memory", { space, number, type }).catch(() => undefined);
      const more = found && found.elements.length > 256 ? " …" : "";
      body.textContent = found ? found.elements.slice(0, 256).join(" ") + more : "nothing is there";
    };
    const box = el("details", { open }, el("summary", {}, `${title} as ${type}`), body);
    box.addEventListener("toggle", () => {
      unfolded.set(key, box.open);
      if (box.open) void load();
    });
    if (open) await load();
    parts.push(box);
  };
  const mode = fields.querySelector<HTMLSelectElement>('[name="mode"]')?.value;
  let first = true;
  for (const [n, argument] of (mode === "kernel" ? form?.arguments ?? [] : []).entries()) {
    const kind = fields.querySelector<HTMLSelectElement>(`[name="kind-${n}"]`)?.value;
    if (kind !== "buffer" && kind !== "image") continue;
    await part(argument.name, "argument", n, fields.querySelector<HTMLSelectElement>(`[name="type-${n}"]`)?.value ?? "u32", first);
    first = false;
  }
  if (state?.local) await part(`shared local memory, ${state.local} bytes`, "local", 0, "u32");
  if (state?.scratch) await part(`scratch of thread ${thread}, ${state.scratch} bytes`, "scratch", thread, "u32");
  if (state?.accesses.length) {
    const list = state.accesses.slice(0, 8).map((a) => `${a.kind} ${a.space} ${a.address}+${a.bytes}${a.lane === null ? "" : ` lane ${a.lane}`}`);
    parts.push(el("p", { class: "elements" }, `Last step: ${list.join("; ")}${state.accesses.length > 8 ? " …" : ""}`));
  }
  memory.replaceChildren(...(parts.length ? [el("h3", {}, "Memory"), ...parts] : []));
}

async function showHeat() {
  const kind = HEATS[heat.value];
  if (kind && state) {
    document.body.dataset["heat"] = heat.value;
    const found = await ask<Heat>("run_heat", { routine: store.routine });
    const values: number[] = [];
    for (const row of found.rows) values[row[0]] = kind.of(row);
    showBars(values, kind.unit + (heat.value === "cycles" ? ` of ${found.platform}` : ""), true);
  } else if (document.body.dataset["heat"]) {
    delete document.body.dataset["heat"];
    showBars(pressure(), "registers in use", false);
  }
}

export const runView: View = {
  id: "run",
  title: "Run",
  root,
  async refresh() {
    // Results belong to the previous text.
    findings = undefined;
    if (state) {
      state = undefined;
      await ask("run_stop").catch(() => undefined);
    }
    try {
      form = store.summary?.routines.length ? await ask<RunForm>("run_form", { routine: store.routine }) : undefined;
      buildForm();
    } catch (error) {
      form = undefined;
      fields.replaceChildren(el("p", { class: "hint" }, (error as Error).message));
    }
    await show();
  },
  reset() {
    preset = undefined;
    heat.value = "";
    unfolded.clear();
    delete document.body.dataset["heat"];
  },
};

export function setPreset(given: Preset | undefined) {
  preset = given;
}
export const runStart = () => guarded(start);
export const runStep = (by: number) => guarded(() => go("run_step", { by }));
export const runUntil = () => guarded(until);
export const runEnd = () => guarded(() => go("run_end"));
export const runCheck = () => guarded(check);
