"""What a bundle of 1,000,000 passages costs to build from JSON lines and to open.

Building goes through ``readgate index build``, without vectors. The bundle that is opened has vectors of
384 dimensions, in a graph. Both happen in processes of their own; opening after the imports, a loaded
MiniLM and one search of a small bundle, whose time and memory are not counted. 100,000 passages in a quick
run, whose vectors are searched exactly.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from index_builder.build import Recipe, write_bundle
from index_builder.bundle import open_bundle
from index_builder.embedding.embedder import open_embedder
from index_builder.embedding.hashed_words import HashedWords
from index_builder.hybrid import HybridSearch
from index_builder.records import Dataset, Passage, Question
from tests.bench.places import ROOT, vectors_bundle, world
from tests.bench.rows import Row, at_least, at_most, report

PASSAGES, QUICK_PASSAGES = 1_000_000, 100_000
A_SECOND, MOST_MIB = 8000, 1536
MOST_SECONDS, MOST_OPEN_MB = 1, 100
ROUNDS = 5


def rows(*, quick: bool) -> Iterator[Row]:
    """Build once, open several times, check every hash once."""
    count = QUICK_PASSAGES if quick else PASSAGES
    made = world(count)
    with tempfile.TemporaryDirectory() as place:
        processor, peak = _built(made, Path(place, "bundle"))
    bound = "BM25; reading, checking and writing text beside it"
    rate = count / processor
    yield at_least(f"whole BM25 bundle of {count:,}", rate, "passages/s a core", A_SECOND, bound)
    yield at_most(f"whole BM25 bundle of {count:,}, memory", peak, "MiB", MOST_MIB, "tantivy's writer")
    bundle = vectors_bundle(count)
    opened = [_opened_apart(bundle, "times") for _ in range(ROUNDS)]
    seconds, mega = (median(figures) for figures in zip(*opened, strict=True))
    name = f"opening {count:,} passages with vectors"
    yield at_most(name, seconds, "s", MOST_SECONDS, "reading where each vector and its links stand")
    yield at_most(f"{name}, memory", mega, "MB", MOST_OPEN_MB, "the identifiers of passages and of vectors")
    hashed, _ = _opened_apart(bundle, "hashes")
    yield at_most(f"{name}, every hash checked", hashed, "s", None, "SHA-256 of every file")


def _built(made: Path, bundle: Path) -> tuple[float, float]:
    """Seconds of processor time and the peak of resident MiB."""
    files = ["--source", made / "musique.jsonl", "--corpus", made / "corpus" / "musique_corpus.jsonl"]
    options = ["--dataset", "musique", "--embedder", "none", "--out", bundle]
    command = [sys.executable, "-m", "evaluator", "index", "build", *files, *options]
    process = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=sys.stderr)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError("the build failed: its last words stand above")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _opened_apart(bundle: Path, check: str) -> tuple[float, float]:
    """Seconds and MB (of 1,000,000 bytes) of opening."""
    command = [sys.executable, "-m", "tests.bench.opening", "open", str(bundle), check]
    said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    seconds, mega = json.loads(said)
    return seconds, mega


def _open(bundle: Path, check: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as place:
        passage = Passage("One", "One passage.")
        question = Question("q", "Which?", ("One",), "bridge", 1, (passage,))
        small = Path(place, "small")
        recipe = Recipe("musique", "passage", 7, HashedWords(), {})
        write_bundle(Dataset((question,), (passage,), {}), [passage], recipe, small, lambda *_: None)
        model = open_embedder("minilm")
        model.embed_queries(["Which?"])
        warm = HybridSearch(open_bundle(small, verify_hashes=True))
        warm.search_batch(["Which?"])
        before, started = _resident(), time.perf_counter()
        opened = open_bundle(bundle, verify_hashes=check == "hashes")
        seconds, mega = time.perf_counter() - started, (_resident() - before) / 1e6
        assert opened.vectors is not None
        warm.close()
    return seconds, mega


def _resident() -> int:
    """Bytes of this process in memory, those of mapped files included."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    if sys.argv[1:2] == ["open"]:
        sys.stdout.write(json.dumps(_open(Path(sys.argv[2]), sys.argv[3])))
    else:
        report(rows)
