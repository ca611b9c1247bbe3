"""Rules fire on evidence; a gate decides on what fired."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.core.settings import GateSettings, RuleName
from evaluator.core.trajectory import Fired
from evaluator.evidence.entities.by_rule import entities
from evaluator.gates.decide import counts, decide, fire
from evaluator.gates.evidence import Evidence

QUESTION = "Which country is Lyon in?"
FIRED = st.builds(
    Fired, read=st.booleans(), snippet=st.none() | st.booleans(), low_evidence=st.none() | st.booleans()
)
YES = Fired(read=True, snippet=True, low_evidence=True)
NO = Fired(read=False, snippet=False, low_evidence=False)


def evidence(searches: int, reads: int, shown: int, *, shown_text: str = "", read_text: str = "") -> Evidence:
    chunks = tuple(f"c{n}" for n in range(shown))
    return Evidence(searches, reads, chunks, chunks[:reads], shown_text, read_text)


@pytest.mark.parametrize(
    ("searches", "reads", "shown", "expected"),
    [
        (1, 0, 5, True),
        (3, 0, 1, True),
        (0, 0, 0, False),  # never searched
        (0, 0, 5, False),  # nor does anything shown without a search set it off
        (1, 0, 0, False),  # nothing was shown: there is nothing to read
        (1, 1, 5, False),
        (0, 1, 0, False),
    ],
)
def test_read_fires_after_searching_without_reading_when_something_was_shown(
    searches: int, reads: int, shown: int, *, expected: bool
) -> None:
    assert fire(QUESTION, "France", evidence(searches, reads, shown), entities).read is expected


def test_snippet_and_low_evidence_fire_as_their_labels() -> None:
    seen = evidence(1, 1, 5, shown_text="Lyon is in France", read_text="nothing of it")
    assert fire(QUESTION, "France", seen, entities) == Fired(read=False, snippet=True, low_evidence=True)
    read = evidence(1, 1, 5, shown_text="Lyon is in France", read_text="Lyon is in France")
    assert fire(QUESTION, "France", read, entities) == NO


def test_a_rule_without_entities_has_no_ruling() -> None:
    assert fire("who is it?", "yes", evidence(1, 0, 5), entities) == Fired(
        read=True, snippet=None, low_evidence=None
    )


@pytest.mark.parametrize(
    ("rules", "fired", "expected"),
    [
        (("read",), Fired(read=False, snippet=True, low_evidence=True), False),
        (("snippet",), Fired(read=True, snippet=None, low_evidence=True), False),
        (("snippet", "low_evidence"), Fired(read=False, snippet=None, low_evidence=True), True),
        (("read", "snippet", "low_evidence"), NO, False),
    ],
)
def test_only_the_named_rules_count_and_an_unknown_ruling_does_not(
    rules: tuple[RuleName, ...], fired: Fired, *, expected: bool
) -> None:
    assert counts(GateSettings(mode="shadow", rules=rules), fired) is expected


@given(FIRED, st.integers(0, 9))
def test_off_accepts_whatever_fired(fired: Fired, so_far: int) -> None:
    assert decide(GateSettings(), fired, so_far) == "accepted"


@given(st.sampled_from(["shadow", "enforce"]), st.integers(0, 9))
def test_what_did_not_fire_is_accepted(mode: str, so_far: int) -> None:
    assert decide(GateSettings.model_validate({"mode": mode}), NO, so_far) == "accepted"


@given(st.integers(0, 9), st.none() | st.integers(0, 5))
def test_shadow_only_records(so_far: int, most: int | None) -> None:
    assert decide(GateSettings(mode="shadow", max_corrections=most), YES, so_far) == "shadowed"


@given(st.integers(0, 9), st.none() | st.integers(0, 9))
def test_enforce_rejects_until_the_corrections_are_used_up(so_far: int, most: int | None) -> None:
    expected = "rejected" if most is None or so_far < most else "exhausted"
    assert decide(GateSettings(mode="enforce", max_corrections=most), YES, so_far) == expected


@pytest.mark.parametrize("role", ["user", "tool"])
@pytest.mark.parametrize(
    ("most", "so_far", "expected"),
    [
        (None, 0, "injected"),
        (2, 0, "injected"),
        (None, 1, "exhausted"),
        (2, 1, "exhausted"),
        (0, 0, "exhausted"),
    ],
)
def test_a_passage_is_injected_once(role: str, most: int | None, so_far: int, expected: str) -> None:
    gate = GateSettings.model_validate({"mode": "enforce", "inject": role, "max_corrections": most})
    assert decide(gate, YES, so_far) == expected
