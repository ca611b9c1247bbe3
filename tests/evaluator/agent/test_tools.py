"""Tools and the text of their results: regular, for models and programs alike."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.agent.tools import (
    ARGUMENT_OF,
    TOOLS,
    render_already_read,
    render_chunk,
    render_error,
    render_hits,
    render_no_such_chunk,
)
from index_builder.records import Chunk, Hit

TEXT = st.text(max_size=20)


@given(st.lists(st.builds(Hit, TEXT, st.integers(1, 5), st.floats(0, 1), TEXT, TEXT), max_size=3))
def test_hits_are_a_json_list_in_order_with_a_title_where_there_is_one(hits: list[Hit]) -> None:
    text = render_hits(hits)
    assert "\n" not in text
    assert json.loads(text) == [
        {"chunk_id": hit.chunk_id, **({"title": hit.title} if hit.title else {}), "snippet": hit.snippet}
        for hit in hits
    ]


@given(st.builds(Chunk, TEXT, TEXT, TEXT))
def test_a_chunk_is_a_json_object_with_its_full_text(chunk: Chunk) -> None:
    title = {"title": chunk.title} if chunk.title else {}
    assert json.loads(render_chunk(chunk)) == {"chunk_id": chunk.chunk_id, **title, "text": chunk.text}


def test_neither_rank_nor_score_is_shown() -> None:
    assert render_hits([Hit("c1", 1, 0.25, "T", "s")]) == '[{"chunk_id": "c1", "title": "T", "snippet": "s"}]'


def test_no_hit_is_an_empty_list() -> None:
    assert render_hits([]) == "[]"


@given(TEXT)
def test_the_other_results_are_objects_without_text(text: str) -> None:
    assert json.loads(render_already_read(text)) == {"chunk_id": text, "note": "already read"}
    assert json.loads(render_no_such_chunk(text)) == {"chunk_id": text, "error": "no such chunk"}
    assert json.loads(render_error(text)) == {"error": text}


def test_letters_are_shown_as_they_are() -> None:
    assert "Rhône 北京" in render_error("Rhône 北京")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_takes_one_required_text(tool: object) -> None:
    schema = orjson.loads(orjson.dumps(tool))
    argument = ARGUMENT_OF[schema["name"]]
    assert schema["parameters"]["required"] == [argument]
    assert schema["parameters"]["properties"][argument]["type"] == "string"
    assert list(schema["parameters"]["properties"]) == [argument]


def test_the_tools_are_search_read_and_final_and_demand_nothing_of_each_other() -> None:
    assert [tool.name for tool in TOOLS] == ["search", "read", "final"] == list(ARGUMENT_OF)
    assert not any("must" in tool.description or "before" in tool.description for tool in TOOLS)
