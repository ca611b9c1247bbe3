"""``readgate index``: builds bundles, and checks, measures and searches them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import click
import orjson

from evaluator.cli import export
from evaluator.cli.main import CHECK_FAILED, DONE, printable
from evaluator.cli.progress import stages
from evaluator.core.errors import BundleError, InputError, ReadGateError
from evaluator.core.settings import LARGEST_INTEGER
from index_builder.build import BundleSummary, build_bundle
from index_builder.building_folder import usable_place
from index_builder.bundle import Bundle, open_bundle, verify_bundle
from index_builder.bundle_stats import bundle_stats
from index_builder.datasets import KINDS
from index_builder.datasets.arag import FOUND, SOUGHT
from index_builder.embedding.embedder import open_embedder
from index_builder.embedding.vector_cache import FILE_NAME
from index_builder.hybrid import HybridSearch, Retriever
from index_builder.lexical import ANALYSERS, DEFAULT_ANALYSER
from index_builder.manifest import NO_EMBEDDER, strangers
from index_builder.recall import recall_table
from index_builder.vectors import WANTED_RECALL, VectorFacts

FOLDER = click.Path(path_type=Path)
SHOWN_PROBLEMS = 20
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
bundle_argument = click.argument("bundle", type=FOLDER)


@click.group()
def command() -> None:
    """Build, check and search bundles."""


command.add_command(export.command)


@command.command()
@click.option("--dataset", type=click.Choice(sorted(KINDS)), required=True, help="The format of the source.")
@click.option("--source", type=FOLDER, required=True, help="The dataset file.")
@click.option(
    "--corpus",
    type=FOLDER,
    help="The passages to search, or A-RAG's chunks; default: all contexts.",
)
@click.option("--official", type=FOLDER, help="Of A-RAG's questions only: the set's official file, for gold.")
@click.option("--chunking", help="passage (the default), or packed:N (tokens); none for A-RAG's chunks.")
@click.option(
    "--analyser",
    type=click.Choice(ANALYSERS),
    default=DEFAULT_ANALYSER,
    show_default=True,
    help="How BM25 takes text apart.",
)
@click.option(
    "--embedder", default="minilm", show_default=True, help="minilm, qwen3:DIR, or none (BM25 only)."
)
@click.option(
    "--dimensions",
    type=click.IntRange(1),
    help="Keep so many of each vector's numbers, where the model can; default: all.",
)
@click.option(
    "--vector-cache",
    type=FOLDER,
    help=f"Where vectors are kept for later builds; default: {FILE_NAME} beside the bundle.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_INTEGER),
    default=7,
    show_default=True,
    help="Of the shuffle before packing.",
)
@click.option("--out", type=FOLDER, required=True, help="The bundle to write.")
@json_option
def build(
    *,
    dataset: str,
    source: Path,
    corpus: Path | None,
    official: Path | None,
    chunking: str | None,
    analyser: str,
    embedder: str,
    dimensions: int | None,
    vector_cache: Path | None,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    """Build a bundle: chunks, questions, a BM25 index and vectors.

    The same command goes on after an interruption, and does nothing where the bundle is finished.
    """
    if embedder == NO_EMBEDDER and not (dimensions is None and vector_cache is None):
        raise InputError("--dimensions and --vector-cache say how to embed, and --embedder none does not")
    cache = vector_cache or usable_place(out).with_name(FILE_NAME)
    chosen = None if embedder == NO_EMBEDDER else open_embedder(embedder, dimensions)
    with stages(out.name) as show:
        summary = build_bundle(
            dataset,
            source,
            corpus,
            chunking,
            chosen,
            out,
            seed,
            show,
            official=official,
            analyser=analyser,
            vector_cache=cache,
        )
    if as_json:
        _print_json({**asdict(summary), "path": str(summary.path)})
        return
    for line in described(summary):
        click.echo(line)


@command.command(short_help="Compare every file with its hash.")
@bundle_argument
def verify(bundle: Path) -> int:
    """Compare every file of BUNDLE with the hash in its manifest; exit 1 when one differs."""
    if not (bundle / "manifest.json").is_file():
        raise BundleError(f"{bundle} is no bundle: it holds no manifest.json")
    try:
        manifest = verify_bundle(bundle)
    except BundleError as error:
        click.echo(f"readgate: {error}", err=True)
        return CHECK_FAILED
    click.echo(f"{bundle}: all {len(manifest.files)} files are as they were built")
    for name in strangers(bundle, manifest):
        click.echo(f"  {printable(name)} is no file of the bundle and is not read")
    return DONE


@command.command()
@bundle_argument
@json_option
def stats(bundle: Path, *, as_json: bool) -> None:
    """Print what BUNDLE holds."""
    with _opened(bundle) as opened:
        figures = bundle_stats(opened)
    if as_json:
        _print_json(figures)
        return
    width = max(len(name) for name in figures)
    for name, value in figures.items():
        click.echo(f"{name:<{width}}  {_shown(value)}")


@command.command(short_help="Print how much of the gold each retriever finds.")
@bundle_argument
@json_option
def recall(bundle: Path, *, as_json: bool) -> None:
    """Print how much of the gold each retriever finds for the questions themselves.

    Depth is how many candidates of each ranking hybrid fuses: 100 unless protocol.depth says otherwise.
    """
    with _opened(bundle) as opened:
        table = recall_table(opened)
    if as_json:
        _print_json(table)
        return
    rows = {"bm25": table["bm25"]}
    if "hybrid" in table:
        rows |= {"dense": table["dense"], "hybrid": table["hybrid"]}
        rows |= {f"hybrid, depth {depth}": figures for depth, figures in table["hybrid_by_depth"].items()}
    width = max(map(len, rows))
    click.echo(f"{table['n_questions']} questions with known gold, in %")
    click.echo(f"{'':<{width}}" + "".join(f"{column:>11}" for column in table["bm25"]))
    for name, figures in rows.items():
        shown = ("–" if value is None else f"{100 * value:.1f}" for value in figures.values())
        click.echo(f"{name:<{width}}" + "".join(f"{value:>11}" for value in shown))


@command.command()
@bundle_argument
@click.argument("query")
@click.option("-k", type=click.IntRange(1, 100), default=5, show_default=True, help="Results to show.")
@click.option(
    "--retriever",
    type=click.Choice(get_args(Retriever)),
    help="Default: hybrid, or bm25 without vectors.",
)
@json_option
def search(bundle: Path, query: str, k: int, retriever: Retriever | None, *, as_json: bool) -> None:
    """Search BUNDLE for QUERY as an agent would; any text is a query."""
    with _opened(bundle) as opened:
        best: Retriever = "bm25" if opened.vectors is None else "hybrid"
        library = HybridSearch(opened, retriever=retriever or best, k=k)
        hits = library.search_batch([query])[0]
        library.close()
    if as_json:
        _print_json(hits)
        return
    for hit in hits:
        title, chunk_id = printable(hit.title) or "(no title)", printable(hit.chunk_id)
        click.echo(f"{hit.rank}. {title}  [{chunk_id}]  {hit.score:.4f}")
        click.echo(f"   {printable(hit.snippet)}")
    if not hits:
        click.echo("nothing matches")


@contextmanager
def _opened(path: Path) -> Iterator[Bundle]:
    """An open bundle, its hashes unchecked; what breaks on a damaged file is told by that file's name."""
    try:
        yield open_bundle(path, verify_hashes=False)
    except BaseException as error:  # tantivy panics past Exception
        foreseen = isinstance(error, ReadGateError) and not isinstance(error, BundleError)
        if not foreseen and not isinstance(error, KeyboardInterrupt):
            verify_bundle(path)
        raise


