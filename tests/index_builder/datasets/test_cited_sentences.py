"""Gold by title and sentence: repeated titles, indices out of range, blank sentences."""

import json
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.datasets.assembly import Notes, Reading
from index_builder.datasets.cited_sentences import CitedRecord, read_cited
from index_builder.records import Passage

OUT_OF_RANGE = "supporting sentence indices out of range, ignored"


def reading(facts: Sequence[object] | None, *context: object) -> tuple[Reading, Notes]:
    record = {"_id": "q", "question": "Who?", "type": "bridge", "supporting_facts": facts, "context": context}
    notes: Notes = Counter()
    return read_cited(CitedRecord.model_validate_json(json.dumps(record)), notes), +notes


def test_gold_follows_the_order_of_the_facts_once_a_title() -> None:
    found, notes = reading(
        [["B", 0], ["A", 0], ["B", 1]], ["A", ["One."]], ["B", ["Two.", "Three."]], ["C", ["Four."]]
    )
    assert found.gold == (Passage("B", "Two. Three."), Passage("A", "One."))
    assert (found.hops, found.kind) == (2, "bridge")
    assert notes == {}


@pytest.mark.parametrize("facts", [None, []])
def test_without_facts_nothing_is_gold(facts: list[object] | None) -> None:
    found, _ = reading(facts, ["A", ["One."]])
    assert (found.gold, found.hops) == ((), 0)


@pytest.mark.parametrize(("index", "out"), [(0, 0), (1, 0), (2, 1), (12, 1), (-1, 1), (10**30, 1)])
def test_an_index_out_of_range_is_ignored_and_its_title_stays_gold(index: int, out: int) -> None:
    found, notes = reading([["A", index]], ["A", ["One.", "Two."]])
    assert found.gold == (Passage("A", "One. Two."),)
    assert notes[OUT_OF_RANGE] == out


@pytest.mark.parametrize(
    ("cited", "chosen"),
    [
        ([0], "Short."),  # both hold it: the first
        ([2], "One. Two. Three."),
        ([0, 2], "One. Two. Three."),
        ([9], "Short."),  # neither holds it: the first
    ],
)
def test_of_two_paragraphs_of_one_title_the_one_that_holds_the_cited_sentences_is_gold(
    cited: list[int], chosen: str
) -> None:
    found, _ = reading(
        [["A", index] for index in cited], ["A", ["Short."]], ["A", ["One.", "Two.", "Three."]]
    )
    assert found.gold == (Passage("A", chosen),)


def test_a_title_the_context_lacks_counts_as_a_hop_but_gives_no_gold() -> None:
    found, notes = reading([["Z", 0], ["A", 0]], ["A", ["One."]])
    assert (found.gold, found.hops) == ((Passage("A", "One."),), 2)
    assert notes == {"gold titles that the context lacks, ignored": 1}


def test_blank_sentences_keep_their_index_and_add_no_space() -> None:
    found, notes = reading([["A", 2]], ["A", ["", "One.", "Two.", " "]])
    assert found.gold == (Passage("A", "One. Two."),)
    assert notes == {"blank sentences, left out of their paragraph": 2}


@given(
    st.lists(st.tuples(st.sampled_from("ABC"), st.integers(-2, 4)), max_size=6),
    st.lists(st.tuples(st.sampled_from("AB"), st.lists(st.text(max_size=3), max_size=4)), max_size=4),
)
def test_gold_is_part_of_the_context_and_every_cited_title_is_found_or_counted(
    facts: list[tuple[str, int]], context: list[tuple[str, list[str]]]
) -> None:
    found, notes = reading(facts, *context)
    assert set(found.gold) <= set(found.context)
    assert len(found.context) == len(context)
    lost = notes["gold titles that the context lacks, ignored"]
    assert len(found.gold) + lost == found.hops == len({title for title, _ in facts})
