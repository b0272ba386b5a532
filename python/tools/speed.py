"""Compares the speed of the package with others: python tools/speed.py [OBJECT...]

Instructions to columns, and loops over instructions beside those of iced-x86's and capstone's packages where these are
installed. The rows take turns, seven rounds; medians. Without objects, some are made out of seeds.
"""

import statistics
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import visakit
from visakit import _visakit

ROUNDS = 7


def machine_code() -> bytes:
    """The section .text of the package's own library, an ELF file of 64 bits."""
    data = Path(str(_visakit.__file__)).read_bytes()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + size * n) for n in range(count)]
    strings = sections[names][4]
    for name, _, _, _, offset, length in sections:
        if data[strings + name :].startswith(b".text\0"):
            return data[offset : offset + min(length, 1 << 20)]
    raise SystemExit("the library has no section .text")


def loops(objects: list[visakit.Object]) -> dict[str, Callable[[], int]]:
    """A loop over instructions for each package; each returns their number."""

    def ours() -> int:
        count = 0
        for obj in objects:
            for routine in obj.routines:
                for i in routine:
                    i.opcode
                    count += 1
        return count

    known: dict[str, Callable[[], int]] = {"visakit: for i in routine: i.opcode": ours}
    code = machine_code()
    try:
        import iced_x86

        def of_iced() -> int:
            count = 0
            for i in iced_x86.Decoder(64, code):
                i.code
                count += 1
            return count

        known["iced-x86: for i in decoder: i.code"] = of_iced
    except ImportError:
        print("NOT COMPARED: iced-x86 is not installed", file=sys.stderr)
    try:
        import capstone

        decoder: Any = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        decoder.skipdata = True

        def of_capstone() -> int:
            count = 0
            for i in decoder.disasm(code, 0):
                i.id
                count += 1
            return count

        def of_capstone_lite() -> int:
            return sum(1 for _ in decoder.disasm_lite(code, 0))

        known["capstone: for i in disasm: i.id"] = of_capstone
        known["capstone: for i in disasm_lite"] = of_capstone_lite
    except ImportError:
        print("NOT COMPARED: capstone is not installed", file=sys.stderr)
    return known


def main() -> None:
    files = [Path(name).read_bytes() for name in sys.argv[1:]]
    if not files:
        files = [visakit.smith(seed, statements=400).to_bytes() for seed in range(120)]
    objects = [visakit.read(data) for data in files]
    once = sum(len(routine) for obj in objects for routine in obj.routines)
    # A million instructions.
    many = files * (1_000_000 // once + 1)
    total = once * (len(many) // len(files))

    def table() -> int:
        visakit.columns(many, ["instructions"])
        return total

    rows: dict[str, Callable[[], int]] = {"visakit.columns(files, ['instructions'])": table, **loops(objects)}
    # Wall-clock and processor time: the latter is more reliable if others use the machine.
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, run in rows.items():
            clock, processor = time.perf_counter(), time.process_time()
            count = run()
            times[name].append(((time.perf_counter() - clock) / count, (time.process_time() - processor) / count))
    print(f"{len(files)} objects, {once} instructions; columns of {total} instructions")
    print("seconds for a million, by the clock and of the processor")
    for name, pairs in times.items():
        clock, processor = (statistics.median(column) * 1e6 for column in zip(*pairs))
        print(f"{clock:8.2f} {processor:8.2f}  {name}")


if __name__ == "__main__":
    main()
