"""The gate's words, their hash, and the production preset."""

import hashlib
import json

from evaluator.gates.spec import (
    CORRECTIVE,
    GATE_WORDING,
    INJECTED_PREFIX,
    NEUTRAL,
    PRODUCTION,
    gate_wording_sha256,
)


def test_the_hash_covers_all_that_a_gate_can_say() -> None:
    assert sorted(GATE_WORDING.values()) == sorted([CORRECTIVE, NEUTRAL, INJECTED_PREFIX])
    canonical = json.dumps(dict(GATE_WORDING), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert gate_wording_sha256() == hashlib.sha256(canonical.encode()).hexdigest()


def test_only_the_corrective_observation_asks_for_a_read() -> None:
    assert "read tool" in CORRECTIVE
    assert "read" not in NEUTRAL.replace("ready", "")
    assert "read" not in INJECTED_PREFIX


def test_the_production_preset_corrects_at_most_twice_and_then_abstains() -> None:
    assert (PRODUCTION.mode, PRODUCTION.rules, PRODUCTION.inject) == ("enforce", ("read",), "none")
    assert (PRODUCTION.max_corrections, PRODUCTION.when_exhausted) == (2, "abstain")
