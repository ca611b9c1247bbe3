"""The driver: performs what the loop asks, and turns what goes wrong into an outcome or lets it pass."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from evaluator.agent.rehearsal import Shelf, calls
from evaluator.controllers.fakes import FakeModel
from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import (
    CapReachedError,
    CredentialError,
    EmbeddingError,
    ModelError,
    ReadGateError,
    RetrievalError,
)
from evaluator.core.messages import ModelRequest, Reply, Usage
from evaluator.core.outcome import Answered, Failed
from evaluator.core.ports import Model
from evaluator.core.settings import GateSettings, LimitSettings, ProtocolSettings
from evaluator.core.trajectory import Searched, Trajectory, WasRead
from evaluator.evidence.entities.by_rule import entities
from evaluator.run.clocks import InstantClock
from evaluator.run.episode import run_episode
from evaluator.run.grid import Plan
from index_builder.records import Chunk, Hit, IndexedQuestion

CHUNKS = (Chunk("c1", "Ada", "Ada was born in Oslo."), Chunk("c2", "Bo", "Bo was born in Bergen."))
QUESTION = IndexedQuestion("q1", "Where was Ada born?", ("Oslo", "Kristiania"), "bridge", 1, ("c1",))


class Library:
    """A shelf as a library."""

    def __init__(self, error: ReadGateError | None = None) -> None:
        self._shelf = Shelf(CHUNKS)
        self._error = error

    async def search(self, query: str) -> tuple[Hit, ...]:
        if self._error:
            raise self._error
        return self._shelf.search(query)

    def read(self, chunk_id: str) -> Chunk | None:
        if self._error:
            raise self._error
        return self._shelf.read(chunk_id)


def plan(trajectory_seconds: float = 900) -> Plan:
    return Plan(
        trajectory_id="t1",
        cell=Cell("d", "c"),
        question=QUESTION,
        controller="m",
        gate=GateSettings(mode="enforce"),
        protocol=ProtocolSettings(),
        retriever="hybrid",
        limits=LimitSettings(trajectory_seconds=trajectory_seconds),
        repeat=1,
        seed=12,
        reply_tokens=100,
    )


def run(
    model: Model,
    *,
    library: Library | None = None,
    clock: InstantClock | None = None,
    trajectory_seconds: float = 900,
) -> Trajectory:
    return asyncio.run(
        run_episode(plan(trajectory_seconds), model, library or Library(), clock or InstantClock(), entities)
    )


def test_an_episode_searches_reads_and_answers() -> None:
    model = FakeModel(
        [
            calls(("search", {"query": "Ada born"})),
            calls(("read", {"chunk_id": "c1"})),
            calls(("final", {"answer": "Oslo"})),
        ]
    )
    trajectory = run(model)
    assert trajectory.outcome == Answered("Oslo")
    assert (trajectory.trajectory_id, trajectory.cell, trajectory.question_id) == ("t1", Cell("d", "c"), "q1")
    assert trajectory.answers == ("Oslo", "Kristiania")
    assert trajectory.gold_chunks == ("c1",)
    assert (trajectory.search_count, trajectory.read_count, trajectory.turns) == (1, 1, 3)
    (searched,) = (step for step in trajectory.steps if isinstance(step, Searched))
    assert [hit.chunk_id for hit in searched.hits] == ["c1", "c2"]
    (was_read,) = (step for step in trajectory.steps if isinstance(step, WasRead))
    assert was_read.text == CHUNKS[0].text


def test_every_call_is_tagged_with_its_cell_trajectory_and_turn_and_bears_the_seed() -> None:
    model = FakeModel(
        [calls(("search", {"query": "Ada"})), calls(("read", {"chunk_id": "c1"})), Reply("Oslo")]
    )
    run(model)
    tags = [tag for _, tag in model.asked]
    assert tags == [CallTag("agent", Cell("d", "c"), "t1", judge="", turn=turn) for turn in (1, 2, 3)]
    assert {request.seed for request, _ in model.asked} == {12}


def test_the_room_kept_for_a_reply_is_the_controller_s() -> None:
    nearly_full = replace(calls(("read", {"chunk_id": "c1"})), usage=Usage(input_tokens=127_000))
    # 127,000 and the chunk leave less than 1,000 of 128,000: room for 100 tokens, not for 2,000.
    assert run(FakeModel([nearly_full, calls(("final", {"answer": "Oslo"}))])).outcome == Answered("Oslo")
    greedy = replace(plan(), reply_tokens=2_000)
    model = FakeModel([nearly_full, Reply("Oslo")])
    forced = asyncio.run(run_episode(greedy, model, Library(), InstantClock(), entities))
    assert forced.outcome == Answered("Oslo", forced=True)


def test_what_was_used_is_added_up() -> None:
    model = FakeModel([Reply("Oslo", usage=Usage(10, 4, 3, 1), cost_usd=0.25)])
    trajectory = run(model)
    assert (trajectory.usage, trajectory.cost_usd) == (Usage(10, 4, 3, 1), 0.25)


def test_time_is_the_clock_s() -> None:
    clock = InstantClock()

    class Slow:
        async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
            del request, tag
            await clock.sleep(90)
            return Reply("Oslo")

    asyncio.run(clock.sleep(3600))
    trajectory = run(Slow(), clock=clock)
    assert trajectory.started_at == "2026-01-01T01:00:00.000000Z"
    assert trajectory.seconds == 90


def test_a_model_that_cannot_be_made_to_answer_fails_the_episode_and_keeps_its_steps() -> None:
    model = FakeModel([calls(("search", {"query": "Ada"})), ModelError("HTTP 500, six times")])
    trajectory = run(model)
    assert trajectory.outcome == Failed("model", "HTTP 500, six times")
    assert trajectory.search_count == 1


@pytest.mark.parametrize("call", [("search", {"query": "Ada"}), ("read", {"chunk_id": "c1"})])
def test_a_library_that_breaks_fails_the_episode(call: tuple[str, dict[str, object]]) -> None:
    trajectory = run(FakeModel([calls(call)]), library=Library(RetrievalError("the index is gone")))
    assert trajectory.outcome == Failed("retrieval", "the index is gone")


def test_a_query_that_the_embedding_model_fails_on_fails_its_episode_alone() -> None:
    model = FakeModel([calls(("search", {"query": "Ada"}))])
    trajectory = run(model, library=Library(EmbeddingError("vectors without a direction")))
    assert trajectory.outcome == Failed(
        "retrieval", "a query could not be embedded: vectors without a direction"
    )


def test_a_trajectory_that_takes_too_long_fails_at_its_deadline() -> None:
    first = calls(("search", {"query": "Ada"}))

    class Hung:
        def __init__(self) -> None:
            self.answers = iter([first])

        async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
            del request, tag
            for answer in self.answers:
                return answer
            await asyncio.Event().wait()
            raise AssertionError

    trajectory = run(Hung(), trajectory_seconds=0.05)
    assert trajectory.outcome == Failed("deadline", "the trajectory took longer than 0.05 s")
    assert trajectory.search_count == 1


@pytest.mark.parametrize("error", [CapReachedError("cap"), CredentialError("key"), RuntimeError("a defect")])
def test_what_is_not_the_episode_s_own_passes_through(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        run(FakeModel([error]))


def test_cancelling_leaves_no_trajectory() -> None:
    async def go(make: Callable[[], Model]) -> None:
        task = asyncio.create_task(run_episode(plan(), make(), Library(), InstantClock(), entities))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    class Hung:
        async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
            del request, tag
            await asyncio.Event().wait()
            raise AssertionError

    asyncio.run(go(Hung))
