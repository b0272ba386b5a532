// What is open and what is selected. Panes subscribe and follow.
import { type Link, type Links, linksOf, type Status, type Summary, textOf } from "./api";

/** A place in the file: bytes, and the instruction that they belong to. */
export interface Selection {
  from: number;
  to: number;
  routine?: number;
  instruction?: number;
}

export interface Pane {
  /** The file has changed, or another routine is shown. */
  refresh?(): void | Promise<void>;
  /** Something was selected, in the pane `origin`. */
  follow?(selection: Selection, origin: string): void;
}

/** What is said of every instruction of a routine is asked for only where it is looked at if there are more. */
export const MANY = 50_000;

class Store {
  summary?: Summary;
  routine = 0;
  links: Links[] = [];
  selection?: Selection;
  metadata = "";
  /** Sources by their base name, for the lines that LOC names. */
  sources = new Map<string, string>();
  private panes: Pane[] = [];
  private busy?: Promise<void>;

  add(pane: Pane) {
    this.panes.push(pane);
  }

  async opened(summary: Summary) {
    this.summary = summary;
    this.routine = 0;
    this.selection = undefined;
    await this.changed(summary);
  }

  /** The file has changed: links first, as all panes need them. */
  async changed(status: Status) {
    if (!this.summary) return;
    Object.assign(this.summary, status);
    this.routine = Math.min(this.routine, Math.max(0, status.routines.length - 1));
    const version = status.version;
    const wanted = this.summary.editable ? status.routines.map((_, n) => n) : [this.routine];
    const links: Links[] = [];
    await Promise.all(
      wanted.map(async (routine) => {
        if (status.routines.length) links[routine] = await linksOf(0, routine);
      }),
    );
    if (this.summary.version !== version) return;
    this.links = links;
    await this.refresh();
  }

  async show(routine: number) {
    if (routine === this.routine) return;
    this.routine = routine;
    if (this.summary && !this.summary.editable) {
      this.links[routine] ??= await linksOf(0, routine);
      this.summary.text = await textOf(0, routine);
    }
    await this.refresh();
  }

  async refresh() {
    this.busy = Promise.all(this.panes.map((pane) => pane.refresh?.())).then(() => undefined);
    await this.busy;
  }

  link(routine: number | undefined, instruction: number | undefined): Link | undefined {
    return routine === undefined ? undefined : this.links[routine]?.at(instruction);
  }

  /** Instructions of the routine that is shown. */
  get length(): number {
    return this.summary?.routines[this.routine]?.instructions ?? 0;
  }

  select(selection: Selection, origin: string) {
    this.selection = selection;
    for (const pane of this.panes) pane.follow?.(selection, origin);
  }

  selectInstruction(routine: number, instruction: number, origin: string) {
    const link = this.link(routine, instruction);
    if (!link) return;
    if (routine !== this.routine) void this.show(routine);
    this.select({ from: link[2], to: link[2] + link[3], routine, instruction }, origin);
  }

  /** Selects bytes, and the instruction that they are in. */
  selectBytes(from: number, to: number, origin: string) {
    for (const [routine, links] of this.links.entries()) {
      if (!links?.length) continue;
      const instruction = links.below(from, 2);
      const link = links.at(instruction);
      if (link && from >= link[2] && from < link[2] + link[3]) {
        this.select({ from, to, routine, instruction }, origin);
        return;
      }
    }
    this.select({ from, to }, origin);
  }

  /** Selects what a place of the text made. */
  selectText(at: number, origin: string) {
    for (const [routine, links] of this.links.entries()) {
      if (!links?.length) continue;
      if (!this.summary?.editable && routine !== this.routine) continue;
      const instruction = links.below(at, 0);
      const link = links.at(instruction);
      if (link && at >= link[0] && at <= link[1] + 1) {
        if (this.selection?.routine === routine && this.selection.instruction === instruction) return;
        this.selectInstruction(routine, instruction, origin);
        return;
      }
    }
  }
}

export const store = new Store();
