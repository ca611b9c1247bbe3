"""What a model had been sent by the time it wrote a reply: the only thing a gate rules on.

Tool calls of one reply are written before any of their results is seen, so searches and reads of the
same reply are no evidence for a ``final`` in it. Labels of finished trajectories use the same function.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.core.outcome import Answered, Outcome
from evaluator.core.trajectory import Asked, Ruled, Searched, Step, WasRead


@dataclass(frozen=True, slots=True)
class Evidence:
    """Searches and reads up to some reply.

    Attributes:
        search_count: Searches executed, those without hits included.
        read_count: Distinct existing chunks whose full text was returned.
        shown_chunks: Distinct ids in result lists, in order of first appearance.
        read_chunks: Distinct ids of read chunks, in order.
        shown_text: Title and snippet of every result.
        read_text: Title and text of every read chunk; injected passages are not read text.
    """

    search_count: int
    read_count: int
    shown_chunks: tuple[str, ...]
    read_chunks: tuple[str, ...]
    shown_text: str
    read_text: str


def evidence_before(steps: Iterable[Step], turn: int | None) -> Evidence:
    """The evidence of the reply of that turn: all steps of earlier turns. None takes every step."""
    earlier = [step for step in steps if turn is None or step.turn < turn]
    searches = [step for step in earlier if isinstance(step, Searched)]
    reads = [step for step in earlier if isinstance(step, WasRead) and step.new]
    hits = [hit for search in searches for hit in search.hits]
    return Evidence(
        search_count=len(searches),
        read_count=len(reads),
        shown_chunks=tuple(dict.fromkeys(hit.chunk_id for hit in hits)),
        read_chunks=tuple(read.chunk_id for read in reads),
        shown_text="\n".join(dict.fromkeys(f"{hit.title}\n{hit.snippet}" for hit in hits)),
        read_text="\n".join(f"{read.title}\n{read.text}" for read in reads),
    )


def final_evidence(steps: Sequence[Step], outcome: Outcome) -> Evidence:
    """The evidence of a finished trajectory: that of its last ``final``, everything if there is none.

    A forced answer is no ``final``: it was written with everything in view.
    """
    ruled = [step.turn for step in steps if isinstance(step, Ruled)]
    is_forced = isinstance(outcome, Answered) and outcome.forced
    return evidence_before(steps, ruled[-1] if ruled and not is_forced else None)


def forced_by_gate(steps: Sequence[Step], outcome: Outcome) -> bool:
    """Whether a forced answer followed a ``final`` that the gate did not let pass, on the very last turn."""
    if not (isinstance(outcome, Answered) and outcome.forced):
        return False
    forced_turn = max((step.turn for step in steps if isinstance(step, Asked)), default=0)
    return any(
        step.decision in {"rejected", "injected"}
        for step in steps
        if isinstance(step, Ruled) and step.turn == forced_turn - 1
    )


def retrieved_tokens(steps: Iterable[Step]) -> int:
    """What searching and reading brought in: each distinct chunk once for its snippet, once for its text."""
    snippets: dict[str, str] = {}
    texts = 0
    for step in steps:
        if isinstance(step, Searched):
            for hit in step.hits:
                snippets.setdefault(hit.chunk_id, hit.snippet)
        elif isinstance(step, WasRead):
            texts += step.tokens
    return texts + sum(bytes4(snippet) for snippet in snippets.values())


def bytes4(text: str) -> int:
    """The size of a retrieved text in tokens of no model: its UTF-8 bytes over four, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)
