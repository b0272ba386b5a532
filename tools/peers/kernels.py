#!/usr/bin/env python3
"""Runs OpenCL kernels with generated arguments, here and on another driver, and compares what they leave in memory.

    kernels.py [--device NAMES] [--with DRIVER] [--visakit PROGRAM] PATH...

A PATH is a file of OpenCL C, a folder of them (`*.cl`), or `@FILE`: a list with a file and its compiler options on each
line. Needs pyopencl, the other driver (pocl by default), and `visakit` with its OpenCL library beside it.

For each kernel the first of several launches (shapes of groups, sizes of buffers, magnitudes of numbers) is taken of
which the checkers for memory, races, barriers and undefined values find nothing to say; a kernel without one is
`undefined`, and is not compared. Then `visakit opencl compare` runs it on each device, in the interpreter and in
machine code. Everything runs in a process of its own with a limit of time. Each kernel is one line:

    equal        memory is the same, floats within the tolerance; `unchanged` if no buffer differs from its start
    different    with what `visakit opencl compare` says, and the case that it keeps
    undefined    with the findings of the last launch that was tried
    refused      the compiler here does not build it, or the device has no images
    other        the other driver does not build it, crashes or reports an error
    slow         out of time
    failed       an error here: a fault, a crash, a translation that is refused
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

# Global and local sizes, by the number of dimensions that a source asks for.
SHAPES = {
    1: [((256,), (64,)), ((512,), (256,)), ((64,), (16,)), ((64,), (64,))],
    2: [((32, 32), (16, 16)), ((64, 8), (32, 2))],
    3: [((16, 8, 4), (8, 4, 2))],
}
# Bytes of a buffer, and what integers are below.
SIZES = [(1 << 16, 64), (1 << 20, 16), (1 << 22, 4), (1 << 20, 1)]
CHECKS = "memory,race,sync,uninitialized"
# What these say is no fault of a program in OpenCL C.
HARMLESS = {"race-same-value"}
# These may go away with other sizes.
OF_SIZES = {"out-of-bounds", "null", "dropped", "misaligned"}
NO_IMAGES = "the device has no images"


def shapes(source):
    """Shapes that suit a source, those with the most dimensions first."""
    dimensions = {int(n) + 1 for n in re.findall(r"get_(?:global|local|group)_id\s*\(\s*([012])\s*\)", source)}
    most = max(dimensions, default=1)
    return [shape for n in range(most, 0, -1) for shape in SHAPES[n]]


def attempts(source):
    return [(*shape, *size) for shape in shapes(source) for size in SIZES]


# In processes of their own: what uses OpenCL.


def values(random, name, count, below, least=0):
    """Bytes of `count` numbers of a type of OpenCL C: integers below a limit, floats in [-1, 1)."""
    import numpy

    base = name.split()[-1].rstrip("0123456789") if name else ""
    if name.startswith("unsigned"):
        base = "u" + base
    if base in ("float", "double", "half"):
        kind = {"float": numpy.float32, "double": numpy.float64, "half": numpy.float16}[base]
        return (random.random(count) * 2 - 1).astype(kind).tobytes()
    kind = {"char": "i1", "uchar": "u1", "bool": "u1", "short": "i2", "ushort": "u2", "long": "i8", "ulong": "u8",
            "size_t": "u8"}
    return random.integers(least, max(below, least + 1), count).astype(kind.get(base, "u4")).tobytes()


def plain(name, text):
    """The type behind a name that the source or the options define."""
    for _ in range(8):
        word = re.escape(name)
        found = re.search(rf"typedef\s+([\w ]+?)\s+{word}\s*;|#\s*define\s+{word}\s+(\w+)|-D\s*{word}=(\w+)", text)
        if not found:
            break
        name = next(filter(None, found.groups()))
    return name


def build(path, options):
    import pyopencl as cl

    context = cl.create_some_context(interactive=False)
    source = path.read_text(errors="replace")
    return context, source, cl.Program(context, source).build(options)


def names(path, options):
    _, _, program = build(path, options)
    print(json.dumps([kernel.function_name for kernel in program.all_kernels()]))


def channels(source, kernel, argument):
    """What an image has, by the built-in functions that take it: `f`, `i`, `ui` or `h`.

    Those that the kernel calls with its name are asked first, then any with that name. Images of helpers are floats if
    any image of the source is."""
    body = re.split(r"\bkernel\b|\b__kernel\b", source)
    body = next((text for text in body if re.search(rf"\b{kernel}\s*\(", text.partition("{")[0])), "")
    call = r"\b(?:read|write)_image(ui|i|f|h)\s*\("
    for text in (body, source):
        if found := re.search(rf"{call}\s*{argument}\b", text):
            return found[1]
    return min(re.findall(call, source), default="f")


def image(cl, context, kind, name, random):
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    channel = {"ui": cl.channel_type.UNSIGNED_INT32, "i": cl.channel_type.SIGNED_INT32}
    shape = (64,) * {"1": 1, "2": 2, "3": 3}[name[5]]
    count = 4 * 64 ** len(shape)
    pixels = values(random, "uint" if kind in channel else "float", count, 64)
    return cl.Image(context, flags, cl.ImageFormat(cl.channel_order.RGBA, channel.get(kind, cl.channel_type.FLOAT)),
                    shape, hostbuf=bytearray(pixels))


def launch(path, options, kernel, attempt, modes):
    """Runs a kernel once for each of the times at which machine code is to be made."""
    for mode in modes:
        # Read when a program is translated.
        os.environ["VISAKIT_JIT"] = mode
        changed = launch_once(*build(path, options), options, kernel, attempt)
    print("changed" if changed else "unchanged")


def launch_once(context, source, program, options, kernel, attempt):
    """Runs a kernel; returns whether it changed a buffer."""
    import numpy
    import pyopencl as cl

    kernel = getattr(program, kernel)
    queue = cl.CommandQueue(context)
    global_size, local_size, size, below = attempts(source)[attempt]
    required = kernel.get_work_group_info(cl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, context.devices[0])
    if all(required):
        local_size = tuple(required[: max(len(global_size), sum(n > 1 for n in required))])
        global_size = tuple(4 * n for n in local_size)
    random = numpy.random.default_rng(1)
    # Kernels hold no references to what they are given.
    held, buffers = [], []
    for index in range(kernel.num_args):
        ask = lambda what: kernel.get_arg_info(index, what)
        name = ask(cl.kernel_arg_info.TYPE_NAME)
        space = ask(cl.kernel_arg_info.ADDRESS_QUALIFIER)
        if name.startswith("image"):
            if not context.devices[0].image_support:
                sys.exit(NO_IMAGES)
            kind = channels(source, kernel.function_name, ask(cl.kernel_arg_info.NAME))
            held.append(image(cl, context, kind, name, random))
            kernel.set_arg(index, held[-1])
        elif name == "sampler_t":
            held.append(cl.Sampler(context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST))
            kernel.set_arg(index, held[-1])
        elif space == cl.kernel_arg_address_qualifier.LOCAL:
            kernel.set_arg(index, cl.LocalMemory(8192))
        elif name.endswith("*"):
            content = values(random, plain(name.rstrip("*"), source + options), size, below)[:size]
            buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=content)
            kernel.set_arg(index, buffer)
            buffers.append((buffer, content))
        else:
            scalar(cl, kernel, index, values(random, plain(name, source + options), 1024, below, least=1))
    cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size)
    queue.finish()
    changed = False
    for buffer, content in buffers:
        got = bytearray(len(content))
        cl.enqueue_copy(queue, got, buffer)
        changed |= got != content
    return changed


def scalar(cl, kernel, index, content):
    """Sets a value; its size is found by trying, as the names of types do not tell it."""
    for size in [1, 2, 4, 8, *range(12, 4097, 4)]:
        try:
            return kernel.set_arg(index, content[:size])
        except cl.LogicError as error:
            if error.code != cl.status_code.INVALID_ARG_SIZE:
                raise
    raise ValueError(f"no size suits argument {index}")


# The process that starts them.


class Runner:
    def __init__(self, args):
        self.args = args
        self.cases = pathlib.Path(args.cases)

    def run(self, words, file, step, **settings):
        """Runs a step of this script under `visakit opencl`; the exit code is None if it was out of time."""
        path, options = file
        command = [self.args.visakit, "opencl", *words, "--", sys.executable, __file__, "--step", json.dumps(step)]
        settings = {"PYOPENCL_NO_CACHE": "1", "VISAKIT_CHECK": "", **settings}
        running = subprocess.Popen([*command, f"--options={options}", str(path)], env={**os.environ, **settings},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                   start_new_session=True)
        try:
            out, err = running.communicate(timeout=self.args.timeout)
        except subprocess.TimeoutExpired:
            # `visakit` has a child.
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            return None, "", ""
        return running.returncode, out, err

    def file(self, file):
        """All kernels of a file; yields their lines."""
        path, options = file
        known = None
        for device in self.args.device.split(","):
            code, out, err = self.run(["run"], file, ["names"], VISAKIT_DEVICE=device)
            if code != 0:
                yield device, path, "*", "slow" if code is None else "refused", brief(err)
                continue
            defined = known is None
            known = {} if defined else known
            for kernel in json.loads(out.splitlines()[-1]):
                if kernel not in known:
                    known[kernel] = self.defined(file, kernel, device)
                attempt, findings = known[kernel]
                if attempt is None:
                    yield device, path, kernel, *findings
                else:
                    yield device, path, kernel, *self.compare(file, kernel, attempt, device)

    def defined(self, file, kernel, device):
        """The number of the first launch without findings that changes a buffer, or of the first one that changes none;
        or the reason why there is neither."""
        idle, last, slow, hopeless = [], ("undefined", ""), 0, None
        for number in range(len(attempts(file[0].read_text(errors="replace")))):
            shape = number // len(SIZES)
            if shape == hopeless:
                continue
            step = ["launch", kernel, number, ["never"]]
            code, out, err = self.run(["run"], file, step, VISAKIT_DEVICE=device, VISAKIT_CHECK=CHECKS)
            found = set(re.findall(r"^(?:visakit: )?\w+\[([\w-]+)\]:", err, re.M)) - HARMLESS
            if found:
                last = ("undefined", ", ".join(sorted(found)))
                if not found & OF_SIZES:
                    hopeless = shape
            elif code is None:
                last, slow = ("slow", "under the checkers"), slow + 1
                if slow == 2:
                    break
            elif code != 0:
                last = (trouble("failed", err), brief(err))
            elif "unchanged" not in out:
                return number, ""
            else:
                idle.append(number)
                if len(idle) == len(SIZES):
                    break
        return (idle[0], "") if idle else (None, last)

    def compare(self, file, kernel, attempt, device):
        cases = self.cases / f"{device}-{file[0].stem}-{kernel}"
        words = ["compare", "--with", self.args.other, "--json", "--cases", str(cases)]
        step = ["launch", kernel, attempt, ["always", "never"]]
        code, out, err = self.run(words, file, step, VISAKIT_DEVICE=device)
        if code is None:
            return "slow", f"launch {attempt}"
        report = next((json.loads(line) for line in reversed(err.splitlines()) if line.startswith("{")), {})
        if report.get("different"):
            return "different", f"launch {attempt}: {json.dumps(report.get('first'))}"
        if code not in (0, 1) or report.get("compared") != 2:
            reasons = ", ".join(report.get("not_compared") or {})
            kind = "failed" if "it failed here" in reasons else "other"
            return trouble(kind, err), f"launch {attempt}: {reasons or brief(err)}"
        return "equal", "unchanged" if "unchanged" in out else f"launch {attempt}"


def trouble(kind, text):
    return "refused" if NO_IMAGES in text else kind


def brief(text):
    """What a log of a build or a traceback comes to."""
    lines = text.splitlines()
    for kind in r"error:|panicked", r"visakit:", r"Error":
        found = [line.strip() for line in lines if re.search(kind, line)]
        if found:
            return " | ".join(found[:2])[:300]
    return "".join(lines[-1:])


def files(paths, options):
    for path in paths:
        if path.startswith("@"):
            for line in pathlib.Path(path[1:]).read_text().splitlines():
                name, _, own = line.partition("\t" if "\t" in line else " ")
                yield pathlib.Path(name), f"{options} {own}".strip()
        elif pathlib.Path(path).is_dir():
            yield from ((p, options) for p in sorted(pathlib.Path(path).rglob("*.cl")))
        else:
            yield pathlib.Path(path), options


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="acm-g10,pvc", help="devices, with commas; the first one checks")
    parser.add_argument("--with", dest="other", default="pocl", help="the other driver")
    parser.add_argument("--visakit", default="visakit")
    parser.add_argument("--options", default="", help="options of the compiler, for all files")
    parser.add_argument("--cases", default="visakit-differences", help="where launches that differ are kept")
    parser.add_argument("--timeout", type=float, default=60, help="seconds of each process")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--step", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    if args.step:
        step, *rest = args.step
        return {"names": names, "launch": launch}[step](pathlib.Path(args.paths[0]), args.options, *rest)
    runner = Runner(args)
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for lines in pool.map(lambda file: list(runner.file(file)), files(args.paths, args.options)):
            for device, path, kernel, result, text in lines:
                print(device, path, kernel, result, text, sep="\t", flush=True)
                counts[device, result + (" (unchanged)" if text == "unchanged" else "")] += 1
    for (device, result), count in sorted(counts.items()):
        print(f"{device}: {count} {result}")
    return any(result in ("different", "failed") for _, result in counts)


if __name__ == "__main__":
    sys.exit(main())
