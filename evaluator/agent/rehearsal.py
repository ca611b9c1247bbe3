"""Runs the loop without a model or an index: scripted replies over a small shelf of chunks.

For tests, golden trajectories, and anyone who wants to see what an episode does with given replies.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluator.agent.effects import AskModel, Read, Result, Search
from evaluator.agent.loop import Work
from evaluator.core.errors import EpisodeError
from evaluator.core.messages import ModelRequest, Reply, ToolCall
from evaluator.core.trajectory import Episode
from evaluator.evidence.normalise import fold
from index_builder.records import Chunk, Hit

SNIPPET_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Shelf:
    """A few chunks; a search hits those that share a word with the query, most shared words first."""

    chunks: tuple[Chunk, ...]

    def search(self, query: str) -> tuple[Hit, ...]:
        """The hits of one query; equal scores keep the order of the shelf."""
        words = set(fold(query).split())
        shared = [
            (len(words & set(fold(f"{chunk.title} {chunk.text}").split())), chunk) for chunk in self.chunks
        ]
        ranked = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])
        return tuple(
            Hit(chunk.chunk_id, rank, float(score), chunk.title, chunk.text[:SNIPPET_CHARACTERS])
            for rank, (score, chunk) in enumerate(ranked, start=1)
        )

    def read(self, chunk_id: str) -> Chunk | None:
        """The chunk of that id, if there is one."""
        return next((chunk for chunk in self.chunks if chunk.chunk_id == chunk_id), None)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """An episode and every request that its model was sent."""

    episode: Episode
    requests: tuple[ModelRequest, ...]


def calls(*wanted: tuple[str, Mapping[str, object] | str], text: str = "") -> Reply:
    """A reply that calls tools, given as (name, arguments); the loop gives the calls their ids."""
    return Reply(text, tuple(ToolCall("", name, arguments) for name, arguments in wanted))


def rehearse(loop: Work[Episode], replies: Iterable[Reply | EpisodeError], shelf: Shelf) -> Rehearsal:
    """Drive the loop to its end; an error among the replies is thrown in where a reply was due.

    Raises:
        ValueError: The episode asked for more replies than there are.
    """
    script = iter(replies)
    requests: list[ModelRequest] = []
    result: Result | EpisodeError = None
    while True:
        try:
            effect = loop.throw(result) if isinstance(result, EpisodeError) else loop.send(result)
        except StopIteration as end:
            return Rehearsal(end.value, tuple(requests))
        match effect:
            case AskModel(request, _):
                requests.append(request)
                result = next(script, None)
                if result is None:
                    raise ValueError(f"the script has {len(requests) - 1} replies, and one more is due")
            case Search(query):
                result = shelf.search(query)
            case Read(chunk_id):
                result = shelf.read(chunk_id)
