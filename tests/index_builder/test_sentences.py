"""Sentences end where a reader ends them, in invented cases and in passages of the real sets."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.sentences import sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["One.", "Two!", "Three?", "Four…", "5 is five."],
        ["Dr. Ray met Mr. Fox at No. 10 in St. Ives, ca. 1900.", "They ate."],
        ["J. R. R. Tolkien wrote it.", "J.K. Rowling did not."],
        ["He went to Washington, D.C. on Sept. 11.", "He left."],
        ["It costs 3.50 or .5 at example.com today.", "It sells."],
        ['"Stop!"', "He said (so).", "“Go.”", "It went."],
        ['"Stop!" he said.', "(He did.)", "Yes."],
        ["Really?!", "Yes...", "No."],
        ["He lives in the U.S. now.", "She does not."],
        ["Ångström lived.", "Émile too."],
        ["東京は首都である。", "「はい。」", "次！", "本当？", "end"],
        ["A poet (b. 1950), e.g. Roe v. Wade, died.", "Nobody knew."],
        ["no end here"],
    ],
)
def test_a_text_is_parted_where_a_reader_parts_it(parts: list[str]) -> None:
    assert split(" ".join(parts)) == parts


def test_ideographic_full_stops_end_sentences_without_a_space() -> None:
    assert split("東京。「はい。」次") == ["東京。", "「はい。」", "次"]


def test_a_line_ends_a_sentence_whatever_follows() -> None:
    assert split("  A title \n\nthen text, Dr.\nno more\r\nend\u2028x ") == [
        "A title",
        "then text, Dr.",
        "no more",
        "end",
        "x",
    ]


def test_ellipses_and_abbreviations_before_lower_case_end_nothing() -> None:
    assert split("He waited ... and went. The firm (Acme Inc.) fell.") == [
        "He waited ... and went.",
        "The firm (Acme Inc.) fell.",
    ]


def test_no_boundary_parts_a_mark_from_what_it_marks() -> None:
    assert split("終。\ufe00次") == ["終。\ufe00次"]


@pytest.mark.parametrize("blank", ["", " ", "\n \t"])
def test_a_blank_text_has_no_sentences(blank: str) -> None:
    assert split(blank) == []


@given(st.text(alphabet="aB. !?…\n\r\u2028。」\"'\u0301(\x1c") | st.text())
def test_sentences_hold_everything_but_white_space_in_order(text: str) -> None:
    spans = list(sentences(text))
    ends = [0, *(end for _, end in spans)]
    for (start, end), before in zip(spans, ends, strict=False):
        assert before <= start < end
        assert text[before:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
    assert text[ends[-1] :].strip() == ""


@pytest.mark.parametrize("unit", [".", ". ", "。", '."', "A. ", "\n", "a", '"', " "])
def test_a_monotonous_text_of_a_million_characters_is_split_in_one_pass(unit: str) -> None:
    text = "x" + unit * (1_000_000 // len(unit)) + "y"
    assert "".join("".join(split(text)).split()) == "".join(text.split())


def test_real_passages_are_parted_as_their_dataset_parts_them(shared_data: Path) -> None:
    """HotpotQA gives its passages sentence by sentence; boundaries are compared within each passage."""
    entries = json.loads((shared_data / "hotpotqa.json").read_text(encoding="utf-8"))
    theirs_found = ours_right = theirs_all = ours_all = 0
    for _, given_sentences in [passage for entry in entries for passage in entry["context"]]:
        text = "".join(given_sentences)
        squeezed = [len(re.sub(r"\s", "", part)) for part in given_sentences]
        theirs = {sum(squeezed[: count + 1]) for count in range(len(squeezed) - 1)}
        ours = {len(re.sub(r"\s", "", text[:end])) for _, end in list(sentences(text))[:-1]}
        theirs_found += len(theirs & ours)
        theirs_all += len(theirs)
        ours_right += len(ours & theirs)
        ours_all += len(ours)
    assert theirs_found / theirs_all > 0.98
    assert ours_right / ours_all > 0.99
