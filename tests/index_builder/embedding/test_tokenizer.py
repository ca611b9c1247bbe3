"""Token ids, cut by us and by nobody else."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from index_builder.embedding.tokenizer import TextTokenizer
from index_builder.errors import InputError

VOCABULARY = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3, "b": 4, "c": 5}


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """A tokenizer.json whose own settings cut at 3 tokens and pad to 8."""
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
    )
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=8)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_the_files_own_cutting_and_padding_are_off(tokenizer_file: Path) -> None:
    assert TextTokenizer(tokenizer_file, 100).ids("a b c a") == [0, 3, 4, 5, 3, 1]
    assert TextTokenizer(tokenizer_file, 100).ids("") == [0, 1]


def test_a_long_text_is_cut_and_keeps_both_special_tokens(tokenizer_file: Path) -> None:
    tokenizer = TextTokenizer(tokenizer_file, 5)
    assert tokenizer.ids("a b c") == [0, 3, 4, 5, 1]
    assert tokenizer.ids("a b c a") == [0, 3, 4, 5, 1]


def test_tokens_are_counted_before_the_cut(tokenizer_file: Path) -> None:
    assert TextTokenizer(tokenizer_file, 5).token_counts(["a b c", "b " * 90, ""]) == [5, 92, 2]


def test_an_end_token_stands_in_place_of_the_files_own_and_outlives_the_cut(tokenizer_file: Path) -> None:
    tokenizer = TextTokenizer(tokenizer_file, 3, end_token="c")
    assert tokenizer.ids("a b") == [3, 4, 5]
    assert tokenizer.ids("a b a b") == [3, 4, 5]
    assert tokenizer.ids("") == [5]
    assert tokenizer.token_counts(["a b", "a b a b", ""]) == [3, 5, 1]


def test_a_file_without_the_end_token_is_refused(tokenizer_file: Path) -> None:
    with pytest.raises(InputError, match=r"of another model: it does not know <\|endoftext\|>"):
        TextTokenizer(tokenizer_file, 9, end_token="<|endoftext|>")


def test_the_size_of_the_vocabulary_is_set_by_its_highest_id(tokenizer_file: Path) -> None:
    assert TextTokenizer(tokenizer_file, 9).vocabulary_size == 6
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 70}, unk_token="[UNK]"))
    tokenizer.save(str(tokenizer_file))
    assert TextTokenizer(tokenizer_file, 9).vocabulary_size == 71


def test_a_lone_surrogate_is_an_unknown_word(tokenizer_file: Path) -> None:
    assert TextTokenizer(tokenizer_file, 9).ids("a \ud800") == [0, 3, 2, 1]
    assert TextTokenizer(tokenizer_file, 9).token_counts(["a \ud800"]) == [4]


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("{}")
    for name in ("t.json", "absent.json"):
        with pytest.raises(InputError, match="cannot be read as a tokenizer"):
            TextTokenizer(tmp_path / name, 9)
