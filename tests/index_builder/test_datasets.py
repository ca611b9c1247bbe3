"""All loaders alike: whatever is done to a file, it loads or is a DatasetError."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import read_corpus
from index_builder.errors import DatasetError
from index_builder.records import Dataset

Tree: TypeAlias = Any
"""What JSON can hold."""

CITED: dict[str, Any] = {
    "_id": "q1",
    "question": " Who was Ada's father?",
    "answer": "Byron",
    "type": "bridge",
    "supporting_facts": [["A", 0], ["B", 1]],
    "context": [["A", ["One.", " Two."]], ["B", ["Three.", ""]]],
}
RECORDS: dict[str, list[dict[str, Any]]] = {
    "hotpotqa": [CITED | {"level": "hard"}, CITED | {"_id": "q2"}],
    "two_wiki": [CITED | {"evidences": [["A", "child", "B"]], "answer_id": None}],
    "musique": [
        {
            "id": f"2hop__{number}_2",
            "question": "Who?",
            "answer": "Byron",
            "answer_aliases": ["Lord Byron"],
            "answerable": True,
            "paragraphs": [
                {"idx": 0, "title": "A", "paragraph_text": "One.", "is_supporting": True},
                {"idx": 1, "title": "B", "paragraph_text": "Two.", "is_supporting": False},
            ],
        }
        for number in (1, 2)
    ],
}


def content(kind: str, records: list[Any]) -> bytes:
    if kind == "musique":
        return "".join(json.dumps(record) + "\n" for record in records).encode()
    return json.dumps(records).encode()


def load_or_fail(kind: str, path: Path, data: bytes) -> Dataset | DatasetError:
    path.write_bytes(data)
    result: Dataset | DatasetError
    try:
        result = LOADERS[kind](path)
    except DatasetError as error:
        result = error
    assert isinstance(result, Dataset) or str(result).startswith(f"{path}, ")
    return result


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutants") / "file"


@pytest.mark.parametrize("kind", LOADERS)
def test_the_small_file_is_valid_for_its_own_loader_and_no_other(path: Path, kind: str) -> None:
    data = content(kind, RECORDS[kind])
    for loader in LOADERS:
        assert isinstance(load_or_fail(loader, path, data), Dataset) == (loader == kind)


@pytest.mark.parametrize("kind", LOADERS)
def test_every_truncation_of_a_file_loads_whole_records_or_fails(path: Path, kind: str) -> None:
    data = content(kind, RECORDS[kind])
    ends = {place + after for place, byte in enumerate(data) if byte == ord("\n") for after in (0, 1)}
    for end in range(len(data)):
        is_loaded = isinstance(load_or_fail(kind, path, data[:end]), Dataset)
        assert is_loaded == (end in ends)


def nodes(tree: Tree, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in a JSON tree."""
    yield at
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in children:
        yield from nodes(child, (*at, key))


def replaced(tree: Tree, at: tuple[Any, ...], value: Tree) -> Tree:
    if not at:
        return value
    parent = changed = deepcopy(tree)
    for key in at[:-1]:
        parent = parent[key]
    parent[at[-1]] = value
    return changed


def without(tree: Tree, at: tuple[Any, ...]) -> Tree:
    parent = changed = deepcopy(tree)
    for key in at[:-1]:
        parent = parent[key]
    del parent[at[-1]]
    return changed


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("kind", LOADERS)
@given(data=st.data())
def test_a_file_with_any_value_replaced_or_removed_loads_or_fails(
    path: Path, kind: str, data: st.DataObject
) -> None:
    records = RECORDS[kind]
    at = data.draw(st.sampled_from(list(nodes(records))))
    mutant = (
        without(records, at) if at and data.draw(st.booleans()) else replaced(records, at, data.draw(JSON))
    )
    if isinstance(mutant, list):
        load_or_fail(kind, path, content(kind, mutant))


@pytest.mark.parametrize("kind", LOADERS)
@given(place=st.integers(0, 400), length=st.integers(0, 4), inserted=st.binary(max_size=4))
def test_a_file_with_any_bytes_replaced_loads_or_fails(
    path: Path, kind: str, place: int, length: int, inserted: bytes
) -> None:
    data = content(kind, RECORDS[kind])
    load_or_fail(kind, path, data[:place] + inserted + data[place + length :])


@given(st.binary() | JSON.map(json.dumps).map(str.encode))
def test_any_content_is_a_corpus_or_a_dataset_error(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        passages = list(read_corpus(path))
    except DatasetError:
        return
    assert passages


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize(
    ("field", "value"),
    [("question", 5), ("question", None), ("answer", 7), ("answer", ["Byron"]), ("answer", True)],
)
def test_a_field_of_a_wrong_type_is_named(path: Path, kind: str, field: str, value: object) -> None:
    mutant = [*RECORDS[kind][:-1], RECORDS[kind][-1] | {field: value}]
    error = load_or_fail(kind, path, content(kind, mutant))
    assert isinstance(error, DatasetError)
    where = f"line {len(mutant)}" if kind == "musique" else f"record {len(mutant)}"
    assert error.where == f"{where}, {field}"


@pytest.mark.parametrize("kind", LOADERS)
def test_an_empty_and_an_absent_file_are_errors(path: Path, kind: str) -> None:
    for data in (b"", b"\n", b"\xef\xbb\xbf"):
        assert isinstance(load_or_fail(kind, path, data), DatasetError)
    with pytest.raises(DatasetError, match="No such file"):
        LOADERS[kind](path.with_name("absent"))
