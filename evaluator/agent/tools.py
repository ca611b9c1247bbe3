"""The three tools as the model is shown them, and the text of their results.

The texts are regular, because programs parse them as well as models: **every result of search and
read, and every error, is one line of JSON**. The forms:

- search: ``[{"chunk_id", "title", "snippet"}, ...]``, best first; ``[]`` when nothing matched.
- read: ``{"chunk_id", "title", "text"}``.
- a chunk that was read before: ``{"chunk_id", "note": "already read"}``.
- an id that does not exist: ``{"chunk_id", "error": "no such chunk"}``.
- a call that cannot be carried out: ``{"error": "<one sentence>"}``.

``title`` is left out where a chunk has none. Only the replies to a ``final`` are plain sentences; they
stand in ``evaluator.gates.spec``.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Literal

from evaluator.core.messages import ToolSpec
from index_builder.records import Chunk, Hit

ALREADY_READ = "already read"
NO_SUCH_CHUNK = "no such chunk"


def _tool(name: str, description: str, argument: str, meaning: str) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {argument: {"type": "string", "description": meaning}},
        "required": [argument],
        "additionalProperties": False,
    }
    return ToolSpec(name, description, schema)


SEARCH = _tool(
    "search",
    "Search the document collection. Returns the best matching chunks, each with its chunk_id, its title "
    "and a snippet of its text.",
    "query",
    "What to look for.",
)
READ = _tool(
    "read",
    "Return the title and the full text of one chunk.",
    "chunk_id",
    "The chunk_id as a search result gives it.",
)
FINAL = _tool("final", "Submit the answer to the question. This ends the task.", "answer", "The answer.")
TOOLS: tuple[ToolSpec, ...] = (SEARCH, READ, FINAL)
ARGUMENT_OF: Mapping[str, Literal["query", "chunk_id", "answer"]] = {
    "search": "query",
    "read": "chunk_id",
    "final": "answer",
}
"""The one argument of each tool."""


def render_hits(hits: Iterable[Hit]) -> str:
    """The result of a search."""
    return _json([_titled(hit.chunk_id, hit.title) | {"snippet": hit.snippet} for hit in hits])


def render_chunk(chunk: Chunk) -> str:
    """The result of a first read, and the body of an injected passage."""
    return _json(_titled(chunk.chunk_id, chunk.title) | {"text": chunk.text})


def render_already_read(chunk_id: str) -> str:
    """The result of reading a chunk again: no text."""
    return _json({"chunk_id": chunk_id, "note": ALREADY_READ})


def render_no_such_chunk(chunk_id: str) -> str:
    """The result of reading an id that does not exist."""
    return _json({"chunk_id": chunk_id, "error": NO_SUCH_CHUNK})


def render_error(sentence: str) -> str:
    """The result of a call that cannot be carried out."""
    return _json({"error": sentence})


def _titled(chunk_id: str, title: str) -> dict[str, str]:
    return {"chunk_id": chunk_id, "title": title} if title else {"chunk_id": chunk_id}


def _json(tree: object) -> str:
    # Not orjson: a model may send lone surrogates, on which orjson raises.
    return json.dumps(tree, ensure_ascii=False)
