"""Runs many items with a bounded number in flight; what the items are is the caller's matter.

Results go to the sink as they come and are not kept, so memory does not grow with the run. A batch
ends in one of three ways: all items are done; someone asked it to stop; or a worker raised. In the
last two cases no new item is begun and those in flight are given time to finish and be written.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from evaluator.core.ports import Sink

Item = TypeVar("Item")
Result = TypeVar("Result")
Seen_contra = TypeVar("Seen_contra", contravariant=True)

GRACE_SECONDS = 10.0
"""What those in flight are given after a request to stop; then they are cancelled and owed again."""


class Progress(Protocol[Seen_contra]):
    """Someone who is told of every finished item."""

    def advance(self, result: Seen_contra) -> None:
        """One more item is finished and written."""
        ...


@dataclass(frozen=True, slots=True)
class BatchResult:
    """How many items were finished and written, and whether someone asked to stop before the end."""

    done: int
    interrupted: bool


class _Batch(Generic[Item, Result]):
    """What the workers of one batch share."""

    def __init__(
        self,
        items: Iterable[Item],
        worker: Callable[[Item], Awaitable[Result]],
        sink: Sink,
        progress: Progress[Result],
        stop: asyncio.Event,
    ) -> None:
        self._items = iter(items)
        self._worker = worker
        self._sink = sink
        self._progress = progress
        self._stop = stop
        self.done = 0
        self.left_out = False
        self.failure: Exception | None = None

    async def work(self) -> None:
        """Take items until there are none left or the batch is to end."""
        try:
            for item in self._items:
                if self._stop.is_set() or self.failure is not None:
                    self.left_out = True
                    return
                result = await self._worker(item)
                await self._sink.append(result)
                self.done += 1
                self._progress.advance(result)
        except asyncio.CancelledError:
            self.left_out = True
            raise
        except Exception as error:
            self.failure = self.failure or error
            raise


async def run_batch(
    items: Iterable[Item],
    worker: Callable[[Item], Awaitable[Result]],
    sink: Sink,
    *,
    in_flight: int,
    progress: Progress[Result],
    stop: asyncio.Event,
    grace_seconds: float = GRACE_SECONDS,
) -> BatchResult:
    """Work on all items, at most ``in_flight`` at a time, in the order given.

    Args:
        items: Pulled one by one, as workers become free.
        worker: Makes a result of an item; what it raises ends the batch.
        sink: Where results are written before they count.
        in_flight: The number of items worked on at a time.
        progress: Told of every result that has been written.
        stop: When set, no item is begun any more and the rest is cancelled after the grace.
        grace_seconds: How long those in flight may take once ``stop`` is set.

    Raises:
        Exception: The first that a worker or the sink raised, once those in flight have ended.
    """
    batch = _Batch(items, worker, sink, progress, stop)
    workers = [asyncio.create_task(batch.work()) for _ in range(in_flight)]
    everyone = asyncio.create_task(asyncio.wait(workers))
    asked_to_stop = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({everyone, asked_to_stop}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({everyone}, timeout=grace_seconds)
    finally:
        for task in (*workers, everyone, asked_to_stop):
            task.cancel()
        await asyncio.gather(*workers, everyone, asked_to_stop, return_exceptions=True)
    if batch.failure is not None:
        raise batch.failure
    return BatchResult(batch.done, interrupted=stop.is_set() and batch.left_out)
