"""The cost of `visakit table` by size: python tools/table_cost.py VISAKIT [INSTRUCTIONS...]

Makes objects out of seeds with `visakit smith`, in a temporary folder, and writes their tables with a process for each size.
Prints a row for each: time by the clock, time of the processor, and the most memory that the process had at once.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: Approximate number of instructions of an object with this many statements.
STATEMENTS = 400
PER_OBJECT = 450


def measure(visakit: str, objects: Path, tables: Path) -> tuple[float, float, int]:
    """Wall-clock seconds, processor seconds, and bytes of memory of one run."""
    read, write = os.pipe()
    begin = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.dup2(write, 1)
        os.execvp(visakit, [visakit, "table", str(objects), "-o", str(tables)])
    os.close(write)
    with os.fdopen(read) as output:
        output.read()
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status):
        raise SystemExit("visakit table failed")
    # Linux counts kilobytes.
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    visakit, sizes = sys.argv[1], [int(size) for size in sys.argv[2:]] or [100_000, 1_000_000, 10_000_000]
    print("| instructions | objects | MB of objects | seconds | processor | instructions/s | peak memory | MB of tables |")
    print("|---|---|---|---|---|---|---|---|")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            objects, tables = Path(folder, "objects"), Path(folder, "tables")
            count = str(max(1, size // PER_OBJECT))
            made = [visakit, "smith", "--seed", "1", "--count", count, "--statements", str(STATEMENTS)]
            subprocess.run([*made, "--output-dir", str(objects)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            counted = subprocess.run([visakit, "roundtrip", str(objects)], check=True, capture_output=True, text=True).stdout
            instructions = int(counted.split(" instructions")[0].split()[-1])
            size_of = sum(file.stat().st_size for file in objects.iterdir())
            seconds, processor, memory = measure(visakit, objects, tables)
            written = sum(file.stat().st_size for file in tables.rglob("*.parquet"))
            print(
                f"| {instructions} | {count} | {size_of / 1e6:.1f} | {seconds:.2f} | {processor:.2f} | {instructions / seconds:.0f} "
                f"| {memory / 1e6:.0f} MB | {written / 1e6:.1f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
