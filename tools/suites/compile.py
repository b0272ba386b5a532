#!/usr/bin/env python3
"""Compiles the OpenCL C kernels of a public suite, each into a folder of its own, with `visakit compile`.

    tools/suites/compile.py REPOSITORY OUT [--device dg2] [--every N] [--visakit PATH] [--options OPTIONS]

REPOSITORY is a clone, bare or not; nothing but its newest commit is read. Kernels in `.cl` files are compiled as they are, those of
CLBlast (`.opencl`, pieces of C++ raw strings) with the pieces that their folders share. What the hosts of the suites pass to the
compiler is guessed: sizes that suites leave to the host, and what hashcat names. A file that is compiled already is left alone, so
that a run can be cut off. Run the folders with

    cargo run --release -p visakit-jit --example agree -- OUT/*
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

# Sizes that hosts choose: a small power of two fits all of them.
SIZES = """BLOCK_SIZE BSIZE RD_WG_SIZE RD_WG_SIZE_0 RD_WG_SIZE_0_0 RD_WG_SIZE_1_0 WORKGROUP_SIZE WG_SIZE NUMBER_THREADS
    DIM_LOCAL_WORK_GROUP_X BLOCK_X BLOCK_Y BLOCK_Z TILE_SZ KERNEL_RADIUS THREADS""".split()

HASHCAT = """-D KERNEL_STATIC -D INCLUDE_PATH=OpenCL -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D VENDOR_ID=8 -D CUDA_ARCH=0 -D HAS_ADD=0
    -D HAS_ADDC=0 -D HAS_SUB=0 -D HAS_SUBC=0 -D HAS_VADD3=0 -D HAS_VPERM=0 -D VECT_SIZE=1 -D DEVICE_TYPE=4 -D DGST_R0=0
    -D DGST_R1=1 -D DGST_R2=2 -D DGST_R3=3 -D DGST_ELEM=4 -D KERN_TYPE=0 -D ATTACK_EXEC=11 -D ATTACK_KERN=0 -D ATTACK_MODE=0
    -D LOCAL_MEM_TYPE=1 -D FIXED_LOCAL_SIZE=64 -D AMD_ROCM=0 -D _unroll -cl-std=CL1.2 -w"""


def clblast(folder: pathlib.Path) -> list[tuple[str, str]]:
    """Whole programs of the pieces of CLBlast's kernels: all parts of a kernel, after what its folder shares."""
    kernels = folder / "src/kernels"
    if not kernels.is_dir():
        return []

    def body(path: pathlib.Path) -> str:
        text = path.read_text()
        return "".join(re.findall(r'R"\((.*?)\)"', text, re.S))

    common = body(kernels / "common.opencl")
    programs: dict[str, str] = {}
    for path in sorted(kernels.rglob("*.opencl")):
        shared = path.parent / f"{path.parent.name}.opencl"
        if path == shared or path.name == "common.opencl":
            continue
        name = re.sub(r"_(part\d+|direct\d*|direct_part\d+)$", "", path.stem)
        name = f"{path.parent.name}_{name}"
        first = common + (body(shared) if shared.is_file() else "")
        programs[name] = programs.get(name, first) + body(path)
    defines = "#define PRECISION 32\n#define ROUTINE_XX\n"
    return [(name, defines + text) for name, text in programs.items()]


def extract(repository: pathlib.Path, tree: pathlib.Path) -> None:
    """Writes the sources of the newest commit, as far as they are there."""
    git = ["git", "-C", str(repository)]
    listed = subprocess.run([*git, "ls-tree", "-r", "--name-only", "-z", "HEAD"], capture_output=True, check=True)
    for name in listed.stdout.decode(errors="replace").split("\0"):
        if not name.endswith((".cl", ".opencl", ".h", ".hpp")):
            continue
        shown = subprocess.run([*git, "show", f"HEAD:{name}"], capture_output=True, check=False)
        if shown.returncode == 0:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes(shown.stdout)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("repository", type=pathlib.Path)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--device", default="dg2")
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--visakit", default="visakit")
    arguments.add_argument("--options", default="")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        extract(given.repository, tree)
        made = tree / "made"
        made.mkdir()
        for program, text in clblast(tree):
            (made / f"{program}.cl").write_text(text)
        files = sorted(tree.rglob("*.cl"))
        if (tree / "OpenCL/inc_vendor.h").is_file():
            files = sorted((tree / "OpenCL").glob("m*.cl"))
        compiled = 0
        for file in files[:: given.every]:
            own = file.relative_to(tree)
            out = given.out / "_".join(own.with_suffix("").parts)
            if any(out.glob("*.zeinfo")):
                compiled += 1
                continue
            folder = str(file.parent)
            options = ["-I", folder, "-I", str(tree), "-D", "VISAKIT_SUITE"]
            if (tree / "OpenCL/inc_vendor.h").is_file():
                options += HASHCAT.split()
            else:
                text = file.read_text(errors="replace")
                defined = set(re.findall(r"#\s*define\s+(\w+)", text))
                used = set(re.findall(r"\w+", text)) - defined
                options += [f"-D{size}=16" for size in SIZES if size in used]
                options += ["-DSINGLE_PRECISION"] if "SINGLE_PRECISION" in text else []
            options += given.options.split()
            command = [given.visakit, "compile", str(file), "--device", given.device]
            command += ["--options", " ".join(options), "-o", str(out)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            except subprocess.TimeoutExpired:
                print(f"{own}: not compiled in five minutes", flush=True)
                continue
            if done.returncode == 0:
                compiled += 1
                continue
            errors = [line for line in done.stderr.splitlines() if "error:" in line]
            print(f"{own}: {(errors[1:] or errors or [done.stderr.strip()])[0]}", flush=True)
        print(f"{compiled} of {len(files[:: given.every])} files compiled", flush=True)


if __name__ == "__main__":
    main()
