"""Files of JSON: what is read, what is repaired, and what an error says."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from index_builder.datasets.records_file import FileRecord, first_line, read_lines, read_whole
from index_builder.errors import DatasetError

FORM = "a list of towns"


class Town(FileRecord):
    name: str
    size: int = 0


TOWNS = TypeAdapter(list[Town])
TOWN = TypeAdapter(Town)


def written(tmp_path: Path, content: bytes | str) -> Path:
    path = tmp_path / "towns.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def whole(path: Path) -> tuple[list[Town], Counter[str]]:
    notes: Counter[str] = Counter()
    return read_whole(path, TOWNS, FORM, notes), notes


def lines(path: Path) -> tuple[list[Town], Counter[str]]:
    notes: Counter[str] = Counter()
    return list(read_lines(path, TOWN, "a town", notes)), notes


def test_unnamed_fields_are_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, '[{"name": "Rome", "mayor": {"since": 1}}]')
    assert whole(path) == ([Town(name="Rome")], Counter())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "file: expected a list of towns, but the file is empty"),
        (" \n ", "file: expected a list of towns, but the file is empty"),
        ('[{"name": "Rome"}', "line 1, column 17: expected a list of towns (EOF while parsing a list)"),
        ('[\n{"name": "Ro', "line 2, column 12: expected a list of towns (EOF while parsing a string)"),
        ('[{"name": "a"}]\n[', "line 2, column 1: expected a list of towns (trailing characters)"),
        ('{"name": "Rome"}', "file: expected a list of towns"),
        ("null", "file: expected a list of towns"),
        ('[{"name": "a"}, 3]', "record 2: expected an object in a list of towns"),
        ('[{"name": "a"}, {"size": 1}]', "record 2: expected a field 'name' in a list of towns"),
        ('[{"name": 3}]', "record 1, name: expected a valid string in a list of towns"),
        ('[{"name": "a", "size": "3"}]', "record 1, size: expected a valid integer in a list of towns"),
        ('[{"name": "a", "size": true}]', "record 1, size: expected a valid integer in a list of towns"),
        (b'[{"name": "a"},\n{"name": "\xff"}]', "line 2: expected UTF-8 text (invalid start byte)"),
        ('[{"name": "a"}]'.encode("utf-16"), "line 1: expected UTF-8 text (invalid start byte)"),
    ],
)
def test_an_error_names_the_file_the_place_and_what_was_expected(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DatasetError) as caught:
        whole(path)
    assert str(caught.value) == f"{path}, {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"name": "a"}\n\n{"nam', "line 3, column 5: expected a town (EOF while parsing a string)"),
        ('{"name": "a"}\n{"size": 1}\n', "line 2: expected a field 'name' in a town"),
        ('{"name": "a"}\n{"name": 1}\n', "line 2, name: expected a valid string in a town"),
        ('{"name": "a"}\n[1]\n', "line 2: expected a town"),
        (b'{"name": "a"}\n{"name": "\xc3"}\n', "line 2: expected UTF-8 text (invalid continuation byte)"),
    ],
)
def test_an_error_in_a_file_of_lines_names_the_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DatasetError) as caught:
        lines(path)
    assert str(caught.value) == f"{path}, {message}"


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    for read in (whole, lines, first_line):
        with pytest.raises(DatasetError, match=r"a file that can be read .No such file"):
            read(tmp_path / "absent.json")
        with pytest.raises(DatasetError, match=r"a file that can be read .Is a directory"):
            read(tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    assert whole(written(tmp_path, mark + b'[{"name": "a"}]'))[0] == [Town(name="a")]
    path = written(tmp_path, mark + b'{"name": "a"}\n{"name": "b"}\n')
    assert lines(path)[0] == [Town(name="a"), Town(name="b")]
    assert first_line(path) == b'{"name": "a"}'


def test_blank_lines_and_line_separators_inside_texts_end_no_record(tmp_path: Path) -> None:
    path = written(tmp_path, '\n{"name": "a\u2028b\u0085c"}\r\n\n  \n{"name": "d"}')
    assert lines(path)[0] == [Town(name="a\u2028b\u0085c"), Town(name="d")]
    assert first_line(path).startswith(b'{"name": "a')
    assert first_line(written(tmp_path, "\n \n")) == b""


def test_lone_surrogates_become_replacement_characters_and_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, r'[{"name": "a\ud800b"}, {"name": "\udc00\ud83d\ude00"}]')
    towns, notes = whole(path)
    assert towns == [Town(name="a\ufffdb"), Town(name="\ufffd😀")]
    assert notes == {"texts with lone surrogates, replaced by U+FFFD": 1}


def test_pairs_of_surrogates_are_one_character_and_no_repair(tmp_path: Path) -> None:
    assert whole(written(tmp_path, r'[{"name": "\ud83d\ude00"}]')) == ([Town(name="😀")], Counter())


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (r'[{"name": "\ud800"}, {"name": 3}]', "record 2, name"),
        (r'[{"name": "\ud800", ]', "line 1"),
        (r'["\ud83d\ude00", ]', "line 1"),
    ],
)
def test_a_repair_of_surrogates_hides_no_other_mistake(tmp_path: Path, content: str, place: str) -> None:
    with pytest.raises(DatasetError, match=place):
        whole(written(tmp_path, content))


@pytest.mark.parametrize("content", ["[" * 100_000, r'["\ud800",' + "[" * 100_000, "[" + "9" * 10_000])
def test_nesting_and_numbers_without_end_are_dataset_errors(tmp_path: Path, content: str) -> None:
    with pytest.raises(DatasetError):
        whole(written(tmp_path, content))


@given(st.lists(st.text()))
def test_any_text_that_json_can_hold_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    path = written(tmp_path_factory.mktemp("towns"), json.dumps([{"name": name} for name in names]))
    assert [town.name for town in whole(path)[0]] == names
