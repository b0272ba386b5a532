// Source lines, statistics, findings.
import { ask, type Problem } from "./api";
import { el, hex } from "./dom";
import { goTo, replaceText, text } from "./editor";
import { store } from "./store";
import type { View } from "./views";

interface Lines {
  files: string[];
  places: ([number, number] | null)[];
}
let lines: Lines = { files: [], places: [] };
const linesRoot = el("div");

const base = (path: string) => path.split(/[\\/]/).pop() ?? path;

export const linesView: View = {
  id: "lines",
  title: "Source",
  root: linesRoot,
  async refresh() {
    lines = store.summary?.routines.length
      ? await ask<Lines>("lines", { routine: store.routine }).catch(() => ({ files: [], places: [] }))
      : { files: [], places: [] };
    const parts: HTMLElement[] = [];
    if (!lines.files.length) {
      parts.push(el("p", { class: "hint" }, "No FILE and LOC instructions name lines of a source. Compilers write them with -g."));
    }
    for (const [number, file] of lines.files.entries()) {
      const by = new Map<number, number[]>();
      lines.places.forEach((place, n) => {
        if (place?.[0] === number) by.set(place[1], [...(by.get(place[1]) ?? []), n]);
      });
      const source = store.sources.get(base(file))?.split("\n");
      parts.push(el("h3", {}, file || "(no name)"));
      if (!source) parts.push(el("p", { class: "hint" }, `Open ${base(file) || "the source"} to see its lines here.`));
      const list = el("ol", { class: "source" });
      const numbers = source ? source.map((_, n) => n + 1) : [...by.keys()].sort((a, b) => a - b);
      for (const line of numbers) {
        const own = by.get(line) ?? [];
        const button = el("button", { class: "link", disabled: !own.length, title: `line ${line}, ${own.length} instructions` },
          el("span", { class: "number" }, String(line)),
          el("code", {}, source?.[line - 1] ?? ""),
          el("span", { class: "count" }, own.length ? `${own.length}` : ""));
        button.addEventListener("click", () => store.selectInstruction(store.routine, own[0] as number, "lines"));
        const item = el("li", {}, button);
        item.dataset["place"] = `${number}:${line}`;
        list.append(item);
      }
      parts.push(list);
    }
    linesRoot.replaceChildren(...parts);
  },
  follow(selection, origin) {
    const place = selection.routine === store.routine ? lines.places[selection.instruction ?? -1] : undefined;
    for (const item of linesRoot.querySelectorAll<HTMLElement>("li[data-place]")) {
      const own = place !== undefined && place !== null && item.dataset["place"] === `${place[0]}:${place[1]}`;
      item.classList.toggle("selected", own);
      if (own && origin !== "lines") item.scrollIntoView({ block: "nearest" });
    }
  },
};

interface Statistics {
  instructions: number;
  predicated: number;
  undecoded: number;
  [table: string]: number | [string, number][];
}
const statisticsRoot = el("div", { class: "statistics" });
export const statisticsView: View = {
  id: "statistics",
  title: "Statistics",
  root: statisticsRoot,
  async refresh() {
    if (!store.summary) return;
    const found = await ask<Statistics>("statistics");
    const parts: HTMLElement[] = [
      el("p", {}, `${found.instructions} instructions, ${found.predicated} with a predicate${found.undecoded ? `, ${found.undecoded} undecoded` : ""}.`),
    ];
    const titles: [string, string][] = [["operations", "Operations"], ["groups", "Groups"], ["lanes", "Execution size"],
      ["bytes", "Bytes"], ["destinations", "Destinations"], ["sources", "Sources"]];
    for (const [key, title] of titles) {
      const list = found[key] as [string, number][];
      if (!list.length) continue;
      const most = Math.max(...list.map((r) => r[1]));
      const body = el("tbody");
      for (const [name, count] of list) {
        body.append(el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, String(count)),
          el("td", { class: "meter" }, el("meter", { min: 0, max: most, value: count, "aria-label": `${name}: ${count}` }))));
      }
      parts.push(el("table", {}, el("caption", {}, title), body));
    }
    statisticsRoot.replaceChildren(...parts);
  },
};

const findingsRoot = el("div");
export const findingsView: View = {
  id: "findings",
  title: "Findings",
  root: findingsRoot,
  async refresh() {
    const found = store.summary ? await ask<Problem[]>("findings") : [];
    const parts: HTMLElement[] = (store.summary?.notes ?? []).map((note) => el("p", { class: "note" }, note));
    if (!found.length) parts.push(el("p", { class: "hint" }, "Nothing is wrong, as far as assembler and validator see."));
    const list = el("ul", { class: "findings" });
    for (const problem of found) {
      const place = problem.line !== undefined ? `line ${problem.line}` : problem.offset != null ? hex(problem.offset, 6) : "";
      const button = el("button", { class: `finding ${problem.severity}` },
        el("strong", {}, problem.severity), " ", el("span", { class: "place" }, place), " ", problem.message,
        ...(problem.rule ? [el("small", {}, ` ${problem.rule}`)] : []),
        ...(problem.help ? [el("em", {}, problem.help)] : []));
      button.addEventListener("click", () => {
        if (problem.from !== undefined) goTo(problem.from, problem.to);
        else if (problem.offset != null) store.selectBytes(problem.offset, problem.offset + 1, "findings");
      });
      const item = el("li", {}, button);
      if (problem.fix) {
        const fix = problem.fix;
        const apply = el("button", { class: "fix" }, fix.title);
        apply.addEventListener("click", () => replaceText(text().slice(0, fix.from) + fix.text + text().slice(fix.to)));
        item.append(apply);
      }
      list.append(item);
    }
    findingsRoot.replaceChildren(...parts, list);
  },
};
