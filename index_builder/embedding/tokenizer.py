"""Text to token ids as a model was trained on them, cut at a length the caller states.

The tokenizer file's own truncation and padding are turned off: they would cut at another length and
say nothing of it.
"""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from index_builder.errors import InputError
from index_builder.query_text import well_formed


class TextTokenizer:
    """A Hugging Face ``tokenizer.json`` with a maximal length; safe to use from several threads."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        """Load the file.

        Args:
            path: A ``tokenizer.json``.
            max_tokens: Where longer texts are cut, special tokens included.

        Raises:
            InputError: When the file cannot be read as a tokenizer.
        """
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise InputError(f"{path} cannot be read as a tokenizer: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._max_tokens = max_tokens

    def ids(self, text: str) -> list[int]:
        """The token ids of a text; of one that is too long, its beginning and the closing special token."""
        ids: list[int] = self._tokenizer.encode(well_formed(text)).ids
        return ids if len(ids) <= self._max_tokens else [*ids[: self._max_tokens - 1], ids[-1]]

    def count_truncated(self, texts: Sequence[str]) -> int:
        """How many of the texts ``ids`` would cut."""
        lengths = (len(self._tokenizer.encode(well_formed(text)).ids) for text in texts)
        return sum(length > self._max_tokens for length in lengths)
