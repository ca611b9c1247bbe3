"""The whole plug-in surface of the evaluator, on one page."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from evaluator.core.cell import CallTag
from evaluator.core.journal import Returned, Sent
from evaluator.core.messages import ModelRequest, Reply
from index_builder.records import Chunk, Hit


class Model(Protocol):
    """Something that answers model calls: a provider behind its layers, or a fake."""

    async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
        """Answer one call, or raise ModelError, DeadlineError, CredentialError or CapReachedError."""
        ...


class Library(Protocol):
    """What an agent searches and reads: an open bundle with a retriever chosen."""

    async def search(self, query: str) -> tuple[Hit, ...]:
        """The hits for one query, best first; any text is a query.

        Raises:
            EmbeddingError: The model gives this query no vector.
        """
        ...

    def read(self, chunk_id: str) -> Chunk | None:
        """The chunk, or None when there is none of that id."""
        ...


class Sink(Protocol):
    """A place for finished records: one JSON line each."""

    async def append(self, record: object) -> None:
        """Return once the record is safe from the death of this process."""
        ...


class FinishedCalls(Protocol):
    """What a journal holds of calls made before."""

    def lines(self, tag: CallTag, body: bytes) -> Sequence[Sent | Returned]:
        """The lines of all attempts at one call in their order, also at a call with another body."""
        ...


class Clock(Protocol):
    """Time as an argument."""

    def now(self) -> datetime:
        """The current instant, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of this clock."""
        ...


class EntityExtractor(Protocol):
    """Named entities of a text."""

    def __call__(self, text: str) -> Sequence[str]:
        """Distinct entities, in order of appearance, as they stand in the text."""
        ...
