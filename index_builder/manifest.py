"""The manifest of a bundle: what it was made of, and the hash of every file.

``bundle_hash`` is the identity of a bundle's content: of its chunks and questions and of how they are
analysed and embedded. It holds no time and no place, and none of the files that are derived from these
(processors may round a vector's last bit differently), so that the same input gives the same hash
anywhere. Those files have their own hashes.

The times in ``modified_ns``, and with them the seal ``manifest_sha256``, are all that differs between two
bundles of the same input built on the same kind of machine.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from index_builder.chunk_store import LINES
from index_builder.errors import BundleError
from index_builder.vectors import VectorFacts

FORMAT = 2
FILE_NAME = "manifest.json"
QUESTIONS = "questions.jsonl"
LEXICAL = "lexical"
NO_EMBEDDER = "none"
OWN_HASH = "manifest_sha256"
AGAIN = "remove the folder and build it again"
JSON_STYLE = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file as it was when the bundle was finished."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class UnmatchedGold:
    """A gold passage that stands in no chunk, title and text compared."""

    question_id: str
    title: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A bundle's manifest.

    Attributes:
        format: The version of the bundle format.
        dataset: The kind of dataset, such as ``hotpotqa``.
        chunking: ``passage`` or ``packed:N``.
        seed: Of the shuffle before packing.
        analyser: How BM25 takes text apart.
        embedder: Its name, or ``none`` for a bundle without vectors.
        embedder_spec: How it is opened again to embed queries, such as ``qwen3:DIR``; may be another place.
        embedder_files: Name and sha256 of the files that decide its vectors.
        dimensions: Of the vectors; 0 without.
        vectors: How they are searched; None without.
        n_chunks: How many chunks.
        n_questions: How many questions.
        n_known_gold: How many of them have at least one gold chunk.
        n_truncated: Chunks too long to be embedded whole.
        notes: What the loader repaired or left out, name to count.
        unmatched_gold: Gold passages that stand in no chunk.
        sources: The files the bundle was built from, by role and name, such as ``corpus: passages.json``.
        files: Every other file of the bundle, by its path in it.
        modified_ns: When each of them was last modified, in nanoseconds since 1970: a file with this time
            and its size need not be hashed to be trusted on opening.
        bundle_hash: The identity of its content.
    """

    format: int
    dataset: str
    chunking: str
    seed: int
    analyser: str
    embedder: str
    embedder_spec: str
    embedder_files: Mapping[str, str]
    dimensions: int
    vectors: VectorFacts | None
    n_chunks: int
    n_questions: int
    n_known_gold: int
    n_truncated: int
    notes: Mapping[str, int]
    unmatched_gold: tuple[UnmatchedGold, ...]
    sources: Mapping[str, FileFacts]
    files: Mapping[str, FileFacts]
    modified_ns: Mapping[str, int]
    bundle_hash: str


ADAPTER = TypeAdapter(Manifest)


def bundle_hash(
    folder: Path,
    *,
    dataset: str,
    chunking: str,
    analyser: str,
    embedder: str,
    embedder_files: Mapping[str, str],
    dimensions: int,
) -> str:
    """The identity of a bundle whose chunks and questions are written to ``folder``."""
    identity = {
        "format": FORMAT,
        "dataset": dataset,
        "chunking": chunking,
        "analyser": analyser,
        "embedder": embedder,
        "embedder_files": dict(embedder_files),
        "dimensions": dimensions,
        "chunks": file_facts(folder / LINES).sha256,
        "questions": file_facts(folder / QUESTIONS).sha256,
    }
    return hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()


def file_facts(path: Path) -> FileFacts:
    """Hash and size of a file."""
    with path.open("rb") as file:
        return FileFacts(hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, sealed with a hash of its own."""
    (folder / FILE_NAME).write_bytes(_sealed(asdict(manifest)))


def read_manifest(folder: Path) -> Manifest:
    """Read a manifest and check that it is as it was written.

    Raises:
        BundleError: When the folder is absent or no finished bundle, or the manifest is of another
            version or altered.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        what = "is no finished bundle: it holds no manifest.json" if folder.is_dir() else "does not exist"
        raise BundleError(f"{folder} {what}; `readgate index build` makes one")
    raw = path.read_bytes()
    try:
        tree = orjson.loads(raw)
        version = tree["format"]
        if version != FORMAT:
            raise BundleError(f"{path} is of bundle format {version!r}; this program reads {FORMAT}: {AGAIN}")
        del tree[OWN_HASH]
        manifest = ADAPTER.validate_python(tree)
    except KeyError as error:
        raise BundleError(f"{path} is not a bundle's manifest: it has no {error.args[0]}; {AGAIN}") from error
    except (ValueError, TypeError) as error:
        raise BundleError(f"{path} is not a bundle's manifest; {AGAIN}") from error
    if raw != _sealed(tree):
        raise BundleError(f"{path} was altered since the bundle was built; {AGAIN}")
    return manifest


def check_files(folder: Path, manifest: Manifest, *, hashes: bool) -> None:
    """Raise ``BundleError`` naming the first file that is absent or altered.

    Without ``hashes`` a file is believed that has the size and the time it had; one with another time,
    such as that of a copy, is hashed.
    """
    for name, facts in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise BundleError(f"{path} is missing; {AGAIN}")
        status = path.stat()
        trusted = not hashes and status.st_mtime_ns == manifest.modified_ns[name]
        if status.st_size != facts.size or not (trusted or file_facts(path) == facts):
            raise BundleError(f"{path} was altered since the bundle was built; {AGAIN}")


def files_below(folder: Path) -> list[str]:
    """Every file but the manifest, by its path in the folder, in order."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / FILE_NAME)
    return [path.relative_to(folder).as_posix() for path in paths]


def strangers(folder: Path, manifest: Manifest) -> list[str]:
    """Files that stand in a bundle's folder and are none of the bundle's; nothing ever reads them."""
    return [name for name in files_below(folder) if name not in manifest.files]


def _sealed(tree: Mapping[str, object]) -> bytes:
    """The bytes of a manifest: canonical JSON that holds the hash of itself without that hash."""
    own = hashlib.sha256(orjson.dumps(tree, option=JSON_STYLE)).hexdigest()
    return orjson.dumps({**tree, OWN_HASH: own}, option=JSON_STYLE)
