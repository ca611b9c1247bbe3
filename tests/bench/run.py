"""The bench: measures speed as ratios within one run, prints a table and writes ``bench.json``.

``python -m tests.bench.run [--quick] [SOURCE ...]``. Each source runs in a process of its own. It is no
test: its figures depend on the machine. Exit code 0 when every bar holds, 1 when one does not or could
not be measured, 2 for an unknown source.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.places import ROOT
from tests.bench.rows import NOT_MEASURED, Row, figure

SOURCES = ("fusion", "lexical", "dense", "hybrid", "opening", "packing", "embedding", "qwen3", "calls")
QUICK_SECONDS = 285
FULL_SECONDS = 3 * 3600
OUT = Path("bench.json")
ENDED = {0: "", NOT_MEASURED: "something is not here: its last words stand above"}
PACKAGES = ("numpy", "tantivy", "usearch", "onnxruntime", "tokenizers")
COMPETITORS = tuple(
    line.partition("==")[0]
    for line in (ROOT / "requirements-bench.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
)


def measured(source: str, seconds: float, *, quick: bool) -> tuple[list[Row], str]:
    """The rows of a source, and why there are no more if it did not come to its end in time."""
    command = [sys.executable, "-m", f"tests.bench.{source}", *(["--quick"] if quick else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
            why = ENDED.get(process.returncode, "it failed: its last words stand above")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with the competitors it started
            out, _ = process.communicate()
            why = "the time was over before it was done"
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return [Row(**json.loads(line)) for line in out.splitlines()], why


def header(*, quick: bool) -> str:
    """The machine and every version that the figures depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; Python {platform.python_version()}"
    ours = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    theirs = ", ".join(f"{name} {_version(name)}" for name in COMPETITORS)
    kind = "quick run: smaller inputs, fewer rounds" if quick else "full run"
    return f"{machine}\nours: {ours}\ntheirs: {theirs}\n{kind}; ratios of medians over interleaved rounds"


def table(rows: list[Row]) -> Table:
    """The rows to read."""
    shown = Table("measure", "ours", "theirs", "unit", "ratio", "bar", "holds", "bound by")
    for row in rows:
        bar, holds = ("", "") if row.bar is None else (f"{row.bar:g}", "yes" if row.holds else "NO")
        figures = figure(row.ours), figure(row.theirs), row.unit, figure(row.ratio)
        shown.add_row(row.name, *figures, bar, holds, row.bound_by)
    return shown


def main() -> int:
    """Measure what was asked for, everything by default."""
    quick = "--quick" in sys.argv[1:]
    sources = [name for name in sys.argv[1:] if name != "--quick"] or SOURCES
    unknown = [name for name in sources if name not in SOURCES]
    if unknown:
        sys.stderr.write(f"there is no source {unknown[0]}: the sources are {', '.join(SOURCES)}\n")
        return 2
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(header(quick=quick), highlight=False)
    started, rows, missing = time.monotonic(), list[Row](), list[str]()
    for source in sources:
        begun = time.monotonic()
        left = (QUICK_SECONDS if quick else FULL_SECONDS) - (begun - started)
        new, why = measured(source, left, quick=quick)
        console.print(f"{source}: {why or f'{time.monotonic() - begun:.0f} s'}", highlight=False)
        rows += new
        missing += [source] if why else []
    OUT.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    console.print(table(rows))
    failed = [row.name for row in rows if not row.holds]
    console.print(
        f"{time.monotonic() - started:.0f} s; {len(rows) - len(failed)} of {len(rows)} rows hold"
        + (f"; not measured: {', '.join(missing)}" if missing else ""),
        highlight=False,
    )
    return 1 if failed or missing else 0


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(encoding="utf-8").splitlines() if facts.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
