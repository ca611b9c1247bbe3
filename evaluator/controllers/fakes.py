"""Stand-ins for models and lines that need no network: for tests, and for whoever extends the stack."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from evaluator.controllers.line import Attempt, RawReply
from evaluator.core.cell import CallTag
from evaluator.core.journal import Returned, Sent
from evaluator.core.messages import ModelRequest, Reply

Answer: TypeAlias = Reply | Exception
Outcome: TypeAlias = RawReply | Exception


class FakeModel:
    """Answers from a list in order, or by a function of the request; satisfies ``Model``.

    An exception among the answers is raised. ``asked`` keeps every request with its tag.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[ModelRequest, CallTag], Answer]) -> None:
        self.asked: list[tuple[ModelRequest, CallTag]] = []
        self._by = answers if callable(answers) else None
        self._queue = iter(()) if callable(answers) else iter(answers)

    async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
        """The next answer; a list that has run out is a mistake of the test and says so."""
        self.asked.append((request, tag))
        answer = self._by(request, tag) if self._by else next(self._queue, None)
        if answer is None:
            raise AssertionError(f"the fake model was asked {len(self.asked)} times and has no answer left")
        if isinstance(answer, Exception):
            raise answer
        return answer


class FakeLine:
    """Gives outcomes in order, raising those that are exceptions; ``sent`` keeps every attempt."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self.sent: list[Attempt] = []
        self._outcomes = iter(outcomes)

    async def send(self, attempt: Attempt) -> RawReply:
        """The next outcome; a list that has run out is a mistake of the test and says so."""
        self.sent.append(attempt)
        outcome = next(self._outcomes, None)
        if outcome is None:
            raise AssertionError(f"the fake line was used {len(self.sent)} times and has no outcome left")
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class FakeCalls:
    """A journal of given lines, none at first; satisfies ``FinishedCalls``."""

    def __init__(self, lines: Iterable[Sent | Returned] = ()) -> None:
        self._lines = tuple(lines)

    def lines(self, tag: CallTag, body: bytes) -> Sequence[Sent | Returned]:
        """Those of the tag's trajectory, or judge, and turn, whatever the body."""
        del body
        wanted = tag.purpose, tag.trajectory_id, tag.judge, tag.turn
        return [
            line
            for line in self._lines
            if (line.purpose, line.trajectory_id, line.judge, line.turn) == wanted
        ]
