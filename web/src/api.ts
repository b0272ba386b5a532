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
  text: string;
  metadata: boolean;
}
/** From and to in the text, offset and length in the file. */
export type Link = [from: number, to: number, offset: number, length: number];
export type FieldRow = [from: number, to: number, kind: string, path: string, value: string];
export interface TreeRow {
  node: number;
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
export interface Step {
  thread: number;
  routine: number;
  instruction: number;
  mask: number;
}
export interface RunState {
  step: number;
  routine: number;
  group: number;
  groups: number;
  threads: number;
  lanes: number;
  ended: boolean;
  fault: { message: string; routine: number; instruction: number } | null;
  last: Step | null;
  recent: Step[];
  accesses: { space: string; address: string; bytes: number; lane: number | null; kind: string }[];
}
export interface Variable {
  name: string;
  class: string;
  type: string;
  elements: string[];
  zero: boolean;
  changed: number[];
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

worker.onmessage = (event: MessageEvent<{ id: number; answer?: string; bytes?: Uint8Array }>) => {
  const { id, answer, bytes } = event.data;
  const promise = waiting.get(id);
  waiting.delete(id);
  if (!promise) return;
  if (bytes) return promise.resolve(bytes as never);
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
export function openFile(slot: number, name: string, bytes: Uint8Array): Promise<Summary> {
  return send<Summary>({ open: { slot, name, bytes } });
}
export function data(slot: number): Promise<Uint8Array> {
  return send<Uint8Array>({ data: { slot } });
}
