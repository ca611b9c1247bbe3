"""The gate's words, and the production preset."""

from evaluator.gates.spec import CORRECTIVE, GATE_WORDING, INJECTED_PREFIX, NEUTRAL, PRODUCTION


def test_the_wording_that_is_hashed_is_all_that_a_gate_can_say() -> None:
    assert sorted(GATE_WORDING.values()) == sorted([CORRECTIVE, NEUTRAL, INJECTED_PREFIX])


def test_only_the_corrective_observation_asks_for_a_read() -> None:
    assert "read tool" in CORRECTIVE
    assert "read" not in NEUTRAL.replace("ready", "")
    assert "read" not in INJECTED_PREFIX


def test_the_production_preset_corrects_at_most_twice_and_then_abstains() -> None:
    assert (PRODUCTION.mode, PRODUCTION.rules, PRODUCTION.inject) == ("enforce", ("read",), "none")
    assert (PRODUCTION.max_corrections, PRODUCTION.when_exhausted) == (2, "abstain")
