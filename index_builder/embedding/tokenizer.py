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
    """A Hugging Face ``tokenizer.json`` with a maximal length; safe to use from several threads.

    Attributes:
        vocabulary_size: One more than its highest token id.
    """

    def __init__(self, path: Path, max_tokens: int, end_token: str | None = None) -> None:
        """Load the file.

        Args:
            path: A ``tokenizer.json``.
            max_tokens: Where longer texts are cut, special tokens included.
            end_token: Closes every text in place of the special tokens the file itself would add; absent =
                those of the file.

        Raises:
            InputError: When the file cannot be read as a tokenizer or does not know the end token.
        """
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise InputError(f"{path} cannot be read as a tokenizer: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._max_tokens = max_tokens
        self._end = None if end_token is None else self._tokenizer.token_to_id(end_token)
        if end_token is not None and self._end is None:
            raise InputError(f"{path} is the tokenizer of another model: it does not know {end_token}")
        self.vocabulary_size = 1 + max(self._tokenizer.get_vocab().values(), default=-1)

    def ids(self, text: str) -> list[int]:
        """The token ids of a text; of one that is too long, its beginning and the closing special token."""
        ids = self._all_ids(text)
        return ids if len(ids) <= self._max_tokens else [*ids[: self._max_tokens - 1], ids[-1]]

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each of the texts has, special tokens included, before anything is cut."""
        return [len(self._all_ids(text)) for text in texts]

    def _all_ids(self, text: str) -> list[int]:
        own = self._end is None
        ids: list[int] = self._tokenizer.encode(well_formed(text), add_special_tokens=own).ids
        return ids if self._end is None else [*ids, self._end]