def described(summary: BundleSummary) -> Iterator[str]:
    """What a build did, for a person: repaired records and unmatched gold are listed."""
    manifest = summary.manifest
    if summary.already_there:
        yield f"{summary.path}: finished before, every file as it was built"
    yield (
        f"{summary.path}: {manifest.n_chunks} chunks, {manifest.n_questions} questions "
        f"({manifest.n_known_gold} with known gold), embedder {manifest.embedder}"
    )
    if summary.cached_vectors:
        yield f"  vectors that were made before, from the cache: {summary.cached_vectors}"
    yield from _vectors_described(manifest.vectors)
    if manifest.n_truncated:
        yield f"  chunks too long to be embedded whole: {manifest.n_truncated}"
    sought = manifest.notes.get(SOUGHT, 0)
    if sought:
        yield f"  gold recovered by the text of its passages: {manifest.notes.get(FOUND, 0) / sought:.2%}"
    for note, count in manifest.notes.items():
        yield f"  {note}: {count}"
    unmatched = manifest.unmatched_gold
    if unmatched:
        yield f"  gold passages that stand in no chunk: {len(unmatched)}"
    for passage in unmatched[:SHOWN_PROBLEMS]:
        yield f"    {passage.title!r} of question {printable(passage.question_id)}"
    if len(unmatched) > SHOWN_PROBLEMS:
        yield f"    and {len(unmatched) - SHOWN_PROBLEMS} more, all in the bundle's manifest.json"


def _vectors_described(facts: VectorFacts | None) -> Iterator[str]:
    """How vectors are searched, where that is not exactly, and a warning when it finds too little."""
    if facts is None or facts.kind == "exact":
        return
    recall = facts.recall_at_50
    found = "unknown, for want of questions" if recall is None else f"{recall:.4f} of exact search"
    yield (
        f"  vectors: more than {facts.crossover:,}, so searched with {facts.kind}, {facts.expansion} "
        f"candidates; recall@50 {found}, on {facts.recall_queries} questions"
    )
    if recall is not None and recall < WANTED_RECALL:
        yield f"  warning: this recall is below {WANTED_RECALL}; dense and hybrid results are poorer for it"


def _print_json(value: object) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def _shown(value: object) -> str:
    """A figure, or figures by name, for a person."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_shown(each)}" for name, each in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(_shown(each) for each in value) or "none"
    return (
        f"{value:,.5g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )
