"""Where the bench finds real data, and keeps the big inputs it makes once.

Made inputs stand in ``worlds/bench-<name>-<hash of the code that makes them>`` and are used again by the
next run for as long as that code stays as it is; deleting them is safe.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from index_builder.build import Recipe, write_bundle
from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import read_corpus
from index_builder.embedding.hashed_words import HashedWords
from index_builder.records import Dataset
from tests.bench.rows import NotMeasuredError

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
CACHE = ROOT / "worlds"
SOURCES = {"hotpotqa": "hotpotqa.json", "two_wiki": "2wikimultihopqa.json", "musique": "musique.jsonl"}
CORPORA = {
    "hotpotqa": "hotpotqa_corpus.json",
    "two_wiki": "2wikimultihopqa_corpus.json",
    "musique": "musique_corpus.json",
}

QUICK_QUESTIONS = 100
BUILDERS = tuple(
    f"index_builder/{part}"
    for part in (
        "build.py",
        "chunk_store.py",
        "chunking.py",
        "embedding/minilm.py",
        "lexical",
        "manifest.py",
        "vectors",
    )
)
"""What the bytes of a bundle depend on."""


def real_file(*parts: str) -> Path:
    """A file of the real samples beside the checkout."""
    path = DATA.joinpath(*parts)
    if not path.is_file():
        raise NotMeasuredError(f"the real data is not here: {path} is missing")
    return path


def real_corpus(dataset: str) -> Path:
    """The corpus file of a real set."""
    return real_file("corpus", CORPORA[dataset])


def world(passages: int) -> Path:
    """A generated world of three sets with so many passages each, made once, as ``data world`` writes it."""
    amounts = ["--questions", "1000", "--passages", str(passages), "--seed", "7"]
    return made_once(
        f"world-{passages}",
        lambda folder: _readgate("data", "world", "--out", str(folder), *amounts),
        made_by=("index_builder/datasets/world",),
    )


def real_bundle(dataset: str, *, quick: bool = False) -> Path:
    """A bundle of a real set with MiniLM vectors; for a quick run of the first questions' contexts alone."""
    source = real_file(SOURCES[dataset])
    make = partial(_build_part if quick else _build_whole, dataset, source)
    return made_once(f"{dataset}-quick" if quick else dataset, make, made_by=BUILDERS) / "bundle"


class LongHashedWords(HashedWords):
    """Vectors of as many dimensions as MiniLM's, for bundles too big to embed."""

    dimensions = 384


def vectors_bundle(passages: int) -> Path:
    """A bundle of a generated world with so many passages, with ``LongHashedWords``."""
    make = partial(_make_vectors_bundle, passages)
    return made_once(f"vectors-{passages}", make, made_by=BUILDERS) / "bundle"


def _make_vectors_bundle(passages: int, folder: Path) -> None:
    made, dataset = world(passages), "two_wiki"
    corpus = read_corpus(made / "corpus" / "2wikimultihopqa_corpus.jsonl")
    records = Dataset(LOADERS[dataset](made / SOURCES[dataset]).questions, (), {})
    recipe = Recipe(dataset, "passage", 7, LongHashedWords(), {})
    write_bundle(records, corpus, recipe, folder / "bundle", lambda *_: None)


def _build_whole(dataset: str, source: Path, folder: Path) -> None:
    _build(dataset, source, folder / "bundle", "--corpus", str(real_corpus(dataset)))


def _build_part(dataset: str, source: Path, folder: Path) -> None:
    part = folder / source.name
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".jsonl":
        part.write_text("\n".join(text.splitlines()[:QUICK_QUESTIONS]), encoding="utf-8")
    else:
        part.write_text(json.dumps(json.loads(text)[:QUICK_QUESTIONS]), encoding="utf-8")
    _build(dataset, part, folder / "bundle")


def _build(dataset: str, source: Path, bundle: Path, *options: str) -> None:
    cache = str(CACHE / "bench-vectors.sqlite")
    files = ["--source", str(source), "--out", str(bundle), "--vector-cache", cache, *options]
    _readgate("index", "build", "--dataset", dataset, *files)


def made_once(name: str, make: Callable[[Path], object], *, made_by: Sequence[str]) -> Path:
    """A folder, filled by ``make`` when it is not there; never half filled.

    Args:
        name: What is in it.
        make: Fills an empty folder.
        made_by: The modules and packages, seen from the root, on which its content depends.
    """
    folder = CACHE / f"bench-{name}-{_hash_of(made_by)}"
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


def _hash_of(places: Sequence[str]) -> str:
    found = [path for place in places for path in (ROOT / place, *(ROOT / place).rglob("*.py"))]
    if not found:
        raise NotMeasuredError(f"no code at {', '.join(places)}")
    code = b"".join(path.read_bytes() for path in sorted(found) if path.is_file())
    return hashlib.sha256(code).hexdigest()[:8]


def _readgate(*arguments: str) -> None:
    """In a process of its own, so that its memory and processor time are not the caller's."""
    subprocess.run([sys.executable, "-m", "evaluator", *arguments], cwd=ROOT, stdout=sys.stderr, check=True)
