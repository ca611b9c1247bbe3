"""Rules and the decision: pure functions of settings, evidence and the proposed answer.

``fire`` judges by every rule, whatever the gate's mode, so that any gate can be scored on any recorded
run; ``decide`` looks only at the rules that the gate names.
"""

import math

from evaluator.core.ports import EntityExtractor
from evaluator.core.settings import GateSettings
from evaluator.core.trajectory import Decision, Fired
from evaluator.evidence.coverage import low_evidence, snippet_only
from evaluator.gates.evidence import Evidence


def fire(question: str, answer: str, evidence: Evidence, extract: EntityExtractor) -> Fired:
    """The ruling of every rule on a proposed answer.

    ``read`` fires when the agent searched, was shown at least one chunk, and read none: with nothing
    to read, asking for a read would be asking for the impossible.
    """
    return Fired(
        read=evidence.search_count > 0 and evidence.read_count == 0 and bool(evidence.shown_chunks),
        snippet=snippet_only(answer, question, evidence.shown_text, evidence.read_text, extract),
        low_evidence=low_evidence(question, evidence.read_text, extract),
    )


def counts(gate: GateSettings, fired: Fired) -> bool:
    """Whether any rule that the gate names has fired."""
    return any(getattr(fired, rule) is True for rule in gate.rules)


def decide(gate: GateSettings, fired: Fired, corrections_so_far: int) -> Decision:
    """What the environment does with an unforced ``final``.

    Args:
        gate: The condition's gate.
        fired: The ruling of every rule.
        corrections_so_far: Finals of this episode that were rejected or answered with a passage.
    """
    if gate.mode == "off" or not counts(gate, fired):
        return "accepted"
    if gate.mode == "shadow":
        return "shadowed"
    if corrections_so_far >= _most_corrections(gate):
        return "exhausted"
    return "rejected" if gate.inject == "none" else "injected"


def _most_corrections(gate: GateSettings) -> float:
    """How many corrections an episode may get; a passage is injected once, and later finals are let pass."""
    most = math.inf if gate.max_corrections is None else gate.max_corrections
    return most if gate.inject == "none" else min(most, 1)
