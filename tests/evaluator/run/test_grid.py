"""The grid: which trajectories there are, in which order, under which ids."""

import hashlib
import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.core.cell import Cell
from evaluator.core.settings import Experiment, parse_experiment
from evaluator.run.grid import Grid, plan_grid, request_seed, sample
from index_builder.records import IndexedQuestion

TOML = """
name = "t"
seed = 7
[[dataset]]
name = "d1"
bundle = "b1"
[[dataset]]
name = "d2"
bundle = "b2"
[[condition]]
name = "plain"
controller = "m"
[[condition]]
name = "rerun"
controller = "m"
repeat = 2
[[condition]]
name = "gated"
controller = "m"
prompt = "strict"
retriever = "bm25"
gate = { mode = "enforce" }
[controller.m]
provider = "scripted"
model = "hasty"
base_url = "http://127.0.0.1:1/v1"
api_key_env = "KEY"
"""


def question(name: str) -> IndexedQuestion:
    return IndexedQuestion(name, f"Who is {name}?", ("gold",), "bridge", 2, None)


QUESTIONS = {"d1": [question(f"a{n}") for n in range(5)], "d2": [question(f"b{n}") for n in range(3)]}
HASHES = {"d1": "h1", "d2": "h2"}


def experiment(*changes: tuple[str, str]) -> Experiment:
    text = TOML
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return parse_experiment(text, "t.toml")


def grid(
    *changes: tuple[str, str],
    questions: Mapping[str, list[IndexedQuestion]] = QUESTIONS,
    hashes: Mapping[str, str] = HASHES,
    wording: str = "w",
    limit: int | None = None,
) -> Grid:
    return plan_grid(experiment(*changes), questions, hashes, wording, limit)


def ids(planned: Grid) -> dict[tuple[Cell, str], str]:
    return {(plan.cell, plan.question.question_id): plan.trajectory_id for plan in planned.plans}


def test_every_question_meets_every_condition_of_its_dataset_once() -> None:
    planned = grid()
    assert len(ids(planned)) == len(planned.plans) == (5 + 3) * 3
    assert len({plan.trajectory_id for plan in planned.plans}) == 24
    assert planned.expected == {
        Cell(dataset, condition): n
        for dataset, n in (("d1", 5), ("d2", 3))
        for condition in ("plain", "rerun", "gated")
    }
    assert planned.notes == ()


def test_the_arms_of_a_question_stand_together_and_datasets_take_turns() -> None:
    order = [(plan.cell.dataset, plan.question.question_id, plan.cell.condition) for plan in grid().plans]
    triples = [order[start : start + 3] for start in range(0, 24, 3)]
    for triple in triples:
        assert [condition for _, _, condition in triple] == ["plain", "rerun", "gated"]
        assert len({question_id for _, question_id, _ in triple}) == 1
    assert [triple[0][0] for triple in triples] == ["d1", "d2"] * 3 + ["d1", "d1"]


def test_a_plan_bears_what_its_condition_says() -> None:
    plans = {plan.cell.condition: plan for plan in grid().plans}
    assert (plans["plain"].protocol.prompt, plans["gated"].protocol.prompt) == ("default", "strict")
    assert (plans["plain"].retriever, plans["gated"].retriever) == ("hybrid", "bm25")
    assert (plans["plain"].gate.mode, plans["gated"].gate.mode) == ("off", "enforce")
    assert (plans["plain"].repeat, plans["rerun"].repeat) == (1, 2)
    assert plans["plain"].reply_tokens == 16_384
    shorter = grid(('model = "hasty"', 'model = "hasty"\nmax_output_tokens = 512'))
    assert {plan.reply_tokens for plan in shorter.plans} == {512}


def test_the_id_is_the_start_of_the_sha256_of_key_sorted_json() -> None:
    plan = next(plan for plan in grid().plans if plan.cell == Cell("d1", "rerun"))
    tree = {
        "dataset": "d1",
        "condition": "rerun",
        "question_id": plan.question.question_id,
        "bundle": "h1",
        "controller": {
            "provider": "scripted",
            "model": "hasty",
            "reasoning_effort": None,
            "thinking_budget": None,
            "service_tier": None,
            "max_output_tokens": 16384,
            "send_seed": False,
            "allow_other_models": False,
        },
        "gate": {
            "mode": "off",
            "rules": ["read"],
            "inject": "none",
            "max_corrections": None,
            "when_exhausted": "accept",
        },
        "protocol": {
            "k": 5,
            "depth": 100,
            "snippet": "lead:200",
            "prompt": "default",
            "tool_choice": "auto",
            "parallel_tool_calls": False,
            "decline": "answered",
            "retriever": "hybrid",
            "wording_sha256": "w",
        },
        "repeat": 2,
        "limits": {"turns": 10, "tokens": 128000},
        "seed": 7,
    }
    canonical = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    assert plan.trajectory_id == hashlib.sha256(canonical.encode()).hexdigest()[:32]


