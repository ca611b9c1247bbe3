"""Lays out an experiment as the list of its trajectories, each with everything that makes it what it is.

Questions are sampled by seed and id alone, so every arm has the same ones, and another dataset or
condition changes nothing. The arms of one question stand next to each other, so that whatever drifts
during a run drifts for all of them alike.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluator.core.cell import Cell, trajectory_id
from evaluator.core.settings import (
    ConditionSettings,
    DatasetSettings,
    Experiment,
    GateSettings,
    LimitSettings,
    ProtocolSettings,
    Retriever,
)
from index_builder.records import IndexedQuestion

SEED_BITS = 31
"""Seeds of requests fit a signed 32-bit integer, which every provider takes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One trajectory to be run.

    Attributes:
        controller: The name of its [controller.*] table.
        protocol: With the condition's own prompt, where it has one.
        retriever: Which ranking its searches show.
        repeat: 1, or more for a rerun arm.
        seed: Of its requests; equal in all arms of one question and repeat.
        reply_tokens: Room for one reply of the controller.
    """

    trajectory_id: str
    cell: Cell
    question: IndexedQuestion
    controller: str
    gate: GateSettings
    protocol: ProtocolSettings
    retriever: Retriever
    limits: LimitSettings
    repeat: int
    seed: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class Grid:
    """All trajectories to be run, in the order to run them.

    Attributes:
        expected: Trajectories of the full experiment by cell, whatever the limit.
        notes: What a person should know: more was asked for than there is.
    """

    plans: tuple[Plan, ...]
    expected: Mapping[Cell, int]
    notes: tuple[str, ...]


def plan_grid(
    experiment: Experiment,
    questions: Mapping[str, Sequence[IndexedQuestion]],
    bundle_hashes: Mapping[str, str],
    wording_sha256: str,
    limit: int | None = None,
) -> Grid:
    """Lay out an experiment.

    Args:
        experiment: The resolved settings.
        questions: All questions of each dataset.
        bundle_hashes: By dataset.
        wording_sha256: Of every text the environment can send; part of the protocol.
        limit: Questions per cell to run now; the full experiment stays what it is.
    """
    sampled = {
        dataset.name: sample(questions[dataset.name], experiment.seed, experiment.questions)
        for dataset in experiment.dataset
    }
    expected = {
        Cell(dataset.name, condition.name): len(sampled[dataset.name])
        for dataset in experiment.dataset
        for condition in experiment.condition
    }
    plans = tuple(
        _plan(experiment, dataset, condition, question, bundle_hashes[dataset.name], wording_sha256)
        for dataset, question in _interleaved(experiment, sampled, limit)
        for condition in experiment.condition
    )
    return Grid(plans, expected, tuple(_notes(experiment, questions, sampled, limit)))


def sample(questions: Sequence[IndexedQuestion], seed: int, size: int | None) -> tuple[IndexedQuestion, ...]:
    """The first ``size`` questions (None = all) in the order of a hash of seed and id."""
    ordered = sorted(questions, key=lambda question: _digest(seed, question.question_id))
    return tuple(ordered[:size])


def request_seed(seed: int, dataset: str, question_id: str, repeat: int) -> int:
    """The seed of a trajectory's requests, from the question and the repeat and nothing of the arm."""
    return int.from_bytes(_digest(seed, dataset, question_id, repeat)[:4]) >> (32 - SEED_BITS)


def _interleaved(
    experiment: Experiment, sampled: Mapping[str, Sequence[IndexedQuestion]], limit: int | None
) -> Iterator[tuple[DatasetSettings, IndexedQuestion]]:
    """The first question of every dataset, then the second of every dataset, and so on."""
    longest = max(len(each) for each in sampled.values())
    for position in range(longest if limit is None else min(longest, limit)):
        for dataset in experiment.dataset:
            if position < len(sampled[dataset.name]):
                yield dataset, sampled[dataset.name][position]


def _plan(
    experiment: Experiment,
    dataset: DatasetSettings,
    condition: ConditionSettings,
    question: IndexedQuestion,
    bundle_hash: str,
    wording_sha256: str,
) -> Plan:
    prompt = condition.prompt or experiment.protocol.prompt
    protocol = experiment.protocol.model_copy(update={"prompt": prompt})
    controller = experiment.controller[condition.controller]
    identity = {
        "dataset": dataset.name,
        "condition": condition.name,
        "question_id": question.question_id,
        "bundle": bundle_hash,
        "controller": controller.model_dump(mode="json", exclude={"base_url", "api_key_env"}),
        "gate": condition.gate.model_dump(mode="json"),
        "protocol": {
            **protocol.model_dump(mode="json"),
            "retriever": condition.retriever,
            "wording_sha256": wording_sha256,
        },
        "repeat": condition.repeat,
        "limits": {"turns": experiment.limits.turns, "tokens": experiment.limits.tokens},
        "seed": experiment.seed,
    }
    return Plan(
        trajectory_id=trajectory_id(identity),
        cell=Cell(dataset.name, condition.name),
        question=question,
        controller=condition.controller,
        gate=condition.gate,
        protocol=protocol,
        retriever=condition.retriever,
        limits=experiment.limits,
        repeat=condition.repeat,
        seed=request_seed(experiment.seed, dataset.name, question.question_id, condition.repeat),
        reply_tokens=controller.max_output_tokens,
    )


def _notes(
    experiment: Experiment,
    questions: Mapping[str, Sequence[IndexedQuestion]],
    sampled: Mapping[str, Sequence[IndexedQuestion]],
    limit: int | None,
) -> Iterator[str]:
    for dataset in experiment.dataset:
        there, taken = len(questions[dataset.name]), len(sampled[dataset.name])
        asked = experiment.questions
        if asked is not None and asked > there:
            yield f"{dataset.name} has {there} questions, fewer than the {asked} asked for: all are used"
        if limit is not None and limit > taken:
            yield f"{dataset.name} has {taken} questions a cell, fewer than the limit {limit}: all are used"


def _digest(*parts: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
