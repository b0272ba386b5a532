"""Level Zero's conformance tests (oneapi-src/level-zero-tests) on a device: passed, skipped, slow, failed, and why.

    python lzt.py VISAKIT FOLDER PROGRAMS STATE [--device bmg,lnl] [--only test_copy] [--all] [--limit 200] [--jobs 2]

VISAKIT is the command, FOLDER has the drivers' libraries, PROGRAMS is where the tests were installed. STATE is a file: each
outcome is a line of it, and a run that was interrupted goes on behind them. Each instance of a test has a process of its own. Of
a test with parameters the first, the last and one in the middle run, or all of them. A test passed if one of its instances did and
no other failed, and was skipped if all were.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

# From the best to the worst: a test is what the worst of its instances is.
OUTCOMES = ["skipped", "passed", "slow", "failed", "crashed"]


def test_of(instance: str) -> str:
    """The test of an instance, `PREFIX/SUITE.TEST/PARAMETER` or `SUITE/TYPE.TEST`: its name in the source."""
    suite, name = instance.split(".", 1)
    suite = [part for part in suite.split("/") if not part.isdigit()][-1]
    return f"{suite}.{name.split('/')[0]}"


class Run:
    """The tests of all programs on one device."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.lock = threading.Lock()
        self.known: dict[str, dict] = {}
        text = given.state.read_text() if given.state.exists() else ""
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.known[entry["id"]] = entry

    def call(self, program: str, argument: str, limit: float) -> tuple[int | None, str]:
        """Runs a program of the tests; its exit code, or nothing if it took longer than that, and what it printed."""
        given = self.given
        library = given.folder / "libvisakit_opencl.so"
        command = [given.visakit, "opencl", "--library", library, "run", "--", given.programs / program, argument]
        environment = {"VISAKIT_SYSTEM_MEMORY": "1"} | os.environ | {"VISAKIT_DEVICE": given.device}
        process = subprocess.Popen(
            command,
            cwd=given.programs,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            errors="replace",
        )
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return None, ""
        return process.returncode, output

    def instances(self, program: str) -> list[str]:
        """The instances that run, of each test of a program."""
        _, output = self.call(program, "--gtest_list_tests", 60)
        suite, tests = "", collections.defaultdict(list)
        for line in output.splitlines():
            name = line.split("#")[0].rstrip()
            if re.fullmatch(r"[\w/]+\.", name):
                suite = name
            elif suite and re.fullmatch(r"  [\w/]+", name):
                tests[test_of(suite + name.strip())].append(suite + name.strip())
        if not tests:
            print(f"{program}: no tests: {output[-300:]}", file=sys.stderr)
        chosen = []
        for of_one in tests.values():
            few = {0, len(of_one) // 2, len(of_one) - 1}
            chosen += [name for at, name in enumerate(of_one) if self.given.all or at in few]
        return chosen

    def one(self, program: str, name: str) -> None:
        """Runs an instance, and writes what became of it."""
        started = time.monotonic()
        code, output = self.call(program, f"--gtest_filter={name}", self.given.limit)
        if code is None:
            outcome = "slow"
        elif "[  FAILED  ]" in output:
            outcome = "failed"
        elif code != 0:
            outcome = "crashed"
        else:
            outcome = "skipped" if "[  SKIPPED ]" in output else "passed"
        # What is said of a test is between the line that begins it and the one that ends it.
        said = output.split("[ RUN      ]")[-1].split("[----------]")[0]
        entry = {
            "id": f"{program} {name}",
            "outcome": outcome,
            "seconds": round(time.monotonic() - started, 2),
            "why": "" if outcome == "passed" else f"{code}: {said[:1500]}",
        }
        with self.lock:
            self.known[entry["id"]] = entry
            with open(self.given.state, "a") as out:
                out.write(json.dumps(entry) + "\n")

    def run(self) -> int:
        """Runs what is left, and prints the table; the number of tests that neither passed nor were skipped."""
        found = sorted(path.name for path in self.given.programs.glob("test_*") if os.access(path, os.X_OK) and path.is_file())
        programs = [name for name in found if not self.given.only or name in self.given.only.split(",")]
        chosen = {program: self.instances(program) for program in programs}
        for program, names in chosen.items():
            left = [name for name in names if f"{program} {name}" not in self.known]
            # Tests of several processes meet under names that are the same for all.
            jobs = 1 if re.search("ipc|multiprocess", program) else self.given.jobs
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                list(pool.map(lambda name, program=program: self.one(program, name), left))
            print(f"{program}: {len(names)} instances", file=sys.stderr, flush=True)
        return self.table(chosen)

    def table(self, chosen: dict[str, list[str]]) -> int:
        """Prints how many tests of each program have which outcome, and why tests did not pass."""
        everything: collections.Counter[str] = collections.Counter()
        why = collections.defaultdict(list)
        print("| program | " + " | ".join(OUTCOMES) + " |\n|" + "---|" * (len(OUTCOMES) + 1))
        for program, names in chosen.items():
            tests = collections.defaultdict(list)
            for name in names:
                entry = self.known[f"{program} {name}"]
                tests[test_of(name)].append(entry)
            counts: collections.Counter[str] = collections.Counter()
            for test, entries in tests.items():
                worst = max(entries, key=lambda entry: OUTCOMES.index(entry["outcome"]))
                counts[worst["outcome"]] += 1
                if worst["outcome"] != "passed":
                    said = re.sub(r"0x[0-9a-f]+|\d+|/\S+/", "N", worst["why"])
                    lines = [line.strip() for line in said.splitlines()[1:] if line.strip()]
                    why[worst["outcome"], " ".join(lines)[:160]].append(f"{program} {test}")
            print(f"| `{program}` | " + " | ".join(str(counts[outcome]) for outcome in OUTCOMES) + " |")
            everything += counts
        print(f"| all, {everything.total()} tests | " + " | ".join(str(everything[o]) for o in OUTCOMES) + " |")
        for (outcome, said), names in sorted(why.items(), key=lambda entry: -len(entry[1])):
            print(f"\n{len(names)} {outcome}: {said}")
            for name in names[:4]:
                print(f"    {name}")
        return everything.total() - everything["passed"] - everything["skipped"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("visakit", "folder", "programs", "state"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--device", default="bmg,lnl")
    parser.add_argument("--only", default="", help="names of programs, separated by commas")
    parser.add_argument("--all", action="store_true", help="all instances of tests with parameters")
    parser.add_argument("--limit", type=float, default=200, help="seconds that an instance may take")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    for name in ("visakit", "folder", "programs", "state"):
        setattr(given, name, pathlib.Path(os.path.abspath(getattr(given, name))))
    return min(Run(given).run(), 100)


if __name__ == "__main__":
    sys.exit(main())