@pytest.mark.parametrize(
    "change",
    [
        ('name = "t"', 'name = "t"\nrate = { trajectories = 2 }'),
        ('name = "t"', 'name = "t"\nbudget = { usd = 2 }'),
        ('name = "t"', 'name = "t"\nlimits = { call_seconds = 2, trajectory_seconds = 3 }'),
        ("127.0.0.1:1", "127.0.0.1:2"),
        ('"KEY"', '"OTHER_KEY"'),
        ('bundle = "b1"', 'bundle = "elsewhere/b1"'),
    ],
)
def test_what_may_change_on_resume_leaves_every_id_as_it_was(change: tuple[str, str]) -> None:
    assert ids(grid(change)) == ids(grid())


@pytest.mark.parametrize(
    "change",
    [
        ("seed = 7", "seed = 8"),
        ('name = "t"', 'name = "t"\nlimits = { turns = 9 }'),
        ('name = "t"', 'name = "t"\nlimits = { tokens = 9000 }'),
        ('name = "t"', 'name = "t"\nprotocol = { k = 4 }'),
        ('name = "t"', 'name = "t"\nprotocol = { depth = 50 }'),
        ('name = "t"', 'name = "t"\nprotocol = { snippet = "lead:201" }'),
        ('name = "t"', 'name = "t"\nprotocol = { snippet = "best-sentences:200" }'),
        ('model = "hasty"', 'model = "diligent"'),
    ],
)
def test_what_makes_a_trajectory_what_it_is_changes_every_id(change: tuple[str, str]) -> None:
    assert set(ids(grid(change)).values()).isdisjoint(ids(grid()).values())


def test_another_bundle_changes_the_ids_of_its_dataset_alone() -> None:
    before, after = ids(grid()), ids(grid(hashes={"d1": "h1", "d2": "other"}))
    assert {key for key in before if before[key] != after[key]} == {
        key for key in before if key[0].dataset == "d2"
    }


def test_another_wording_changes_every_id() -> None:
    assert set(ids(grid(wording="v")).values()).isdisjoint(ids(grid()).values())


def test_arms_of_one_repeat_share_their_seed_and_a_rerun_has_another() -> None:
    seeds = {(plan.cell, plan.question.question_id): plan.seed for plan in grid().plans}
    for dataset, questions in QUESTIONS.items():
        for each in questions:
            plain, rerun, gated = (
                seeds[Cell(dataset, condition), each.question_id] for condition in ("plain", "rerun", "gated")
            )
            assert plain == gated != rerun
    assert len(set(seeds.values())) == 8 * 2


@given(st.integers(0, 2**40), st.text(), st.text(), st.integers(1, 9))
def test_request_seeds_fit_a_signed_32_bit_integer(seed: int, dataset: str, name: str, repeat: int) -> None:
    assert 0 <= request_seed(seed, dataset, name, repeat) < 2**31


def test_another_dataset_or_condition_changes_nothing_for_those_that_were_there() -> None:
    only = experiment(
        ('[[dataset]]\nname = "d2"\nbundle = "b2"\n', ""),
        ('[[condition]]\nname = "rerun"\ncontroller = "m"\nrepeat = 2\n', ""),
        ("seed = 7", "seed = 7\nquestions = 2"),
    )
    small = ids(plan_grid(only, QUESTIONS, HASHES, "w"))
    whole = ids(grid(("seed = 7", "seed = 7\nquestions = 2")))
    assert len(small) == 2 * 2
    assert small.items() <= whole.items()


@given(st.permutations(range(20)), st.integers(0, 20), st.integers(0, 3))
def test_a_sample_depends_on_seed_and_ids_and_not_on_the_order_of_the_file(
    order: list[int], size: int, seed: int
) -> None:
    questions = [question(f"q{n}") for n in range(20)]
    chosen = sample([questions[n] for n in order], seed, size)
    assert chosen == sample(questions, seed, size)
    assert chosen == sample(questions, seed, 20)[:size]
    assert set(chosen) <= set(questions)


def test_different_seeds_choose_different_questions() -> None:
    questions = [question(f"q{n}") for n in range(200)]
    assert set(sample(questions, 1, 50)) != set(sample(questions, 2, 50))


def test_a_limit_takes_the_first_questions_of_each_cell_and_keeps_the_expected_counts() -> None:
    limited, whole = grid(limit=2), grid()
    assert len(limited.plans) == 2 * 2 * 3
    assert limited.plans == whole.plans[: len(limited.plans)]
    assert limited.expected == whole.expected


def test_asking_for_more_than_there_is_uses_all_of_it_and_says_so() -> None:
    planned = grid(("seed = 7", "seed = 7\nquestions = 4"), limit=9)
    assert planned.expected[Cell("d1", "plain")] == 4
    assert planned.expected[Cell("d2", "plain")] == 3
    assert len(planned.plans) == (4 + 3) * 3
    assert planned.notes == (
        "d1 has 4 questions a cell, fewer than the limit 9: all are used",
        "d2 has 3 questions, fewer than the 4 asked for: all are used",
        "d2 has 3 questions a cell, fewer than the limit 9: all are used",
    )
