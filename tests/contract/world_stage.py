"""Plays arms of the shipped quickstart in a small generated world, in one process and without HTTP."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from evaluator.controllers.fakes import FakeModel
from evaluator.controllers.scripted.in_process import InProcessModel
from evaluator.controllers.scripted.judging import is_correct
from evaluator.core.cell import CallTag
from evaluator.core.messages import ModelRequest, Reply
from evaluator.core.outcome import Answered
from evaluator.core.settings import Experiment, ProtocolSettings, parse_experiment
from evaluator.core.trajectory import Trajectory
from evaluator.evidence.entities.by_rule import entities
from evaluator.run.clocks import InstantClock
from evaluator.run.episode import run_episode
from evaluator.run.grid import Plan, plan_grid
from index_builder.build import Recipe, write_bundle
from index_builder.bundle import open_bundle
from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import read_corpus
from index_builder.datasets.world import write_world
from index_builder.datasets.world.layout import LATE_SHARE
from index_builder.hybrid import HybridSearch
from index_builder.records import Chunk, Dataset, Hit, Passage

SETS = ("hotpotqa", "two_wiki", "musique")
Rewrite = Callable[[Passage], Iterable[Passage]]


@dataclass(frozen=True)
class World:
    """The three sets of one world, as their loaders read them."""

    sets: Mapping[str, tuple[Dataset, tuple[Passage, ...]]]


@dataclass(frozen=True)
class Played:
    """One arm on one set: its trajectories and the requests its model was sent, by question."""

    trajectories: Mapping[str, Trajectory]
    requests: Mapping[str, Sequence[ModelRequest]]

    @property
    def right(self) -> dict[str, bool]:
        """Whether the scripted judge takes the answer."""
        return {i: is_correct(t.answers, answer_of(t)) for i, t in self.trajectories.items()}

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return sum(self.right.values()) / len(self.trajectories)

    @property
    def zero_read_rate(self) -> float:
        """The share of questions for which nothing was read."""
        return sum(t.read_count == 0 for t in self.trajectories.values()) / len(self.trajectories)

    def against(self, baseline: "Played") -> tuple[int, int]:
        """Questions gained and lost."""
        before, after = baseline.right, self.right
        gained = sum(after[i] and not before[i] for i in before)
        return gained, sum(before[i] and not after[i] for i in before)


class WithoutThread:
    """A library searched in the calling thread; ``alter`` may change every chunk's text as it is shown."""

    def __init__(self, search: HybridSearch, alter: Callable[[str, str], str]) -> None:
        self._search = search
        self._alter = alter

    async def search(self, query: str) -> tuple[Hit, ...]:
        """The hits of one query."""
        hits = self._search.search_batch([query])[0]
        return tuple(
            Hit(hit.chunk_id, hit.rank, hit.score, hit.title, self._alter(hit.chunk_id, hit.snippet))
            for hit in hits
        )

    def read(self, chunk_id: str) -> Chunk | None:
        """The chunk."""
        chunk = self._search.read(chunk_id)
        return chunk and Chunk(chunk_id, chunk.title, self._alter(chunk_id, chunk.text))


def answer_of(trajectory: Trajectory) -> str:
    """The answer, "" when there is none."""
    return trajectory.outcome.answer if isinstance(trajectory.outcome, Answered) else ""


def make_world(folder: Path, *, questions: int, passages: int, late_share: float = LATE_SHARE) -> World:
    """Write a world and load it again through the official loaders."""
    summary = write_world(folder, questions=questions, passages=passages, seed=7, late_share=late_share)
    return World(
        {
            each.dataset: (LOADERS[each.dataset](each.source), tuple(read_corpus(each.corpus)))
            for each in summary.sets
        }
    )


def as_it_is(passage: Passage) -> Iterable[Passage]:
    """No change."""
    return [passage]


def play(
    world: World,
    folder: Path,
    arms: Sequence[str],
    *,
    dataset: str = "hotpotqa",
    rewrite: Rewrite = as_it_is,
    snippet: str = "lead:200",
    alter: Callable[[str, str], str] = lambda _, text: text,
) -> dict[str, Played]:
    """Run arms of the quickstart on one set.

    Args:
        world: Where the set comes from.
        folder: Where its bundle is built.
        arms: Names of conditions.
        dataset: The set.
        rewrite: What becomes of every passage before it is indexed.
        snippet: What a search result shows.
        alter: What becomes of every text, given its chunk id, as it is shown.
    """
    questions, passages = world.sets[dataset]
    bundle = folder / dataset
    rewritten = [changed for passage in passages for changed in rewrite(passage)]
    write_bundle(questions, rewritten, Recipe(dataset, "passage", 7, None, {}), bundle, lambda *_: None)
    opened = open_bundle(bundle, verify_hashes=False)
    search = HybridSearch(opened, retriever="bm25", snippet=snippet)
    try:
        experiment = _arms(arms, dataset, snippet)
        grid = plan_grid(experiment, {dataset: opened.questions}, {dataset: "0" * 64}, "0" * 64)
        library = WithoutThread(search, alter)
        return asyncio.run(_run(experiment, grid.plans, library))
    finally:
        search.close()


def _arms(arms: Sequence[str], dataset: str, snippet: str) -> Experiment:
    """The shipped quickstart, cut down to some arms and one set."""
    text = (files("evaluator") / "experiments" / "quickstart.toml").read_text(encoding="utf-8")
    whole = parse_experiment(text, "quickstart")
    return whole.model_copy(
        update={
            "questions": None,
            "dataset": tuple(each for each in whole.dataset if each.name == dataset),
            "condition": tuple(each for each in whole.condition if each.name in arms),
            "pair": (),
            "protocol": ProtocolSettings(snippet=snippet),
        }
    )


def _answering(program: str) -> Callable[[ModelRequest, CallTag], Reply]:
    model = InProcessModel(program)
    return lambda request, _tag: model.reply(request)


async def _run(experiment: Experiment, plans: Iterable[Plan], library: WithoutThread) -> dict[str, Played]:
    programs = {name: _answering(settings.model) for name, settings in experiment.controller.items()}
    trajectories: dict[str, dict[str, Trajectory]] = {each.name: {} for each in experiment.condition}
    requests: dict[str, dict[str, Sequence[ModelRequest]]] = {each.name: {} for each in experiment.condition}
    for plan in plans:
        model = FakeModel(programs[plan.controller])
        arm, question = plan.cell.condition, plan.question.question_id
        trajectories[arm][question] = await run_episode(plan, model, library, InstantClock(), entities)
        requests[arm][question] = [request for request, _ in model.asked]
    return {arm: Played(trajectories[arm], requests[arm]) for arm in trajectories}
