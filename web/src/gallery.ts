// Twelve examples, each with one thing to learn.
import type { Preset } from "./run";

export interface Example {
  title: string;
  lesson: string;
  view: string;
  file: URL;
  second?: URL;
  metadata?: URL;
  source?: URL;
  preset?: Preset;
  /** Buffers that the preset's arguments have, by argument. */
  data?: Record<number, URL>;
}

const ones = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16";

export const examples: Example[] = [
  {
    title: "Every byte has a name",
    lesson: "A compiled kernel. Point at bytes to see the fields that they belong to; choose one and the other panes follow.",
    view: "flow",
    file: new URL("../../fixtures/objects/vecadd_f32_skl_v41.isa", import.meta.url),
  },
  {
    title: "Faults where they are",
    lesson: "A text with three faults. Each is marked at its place while you type, with what to do.",
    view: "findings",
    file: new URL("../examples/mistakes.visaasm", import.meta.url),
  },
  {
    title: "Lanes part and meet",
    lesson: "Step through a divergent jump and watch which lanes are on.",
    view: "run",
    file: new URL("../examples/diverge.visaasm", import.meta.url),
    preset: { mode: "bare" },
  },
  {
    title: "A loop that lanes leave at different times",
    lesson: "Step forwards and backwards; values that change are marked.",
    view: "run",
    file: new URL("../../fixtures/programs/loops.visaasm", import.meta.url),
    preset: { mode: "bare", sets: { N: "7,1,6,27,0,3,12,9,5,2,8,10,11,4,13,40" } },
  },
  {
    title: "Calls by some lanes",
    lesson: "Subroutines in the graph: the dotted arrows are calls, the red ones are taken by some lanes only.",
    view: "flow",
    file: new URL("../../fixtures/programs/calls.visaasm", import.meta.url),
    preset: { mode: "bare", sets: { INPUT: ones } },
  },
  {
    title: "A switch is a tree of jumps",
    lesson: "What a compiler makes of a switch. Zoom, fold blocks, and follow the red arrows: some lanes take them, others do not.",
    view: "flow",
    file: new URL("../../fixtures/objects/uniform_switch_tgllp_v36.isa", import.meta.url),
  },
  {
    title: "What is live where",
    lesson: "Registers in use, beside the text and as a plot. Move an instruction and watch the peak.",
    view: "declarations",
    file: new URL("../examples/pressure.visaasm", import.meta.url),
  },
  {
    title: "From line to instruction",
    lesson: "FILE and LOC lead from the source to the instructions and back.",
    view: "lines",
    file: new URL("../examples/lines.visaasm", import.meta.url),
    source: new URL("../examples/lines.cl", import.meta.url),
    preset: { mode: "bare", sets: { FACTOR: "4" } },
  },
  {
    title: "One instruction, sixteen answers",
    lesson: "Bit field insert: give widths, offsets and values, and see what the instruction makes of them.",
    view: "run",
    file: new URL("../../fixtures/programs/bfi.visaasm", import.meta.url),
    preset: {
      mode: "bare",
      sets: { WIDTH: "4,8,16,32,1,0,4,4,4,4,4,4,4,4,4,4", OFFSET: "0,4,8,0,31,3,4,8,12,16,20,24,28,30,31,33", VALUE: "15", BASE: "0" },
    },
  },
  {
    title: "A kernel on a grid",
    lesson: "An OpenCL kernel with its metadata: groups that do not fill their lanes, run to the end, buffers afterwards.",
    view: "run",
    file: new URL("../../fixtures/cases/partial_groups/pvc/k.isa", import.meta.url),
    metadata: new URL("../../fixtures/cases/partial_groups/pvc/k.zeinfo", import.meta.url),
    data: { 0: new URL("../../fixtures/cases/partial_groups/arg0.bin", import.meta.url) },
    preset: {
      mode: "kernel",
      global: [60, 3, 1],
      local: [20, 3, 1],
      arguments: [{ kind: "buffer", type: "u32", count: 180 }, { kind: "value", type: "u32", count: 1, values: "100000" }],
    },
  },
  {
    title: "Functions with a stack",
    lesson: "An object with several routines: choose them above, and compare the operations they are made of.",
    view: "statistics",
    file: new URL("../../fixtures/objects/call_stack_pvc_v41.isa", import.meta.url),
  },
  {
    title: "The same kernel for two devices",
    lesson: "Two files side by side, aligned by what their instructions do.",
    view: "diff",
    file: new URL("../../fixtures/kernels/xorshift.acm-g10.visaasm", import.meta.url),
    second: new URL("../../fixtures/kernels/xorshift.pvc.visaasm", import.meta.url),
  },
];
