"""A fixed sample of dpnp's own tests on a device: passed, failed, skipped, and the failures by kind.

    python suite.py VISAKIT FOLDER VENV STATE [--driver level_zero] [--device bmg] [--count 5000] [--suite dpnp.tests]

VISAKIT is the command, FOLDER has the drivers' libraries, VENV is an environment with dpnp and pytest. STATE is a file: each
outcome is a line of it, and a run that was interrupted goes on behind them. A test that ends its process is `crashed`, one
that takes longer than the limit `slow`; the others go on in a new process.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

# What pytest loads into the process of the tests: says which of them there are, keeps those that are wanted, and writes
# what became of each.
PLUGIN = '''
import json, os, pytest

wanted = os.environ["SUITE_WANTED"]
wanted = set(json.load(open(wanted))) if wanted else None
out = open(os.environ["SUITE_OUT"], "a", buffering=1)


def say(**line):
    out.write(json.dumps(line) + "\\n")


# After what others leave out.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if wanted is None:
        for item in items:
            say(id=item.nodeid)
        items.clear()
    else:
        items[:] = [item for item in items if item.nodeid in wanted]


def pytest_runtest_logstart(nodeid, location):
    say(id=nodeid, begins=True)


def pytest_runtest_logreport(report):
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = {"skipped": "xfailed", "passed": "xpassed"}.get(outcome, outcome)
    if report.when == "call" or outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None)
        why = crash.message if crash else str(report.longrepr or "")
        say(id=report.nodeid, outcome=outcome, seconds=round(report.duration, 2), why=why[:2000])
'''


class Run:
    """The tests of a suite on one device through one driver."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.state = given.state
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self.folder = given.state.parent / f"{given.state.name}.files"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "suite_plugin.py").write_text(PLUGIN)

    def pytest(self, arguments: list[str], wanted: list[str] | None, out: pathlib.Path) -> subprocess.Popen[bytes]:
        """A process that runs the tests that are wanted, or names all."""
        given = self.given
        listed = self.folder / "wanted.json"
        listed.write_text(json.dumps(wanted))
        environment = os.environ | {
            "PYTHONPATH": str(self.folder),
            "SUITE_WANTED": str(listed) if wanted is not None else "",
            "SUITE_OUT": str(out),
            "VISAKIT_DEVICE": given.device,
            "VISAKIT_CACHE": os.environ.get("VISAKIT_CACHE", str(given.venv / "visakit")),
            "ONEAPI_DEVICE_SELECTOR": f"{given.driver}:gpu",
            "LD_LIBRARY_PATH": str(given.venv / "lib"),
            # NumPy's libraries would take all processors.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        library = given.folder / "libvisakit_opencl.so"
        command = [given.visakit, "opencl", "--library", library, "run", "--", given.venv / "bin/python", "-m", "pytest"]
        options = ["-q", "-p", "no:cacheprovider", "-p", "suite_plugin", "--rootdir", given.venv]
        with open(self.folder / "output.txt", "ab") as log:
            return subprocess.Popen(
                [*command, *options, *arguments],
                cwd=given.venv,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def sample(self) -> list[str]:
        """The ids of the sample: those whose hashes are lowest, so that devices with other tests share most of them."""
        listed = self.folder / "sample.json"
        if not listed.exists():
            names = self.folder / "names.txt"
            names.unlink(missing_ok=True)
            self.pytest(["--pyargs", self.given.suite], None, names).wait()
            found = {json.loads(line)["id"] for line in names.read_text().splitlines()}
            seeded = sorted(found, key=lambda name: hashlib.sha256(f"{self.given.seed} {name}".encode()).digest())
            listed.write_text(json.dumps([len(found), sorted(seeded[: self.given.count])]))
        total, chosen = json.loads(listed.read_text())
        print(f"{len(chosen)} of {total} tests", flush=True)
        return chosen

    def outcomes(self) -> tuple[dict[str, dict], str | None]:
        """What became of each test, and the one that runs."""
        known: dict[str, dict] = {}
        running = None
        text = self.state.read_text() if self.state.exists() else ""
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            name = entry["id"]
            if "begins" in entry:
                running = name
                continue
            # A test may fail twice: when it runs, and in what comes after it.
            if known.get(name, {}).get("outcome") not in ("failed", "slow", "crashed"):
                known[name] = entry
            if running == name:
                running = None
        return known, running

    def run_file(self, file: str, names: list[str]) -> None:
        """Runs tests of one file, in as many processes as it takes."""
        idle = 0
        while idle < 2:
            known, _ = self.outcomes()
            left = [name for name in names if name not in known]
            if not left:
                return
            with open(self.state, "a") as out:
                # What an interrupted run had begun is not to be counted as its own.
                out.write(json.dumps({"id": "", "begins": True}) + "\n")
            process = self.pytest([file], left, self.state)
            size, since, verdict = 0, time.monotonic(), "crashed"
            while process.poll() is None:
                time.sleep(0.5)
                if self.state.stat().st_size != size:
                    size, since = self.state.stat().st_size, time.monotonic()
                if time.monotonic() - since > self.given.limit:
                    verdict = "slow"
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            after, running = self.outcomes()
            if running and running not in after:
                with open(self.state, "a") as out:
                    line = {"id": running, "outcome": verdict, "seconds": 0, "why": f"the process ended: {process.returncode}"}
                    out.write(json.dumps(line) + "\n")
            idle = 0 if len(self.outcomes()[0]) > len(known) else idle + 1

    def run(self) -> int:
        """Runs what is left, and prints the summary; the number of tests that did not pass."""
        chosen = self.sample()
        files = collections.defaultdict(list)
        for name in chosen:
            files[name.split("::")[0]].append(name)
        started = time.monotonic()
        for number, (file, names) in enumerate(sorted(files.items()), 1):
            self.run_file(file, names)
            spent = round(time.monotonic() - started)
            print(f"{number} of {len(files)} files, after {spent} s: {pathlib.Path(file).name}", flush=True)
        return self.summary(chosen)

    def summary(self, chosen: list[str]) -> int:
        """Prints how many of each outcome there are, and what failed, by the first line of what was said."""
        known, _ = self.outcomes()
        counts = collections.Counter(known.get(name, {"outcome": "not run"})["outcome"] for name in chosen)
        print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
        kinds = collections.defaultdict(list)
        for name in chosen:
            entry = known.get(name, {"outcome": "not run", "why": ""})
            if entry["outcome"] in ("passed", "skipped", "xfailed"):
                continue
            first = next((line for line in entry["why"].splitlines() if line.strip()), "")
            kinds[entry["outcome"], re.sub(r"0x[0-9a-f]+|\d[\d.e+-]*", "N", first)[:160]].append(name)
        for (outcome, kind), names in sorted(kinds.items(), key=lambda entry: -len(entry[1])):
            print(f"{len(names)} {outcome}: {kind}")
            for name in names[:5]:
                print(f"    {name.split('site-packages/')[-1]}")
        return sum(map(len, kinds.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("visakit", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("venv", type=pathlib.Path)
    parser.add_argument("state", type=pathlib.Path)
    parser.add_argument("--driver", choices=["opencl", "level_zero"], default="level_zero")
    parser.add_argument("--device", default="bmg")
    parser.add_argument("--suite", default="dpnp.tests")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds that a test may take")
    given = parser.parse_args()
    for name in ("visakit", "folder", "venv", "state"):
        setattr(given, name, pathlib.Path(os.path.abspath(getattr(given, name))))
    return min(Run(given).run(), 100)


if __name__ == "__main__":
    sys.exit(main())
