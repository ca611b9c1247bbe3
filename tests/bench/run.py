"""The bench: measures speed as ratios within one run, prints a table and writes ``bench.json``.

``python -m tests.bench.run [BUNDLE]``; the bundle is one of the real 2WikiMultiHopQA set. Each measure
runs in a process of its own. It is no test: its figures depend on the machine.
"""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

DEFAULT_BUNDLE = "bundles/two_wiki"
OUT = Path("bench.json")


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure beside what it is compared with and the bar it must keep.

    ``theirs`` and ``ratio`` are None where there is nothing to compare with; ``bound_by`` says what
    limits the figure.
    """

    name: str
    ours: float
    theirs: float | None
    unit: str
    ratio: float | None
    bar: float
    holds: bool
    bound_by: str


def calls(bundle: str) -> list[Row]:
    """3,000 trajectories of 4 calls against a provider of zero latency in another process."""
    command = [sys.executable, "-m", "tests.bench.calls", bundle]
    outcome = subprocess.run(command, stderr=subprocess.PIPE, stdout=sys.stderr, text=True, check=True)
    figures: dict[str, float] = json.loads(outcome.stderr.splitlines()[-1])
    cpu, bare, grown = figures["cpu_ms_a_call"], figures["bare_ms_a_call"], figures["grown_mib"]
    embedding = f"query embedding apart: {figures['embedding_ms_a_call']:.2f} ms"
    return [
        Row("client CPU a call", cpu, bare, "ms", cpu / bare, 1.5, cpu <= 1.5, f"Python; {embedding}"),
        Row("memory above the open bundle", grown, None, "MiB", None, 400, grown <= 400, "caches of queries"),
    ]


def main() -> int:
    """Measure everything; 0 when every bar holds, 1 when one does not."""
    bundle = sys.argv[1] if len(sys.argv) > 1 else DEFAULT_BUNDLE
    if not Path(bundle, "manifest.json").is_file():
        sys.stderr.write(f"there is no bundle at {bundle}: build it as the README says under 'Real data'\n")
        return 2
    rows = calls(bundle)
    OUT.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    table = Table("measure", "ours", "bare loop", "unit", "ratio", "bar", "holds", "bound by")
    for row in rows:
        theirs = "" if row.theirs is None else f"{row.theirs:.2f}"
        ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
        holds = "yes" if row.holds else "NO"
        table.add_row(
            row.name, f"{row.ours:.2f}", theirs, row.unit, ratio, f"{row.bar:g}", holds, row.bound_by
        )
    Console().print(table)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
