"""Cases whose kernels are compiled again, without optimisation or for another SIMD width, to be proven equal to others.

    variants.py --cases cases240 --device dg2 --variant opt-disable --to o0
    variants.py --cases cases240 --device dg2 --variant simd16 --to simd16
    VISAKIT_PROVE_PAIRS=simd16:simd32:dg2 cargo test -p visakit-internal-prove --test it two_compilers -- --nocapture

Each kernel keeps its name, arguments and grid. The compiler is that of `visakit compile`, so VISAKIT_OCLOC chooses it.
Kernels whose source names a sub-group size are left out where a width is wanted.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

KERNEL = re.compile(r"((?:__)?kernel)(\s+)((?:__attribute__\(\([^)]*\)+\)\)\s*)?)void")


def sections(path):
    """The data sections of a compiled program, and the symbols in them."""
    data = path.read_bytes()
    (table,) = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * n) for n in range(count)]

    def name(strings, at):
        start = headers[strings][4] + at
        return data[start : data.index(0, start)].decode()

    titles = [name(names, header[0]) for header in headers]
    contents = {
        title: data[header[4] : header[4] + header[5]]
        for title, header in zip(titles, headers)
        if title.startswith(".data.")
    }
    symbols = []
    for header in (h for h in headers if h[1] == 2):
        for at in range(header[4], header[4] + header[5], 24):
            title, kind, _, section, value, size = struct.unpack_from("<IBBHQQ", data, at)
            if section < count and titles[section] in contents and kind & 15 == 1:
                symbol = {"name": name(header[6], title), "section": titles[section]}
                symbols.append(symbol | {"offset": value, "size": size})
    return contents, symbols


def compiled(case, source, options, to, visakit, device):
    """Compiles a source into the folder of a case; what the compiler says if it refuses it."""
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        (work / "kernel.cl").write_text(source)
        command = [visakit, "compile", work / "kernel.cl", "--device", device, "--json"]
        command += ["--options", options, "-o", work / "made"]
        ran = subprocess.run(
            command, env=os.environ | case.get("igc_env", {}), capture_output=True, text=True
        )
        if ran.returncode != 0:
            return ran.stdout or ran.stderr
        kernel = case["kernel"]
        to.mkdir(parents=True, exist_ok=True)
        texts = [work / "made" / f"{kernel}.visaasm"]
        texts += sorted(p for p in (work / "made").glob("*.visaasm") if re.search(r"_f\d+$", p.stem))
        files = ["k.visaasm.gz"] + [f"f{n}.visaasm.gz" for n in range(len(texts) - 1)]
        for text, file in zip(texts, files):
            (to / file).write_bytes(gzip.compress(text.read_bytes(), 1))
        shutil.copy(work / "made" / "kernel.zeinfo", to / "k.zeinfo")
        contents, symbols = sections(work / "made" / "kernel.zebin")
        metadata = {entry["name"]: entry for entry in json.loads(ran.stdout)["metadata"]}
    for left in ("isa", "data_relocations", "function_visaasm"):
        case.pop(left, None)
    case |= {"visaasm": files[0], "zeinfo": "k.zeinfo", "simd": metadata[kernel]["simd"]}
    case |= {"options": options, "data_symbols": symbols, "data_sections": []}
    if files[1:]:
        case["function_visaasm"] = files[1:]
    for title, data in contents.items():
        file = title[1:] + ".bin"
        (to / file).write_bytes(data)
        case["data_sections"].append({"section": title, "file": file, "size": len(data)})
    (to / "case.json").write_text(json.dumps(case, indent=1))
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--variant", required=True, help="opt-disable, simd8, simd16 or simd32")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--visakit", default="visakit")
    given = parser.parse_args()
    for folder in sorted(given.cases.glob(f"*/{given.device}/case.json")):
        case, root = json.loads(folder.read_text()), folder.parent.parent
        source, options = (root / "kernel.cl").read_text(), case.get("options", "")
        if given.variant == "opt-disable":
            options += " -cl-opt-disable"
        elif "sub_group_size" in source:
            print(f"{root.name}: its source names a width")
            continue
        else:
            width = int(given.variant.removeprefix("simd"))
            attribute = f"__attribute__((intel_reqd_sub_group_size({width})))"
            source = KERNEL.sub(rf"{attribute} \1\2\3void", source)
        to = given.to / root.name
        told = compiled(case, source, options, to / given.device, given.visakit, given.device)
        if told:
            print(f"{root.name}: not compiled: {told[:300]}")
            continue
        for file in root.iterdir():
            if file.is_file():
                shutil.copy(file, to / file.name)


if __name__ == "__main__":
    main()
