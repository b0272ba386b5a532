// Requests to the libraries, typed. `crates/wasm` answers them.

export interface Routine {
  kind: "kernel" | "function";
  name: string;
  offset: number;
  size: number;
  instructions: number;
}
export interface Fix {
  title: string;
  from: number;
  to: number;
  text: string;
}
export interface Problem {
  from?: number;
  to?: number;
  line?: number;
  offset?: number;
  severity: "error" | "warning";
  rule?: string;
  message: string;
  help?: string;
  fix?: Fix;
}
export interface Status {
  version: number;
  format: string;
  dialect: string;
  platform: string | null;
  assembles: boolean;
  size: number;
  routines: Routine[];
  problems: Problem[];
  notes: string[];
}
export interface Summary extends Status {
  name: string;
  editable: boolean;
  /** The whole text, or that of the routine that is shown where it is not edited. */
  text: string;
  metadata: boolean;
  /** Lines of the file end with two characters; here they end with one. */
  crlf: boolean;
}
/** From and to in the text, offset and length in the file. */
export type Link = [from: number, to: number, offset: number, length: number];
/** The links of the instructions of a routine: there may be very many. */
export class Links {
  constructor(private readonly numbers: Uint32Array) {}
  get length() {
    return this.numbers.length / 4;
  }
  at(n: number | undefined): Link | undefined {
    if (n === undefined || n < 0 || n >= this.length) return undefined;
    return Array.from(this.numbers.subarray(n * 4, n * 4 + 4)) as Link;
  }
  /** The last instruction that begins at a place or before it: in the text (0) or in the file (2). */
  below(value: number, which: 0 | 2): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.numbers[middle * 4 + which] as number) <= value) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
export type FieldRow = [from: number, to: number, kind: string, path: string, value: string];
export interface TreeRow {
  /** Null for a list of instructions as a whole. */
  node: number | null;
  chunk: number | null;
  label: string;
  value: string;
  class: string;
  from: number;
  to: number;
  children: number;
  editable: boolean;
}
export interface Block {
  x: number;
  y: number;
  width: number;
  height: number;
  lines: string[];
  from: number;
  to: number;
  folded: boolean;
  missing: boolean;
}
export interface Flow {
  blocks: Block[];
  edges: { from: number; to: number; points: [number, number][]; text: string; label: [number, number] | null; style: string }[];
  width: number;
  height: number;
  line: number;
  pad: number;
}
export interface Declaration {
  name: string;
  type: string;
  elements: number;
  bytes: number;
  alias: string | null;
  input: boolean;
  reads: number;
  writes: number;
  live: [number, number][];
}
export interface Declarations {
  declarations: Declaration[];
  pressure: number[];
  grf: number;
  instructions: number;
}
export interface RunState {
  step: number;
  routine: number;
  group: number;
  groups: number;
  threads: { state: string; routine: number | null; instruction: number | null; mask: number; next: boolean }[];
  lanes: number;
  ended: boolean;
  fault: { message: string; routine: number; instruction: number; thread: number | null } | null;
  last: { thread: number; routine: number; instruction: number; mask: number } | null;
  accesses: { space: string; address: string; bytes: number; lane: number | null; kind: string }[];
  /** Bytes of shared local memory and of a thread's scratch. */
  local: number;
  scratch: number;
  printed: string;
}
export interface Variable {
  name: string;
  class: string;
  type: string;
  elements: string[];
  alias: string | null;
  zero: boolean;
  changed: number[];
}
/** Number, executions, lanes, lanes that there could have been, cycles by the cost model. */
export type HeatRow = [instruction: number, executions: number, lanes: number, slots: number, cycles: number];
export interface Heat {
  rows: HeatRow[];
  platform: string;
  stopped: boolean;
}
export interface CheckedPlace {
  routine: number | null;
  instruction: number;
  text: string;
  file: string | null;
  line: number | null;
}
export interface CheckFinding {
  kind: string;
  level: "error" | "warning" | "note";
  meaning: string;
  message: string;
  place: CheckedPlace;
  item: string | null;
  other: { what: string; item: string | null; place: CheckedPlace | null } | null;
  group: number;
  step: number;
  count: number;
}
/** What the checkers found, and why the run did not come to its end under them, if it did not. */
export interface Checked {
  findings: CheckFinding[];
  stopped: { reason: string; message: string; groups: number; groups_ended: number; places: { place: CheckedPlace; threads: number; item: string }[] } | null;
}
export interface RunForm {
  arguments: { name: string; type: string; pointer: boolean; space: string | null; bytes: number }[] | null;
  inputs: { name: string; type: string; elements: number; implicit: string | null }[];
  lanes: number;
  required: number[] | null;
}
export type DiffRow = [kind: "same" | "changed" | "removed" | "added", old: [number, string] | null, fresh: [number, string] | null];
export interface Diff {
  object: { what: string; old: string | null; new: string | null }[];
  routines: {
    kind: string;
    name: string;
    only: string | null;
    same: number;
    changes: { what: string; old: string | null; new: string | null }[];
    rows: DiffRow[];
  }[];
  same: number;
}

const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
let next = 0;

worker.onmessage = (event: MessageEvent<{ id: number; answer?: string; plain?: unknown }>) => {
  const { id, answer, plain } = event.data;
  const promise = waiting.get(id);
  waiting.delete(id);
  if (!promise) return;
  if (plain !== undefined) return promise.resolve(plain as never);
  const result = JSON.parse(answer ?? "{}") as { ok?: unknown; error?: string };
  if (result.error !== undefined) promise.reject(new Error(result.error));
  else promise.resolve(result.ok as never);
};
worker.onerror = (event) => {
  for (const promise of waiting.values()) promise.reject(new Error(`the libraries could not be loaded: ${event.message}`));
  waiting.clear();
};

function send<T>(message: object, transfer: Transferable[] = []): Promise<T> {
  const id = next++;
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (value: never) => void, reject });
    worker.postMessage({ id, ...message }, transfer);
  });
}

export function ask<T>(method: string, parameters: object = {}): Promise<T> {
  return send<T>({ call: JSON.stringify({ method, ...parameters }) });
}
/** Opens a file; its text comes by itself, as it may be long. */
export async function openFile(slot: number, name: string, bytes: Uint8Array): Promise<Summary> {
  const summary = await send<Summary>({ open: { slot, name, bytes } });
  summary.text = await textOf(slot, 0);
  return summary;
}
/** Opens a folder that a compiler dumped into: `choose` picks one of several kernels. */
export async function openDump(files: { name: string; bytes: Uint8Array }[], choose: (kernels: string[]) => Promise<string>): Promise<Summary> {
  await send<null>({ offer: files });
  let answer = await ask<Summary | { kernels: string[] }>("dump");
  if ("kernels" in answer) answer = await ask<Summary>("dump", { kernel: await choose(answer.kernels) });
  const summary = answer as Summary;
  summary.text = await textOf(0, 0);
  return summary;
}
export function data(slot: number): Promise<Uint8Array> {
  return send<Uint8Array>({ data: { slot } });
}
export function textOf(slot: number, routine: number): Promise<string> {
  return send<string>({ text: { slot, routine } });
}
export async function linksOf(slot: number, routine: number): Promise<Links> {
  return new Links(await send<Uint32Array>({ links: { slot, routine } }));
}
