// Two files side by side, aligned by what instructions do.
import { ask, type Diff, type DiffRow } from "./api";
import { byId, el, Rows } from "./dom";
import { store } from "./store";
import type { View } from "./views";

let diff: Diff | undefined;
let chosen = 0;
let list: DiffRow[] = [];
let second = "";

const rows = new Rows("list", "Instructions side by side", 19, row);
const about = el("div");
const choice = el("select", { "aria-label": "Routine that differs" });
const next = el("button", { type: "button" }, "Next difference");
const root = el("div", { class: "diff-view" }, about, el("div", { class: "tools" }, choice, next), rows.box);
let at = -1;

const signs = { same: " ", changed: "≠", removed: "−", added: "+" };

function row(index: number): HTMLElement {
  const [kind, old, fresh] = list[index] as DiffRow;
  const line = el("div", { class: `row diff ${kind}${index === at ? " current" : ""}`, role: "listitem" },
    el("span", { class: "sign", role: "img", "aria-label": kind }, signs[kind]),
    el("button", { class: "side link", disabled: !old, tabindex: old ? 0 : -1, "aria-label": `First file: ${old?.[1] ?? "nothing"}` }, old?.[1] ?? ""),
    el("span", { class: "side" }, fresh?.[1] ?? ""));
  line.querySelector("button")?.addEventListener("click", () => {
    const routine = store.summary?.routines.findIndex((r) => r.name === diff?.routines[chosen]?.name) ?? -1;
    if (old && routine >= 0) store.selectInstruction(routine, old[0], "diff");
  });
  return line;
}

function choose(n: number) {
  chosen = n;
  at = -1;
  list = diff?.routines[n]?.rows ?? [];
  rows.resize(list.length);
  rows.box.scrollTop = 0;
}
choice.addEventListener("change", () => choose(Number(choice.value)));
next.addEventListener("click", () => {
  const later = list.findIndex((r, n) => n > at && r[0] !== "same");
  at = later >= 0 ? later : list.findIndex((r) => r[0] !== "same");
  if (at >= 0) rows.show(at);
});

export const diffView: View = {
  id: "diff",
  title: "Compare",
  root,
  async refresh() {
    if (!second || !store.summary) {
      const open = el("button", { type: "button", class: "primary" }, "Open a second file…");
      open.addEventListener("click", () => byId("file-second").click());
      about.replaceChildren(el("p", { class: "hint" }, "Open a second file to see it beside the first one."), open);
      diff = undefined;
      choice.replaceChildren();
      choice.parentElement!.hidden = true;
      list = [];
      rows.resize(0);
      return;
    }
    diff = await ask<Diff>("diff");
    choice.parentElement!.hidden = false;
    const count = diff.routines.length;
    const others = diff.object.map((c) => el("li", {}, `${c.what}: ${c.old ?? "nothing"} → ${c.new ?? "nothing"}`));
    about.replaceChildren(
      el("p", {}, `${store.summary.name} and ${second}: `, el("strong", {}, count || diff.object.length ? `${count} ${count === 1 ? "routine differs" : "routines differ"}` : "no difference"), `, ${diff.same} are the same.`),
      el("ul", {}, ...others));
    choice.replaceChildren(...diff.routines.map((r, n) => {
      const changed = r.rows.filter((x) => x[0] !== "same").length;
      return el("option", { value: n }, `${r.name}: ${r.same} same, ${changed} differ, ${r.changes.length} other`);
    }));
    choose(Math.min(chosen, Math.max(0, count - 1)));
  },
  reset() {
    second = "";
    chosen = 0;
  },
};

export function setSecond(name: string) {
  second = name;
}
