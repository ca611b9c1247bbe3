"""Records: with the official fields, the gold pages among distractors, and true annotations."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from index_builder.datasets.world.drafting import draft
from index_builder.datasets.world.facts import World
from index_builder.datasets.world.layout import Layout
from index_builder.datasets.world.official import (
    FORMATS,
    context,
    hotpotqa_record,
    musique_record,
    two_wiki_record,
)
from index_builder.datasets.world.questions import Asked
from tests.index_builder.datasets.world.solver import Reader, facts_in

LAYOUT = Layout(World(7, 300))


def _asked(dataset: str, count: int = 200) -> list[Asked]:
    return list(itertools.islice(draft(LAYOUT.world, dataset), count))


def _real(path: Path) -> Any:  # noqa: ANN401 - a record of whatever form the official file has
    text = path.read_text("utf-8")
    return json.loads(text.partition("\n")[0] if path.suffix == ".jsonl" else text)


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        ("hotpotqa", "hotpotqa.json"),
        ("two_wiki", "2wikimultihopqa.json"),
        ("musique", "musique.jsonl"),
    ],
)
def test_a_record_has_the_fields_of_the_official_file(dataset: str, name: str, shared_data: Path) -> None:
    real = _real(shared_data / name)
    real = real[0] if isinstance(real, list) else real
    ours = json.loads(json.dumps(FORMATS[dataset].record(LAYOUT, _asked(dataset, 1)[0])))
    assert set(ours) == set(real)
    for field, value in real.items():
        # An answer without an entity has a null id in either file.
        assert type(ours[field]) is type(value) or field == "answer_id"
    if dataset == "musique":
        for nested in ("paragraphs", "question_decomposition"):
            assert set(ours[nested][0]) == set(real[nested][0])


@pytest.mark.parametrize(("dataset", "size"), [("hotpotqa", 10), ("two_wiki", 10), ("musique", 20)])
@pytest.mark.parametrize("passages", [50, 300])
def test_a_context_holds_the_gold_pages_and_no_page_twice(dataset: str, size: int, passages: int) -> None:
    layout = Layout(World(1, passages))
    for asked in itertools.islice(draft(layout.world, dataset), 100):
        nodes = context(layout, asked, size)
        assert len(nodes) == len(set(nodes)) == size
        assert set(asked.gold) <= set(nodes)


def test_namesakes_of_gold_pages_and_what_these_mislead_to_are_the_first_distractors() -> None:
    seen = 0
    for asked in _asked("musique"):
        nodes = set(context(LAYOUT, asked, 20))
        for node in asked.gold:
            near = {LAYOUT.world.namesake(node), *LAYOUT.page(node).mentioned} - {None}
            assert near <= nodes
            seen += len(near)
    assert seen > 200


def test_gold_pages_stand_anywhere_in_a_context() -> None:
    places = {context(LAYOUT, asked, 10).index(node) for asked in _asked("hotpotqa") for node in asked.gold}
    assert places == set(range(10))


@pytest.mark.parametrize("dataset", ["hotpotqa", "two_wiki"])
def test_the_supporting_sentences_suffice_and_none_can_be_spared(dataset: str) -> None:
    record = {"hotpotqa": hotpotqa_record, "two_wiki": two_wiki_record}[dataset]
    for asked in _asked(dataset):
        written: Any = record(LAYOUT, asked)
        sentences = {title: [sentence.strip() for sentence in text] for title, text in written["context"]}
        cited = [(title, sentences[title][number]) for title, number in written["supporting_facts"]]
        assert Reader(cited).answers(written["question"]) == {written["answer"]}
        for spared in range(len(cited)):
            rest = Reader(cited[:spared] + cited[spared + 1 :])
            assert rest.answers(written["question"]) == set()


def test_hotpotqa_sentences_join_to_the_text_without_anything_between() -> None:
    written: Any = hotpotqa_record(LAYOUT, _asked("hotpotqa")[0])
    texts = {LAYOUT.page(node).title: LAYOUT.page(node).text for node in range(300)}
    assert all("".join(sentences) == texts[title] for title, sentences in written["context"])


def test_two_wiki_evidences_say_what_the_supporting_sentences_say() -> None:
    for asked in _asked("two_wiki"):
        written: Any = two_wiki_record(LAYOUT, asked)
        sentences = dict(written["context"])
        for (title, number), (subject, _, value) in zip(
            written["supporting_facts"], written["evidences"], strict=True
        ):
            assert title == subject
            assert [fact[1] for fact in facts_in(title, sentences[title][number])] == [value]


def test_two_wiki_answers_that_are_entities_have_an_id_and_others_none() -> None:
    titles = {LAYOUT.world.entity(node).title: f"Q{node}" for node in range(300)}
    for asked in _asked("two_wiki"):
        assert two_wiki_record(LAYOUT, asked)["answer_id"] == titles.get(asked.answer)


def test_musique_steps_lead_to_the_answer_one_by_one() -> None:
    for asked in _asked("musique"):
        written: Any = musique_record(LAYOUT, asked)
        paragraphs = written["paragraphs"]
        assert [paragraph["idx"] for paragraph in paragraphs] == list(range(20))
        supporting = {paragraph["idx"] for paragraph in paragraphs if paragraph["is_supporting"]}
        steps = written["question_decomposition"]
        assert {step["paragraph_support_idx"] for step in steps} == supporting
        for number, step in enumerate(steps):
            page = paragraphs[step["paragraph_support_idx"]]
            question = step["question"].replace(f"#{number}", steps[number - 1]["answer"])
            assert "#" not in question
            read = Reader([(page["title"], page["paragraph_text"])])
            assert read.answers(question) == {step["answer"]}
        assert steps[-1]["answer"] == written["answer"]
        assert written["id"].split("__")[1] == "_".join(str(step["id"]) for step in steps)


@pytest.mark.parametrize(("dataset", "field"), [("hotpotqa", "_id"), ("two_wiki", "_id"), ("musique", "id")])
def test_ids_are_distinct(dataset: str, field: str) -> None:
    everything = list(draft(World(3, 60), dataset))
    layout = Layout(World(3, 60))
    ids = {FORMATS[dataset].record(layout, asked)[field] for asked in everything}
    assert len(ids) == len(everything)
