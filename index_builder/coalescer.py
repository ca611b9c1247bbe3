"""Turns what many tasks of an event loop ask one by one into calls for many at once, in a thread.

Nothing waits for a timer. What is asked in one turn of the loop goes out in one call at its end, and what
is asked while a call is under way goes out together when it ends: the busier, the larger the calls.
"""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")
CLOSED = "this search is closed"


class Coalescer(Generic[Q, A]):
    """One call at a time for all who wait; equal items are in it once.

    When a call for several items fails, each is asked for alone, so that an error reaches those whose item
    it is about, and nobody else.

    It serves one event loop; another one only when that has ended.
    """

    def __init__(self, call: Callable[[list[Q]], Sequence[A]]) -> None:
        """Nothing is started before the first item comes.

        Args:
            call: Items to as many answers, in their order; run in a thread, never twice at a time.
        """
        self._call = call
        self._thread = ThreadPoolExecutor(1, "coalescer")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[Q, list[asyncio.Future[A]]] = {}
        self._busy = False
        self._closed = False

    async def ask(self, item: Q) -> A:
        """The answer to one item, or the error of a call for it alone.

        Raises:
            RuntimeError: When it is closed before the item's call began, or serves another loop.
        """
        if self._closed:
            raise RuntimeError(CLOSED)
        loop = self._serve(asyncio.get_running_loop())
        answer: asyncio.Future[A] = loop.create_future()
        self._waiting.setdefault(item, []).append(answer)
        if not self._busy:
            self._busy = True
            loop.call_soon(self._send, loop)
        return await answer

    def close(self) -> None:
        """Let the call under way end, and answer those whose call has not begun with an error."""
        self._closed = True
        self._thread.shutdown()
        waiting, self._waiting = self._waiting, {}
        for answers in waiting.values():
            for answer in _still_awaited(answers):
                answer.set_exception(RuntimeError(CLOSED))

    def _serve(self, loop: asyncio.AbstractEventLoop) -> asyncio.AbstractEventLoop:
        if self._loop is not loop:
            if self._loop is not None and not self._loop.is_closed():
                msg = "this search serves another event loop, which has not ended"
                raise RuntimeError(msg)
            self._loop, self._waiting, self._busy = loop, {}, False
        return loop

    def _send(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin a call for all that is still awaited."""
        asked = {item: answers for item, answers in self._waiting.items() if any(_still_awaited(answers))}
        self._waiting = {}
        self._busy = bool(asked)
        if asked:
            done = loop.run_in_executor(self._thread, self._answers, list(asked))
            done.add_done_callback(partial(self._hand_out, loop, asked))

    def _answers(self, items: list[Q]) -> dict[Q, "A | _Failed"]:
        try:
            return dict(zip(items, self._call(items), strict=True))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is handed to those who asked
            if len(items) == 1:
                return {items[0]: _Failed(error)}
        return {item: self._answers([item])[item] for item in items}

    def _hand_out(
        self,
        loop: asyncio.AbstractEventLoop,
        asked: dict[Q, list[asyncio.Future[A]]],
        done: asyncio.Future[dict[Q, "A | _Failed"]],
    ) -> None:
        """Give all who asked and still wait their answer, or their error; then begin the next call."""
        for item, found in done.result().items():
            for answer in _still_awaited(asked[item]):
                if isinstance(found, _Failed):
                    answer.set_exception(found.error)
                else:
                    answer.set_result(found)
        # After those who were answered had a turn, so that what they ask next is in the call.
        loop.call_soon(self._send, loop)


@dataclass(frozen=True, slots=True)
class _Failed:
    """What came of an item instead of an answer."""

    error: Exception


def _still_awaited(answers: Sequence["asyncio.Future[A]"]) -> list["asyncio.Future[A]"]:
    """Those whose task was not cancelled."""
    return [answer for answer in answers if not answer.done()]
