"""Where the bench finds real data and bundles, and keeps the big inputs it makes once.

Made inputs stand in ``worlds/bench-…`` and are used again by the next run; deleting them is safe.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
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
BUNDLES = ROOT / "bundles"
CACHE = ROOT / "worlds"
SOURCES = {"hotpotqa": "hotpotqa.json", "two_wiki": "2wikimultihopqa.json", "musique": "musique.jsonl"}
CORPORA = {
    "hotpotqa": "hotpotqa_corpus.json",
    "two_wiki": "2wikimultihopqa_corpus.json",
    "musique": "musique_corpus.json",
}

QUICK_QUESTIONS = 100


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
        f"world-{passages}", lambda folder: _readgate("data", "world", "--out", str(folder), *amounts)
    )


def real_bundle(dataset: str, *, quick: bool = False) -> Path:
    """A bundle of a real set with MiniLM vectors: the one under ``bundles``, or one made for the bench.

    For a quick run, where there is none yet, it is of the contexts of the first questions alone.
    """
    whole = CACHE / f"bench-{dataset}"
    for bundle in (BUNDLES / dataset, whole):
        if (bundle / "manifest.json").is_file():
            return bundle
    source = real_file(SOURCES[dataset])
    if quick:
        return made_once(f"{dataset}-quick", partial(_build_part, dataset, source)) / "bundle"
    _build(dataset, source, whole, "--corpus", str(real_corpus(dataset)))
    return whole


class LongHashedWords(HashedWords):
    """Vectors of as many dimensions as MiniLM's, for bundles too big to embed."""

    dimensions = 384


def vectors_bundle(passages: int) -> Path:
    """A bundle of a generated world with so many passages, with ``LongHashedWords``."""
    return made_once(f"vectors-{passages}", partial(_make_vectors_bundle, passages)) / "bundle"


def _make_vectors_bundle(passages: int, folder: Path) -> None:
    made, dataset = world(passages), "two_wiki"
    corpus = read_corpus(made / "corpus" / "2wikimultihopqa_corpus.jsonl")
    records = Dataset(LOADERS[dataset](made / SOURCES[dataset]).questions, (), {})
    recipe = Recipe(dataset, "passage", 7, LongHashedWords(), {})
    write_bundle(records, corpus, recipe, folder / "bundle", lambda *_: None)


def _build_part(dataset: str, source: Path, folder: Path) -> None:
    part = folder / source.name
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".jsonl":
        part.write_text("\n".join(text.splitlines()[:QUICK_QUESTIONS]), encoding="utf-8")
    else:
        part.write_text(json.dumps(json.loads(text)[:QUICK_QUESTIONS]), encoding="utf-8")
    _build(dataset, part, folder / "bundle")


def _build(dataset: str, source: Path, bundle: Path, *options: str) -> None:
    files = ["--source", str(source), "--out", str(bundle), *options]
    _readgate("index", "build", "--dataset", dataset, *files)


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``worlds/bench-<name>``, filled by ``make`` when it is not there; never half filled."""
    folder = CACHE / f"bench-{name}"
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


def _readgate(*arguments: str) -> None:
    """In a process of its own, so that its memory and processor time are not the caller's."""
    subprocess.run([sys.executable, "-m", "evaluator", *arguments], cwd=ROOT, stdout=sys.stderr, check=True)
