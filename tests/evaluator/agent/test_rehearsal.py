"""The shelf and the script with which the loop is rehearsed."""

import pytest

from evaluator.agent.loop import Work, run_agent
from evaluator.agent.rehearsal import Shelf, calls, rehearse
from evaluator.core.errors import ModelError
from evaluator.core.messages import Reply, ToolCall
from evaluator.core.outcome import Answered, Failed
from evaluator.core.settings import GateSettings, LimitSettings, ProtocolSettings
from evaluator.core.trajectory import Episode
from evaluator.evidence.entities.by_rule import entities
from index_builder.records import Chunk, IndexedQuestion

SHELF = Shelf(
    (Chunk("a", "Lyon", "A city " + "x" * 50), Chunk("b", "Rhône", "A river through the city of Lyon"))
)


def episode() -> Work[Episode]:
    question = IndexedQuestion("q", "Where?", ("Lyon",), "bridge", 1, None)
    return run_agent(
        question, protocol=ProtocolSettings(), limits=LimitSettings(), gate=GateSettings(), seed=None,
        extract=entities,
    )  # fmt: skip


def test_a_search_hits_chunks_that_share_words_most_first() -> None:
    assert [hit.chunk_id for hit in SHELF.search("the river of LYON")] == ["b", "a"]
    assert [hit.chunk_id for hit in SHELF.search("city")] == ["a", "b"]
    assert SHELF.search("zzz") == ()


def test_a_hit_shows_the_first_40_characters() -> None:
    (first, _) = SHELF.search("city")
    assert (first.rank, first.snippet) == (1, "A city " + "x" * 33)


def test_reading_finds_a_chunk_by_id_or_nothing() -> None:
    assert SHELF.read("b") is SHELF.chunks[1]
    assert SHELF.read("z") is None


def test_a_reply_of_calls_bears_no_ids() -> None:
    reply = calls(("search", {"query": "x"}), text="hm")
    assert reply == Reply("hm", (ToolCall("", "search", {"query": "x"}),))


def test_a_rehearsal_gives_the_episode_and_what_the_model_was_sent() -> None:
    run = rehearse(episode(), [calls(("search", {"query": "city"})), Reply("Lyon")], SHELF)
    assert run.episode.outcome == Answered("Lyon")
    assert [len(request.messages) for request in run.requests] == [2, 4]


def test_an_error_of_the_script_is_thrown_in() -> None:
    run = rehearse(episode(), [ModelError("gone")], SHELF)
    assert run.episode.outcome == Failed("model", "gone")


def test_a_script_that_is_too_short_is_an_error() -> None:
    with pytest.raises(ValueError, match="the script has 1 replies, and one more is due"):
        rehearse(episode(), [calls(("search", {"query": "city"}))], SHELF)
