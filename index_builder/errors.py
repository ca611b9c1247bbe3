"""The root of every error this project raises, and those of reading data and bundles.

Tree (``evaluator.core.errors`` draws the rest of it)::

    ReadGateError
    ├── InputError            something the user gave cannot be used
    │   ├── DatasetError      a dataset or corpus file
    │   ├── BundleError       a bundle folder: absent, unfinished, of another version, or altered
    │   └── StorageError      a place that cannot be written: a full disk, a folder that is read only
    └── EmbeddingError        a model that returns what no embedding can be
"""

from pathlib import Path


class ReadGateError(Exception):
    """Every error that is foreseen; its text is one clear sentence for the user."""


class InputError(ReadGateError):
    """Something the user gave cannot be used: a file, a setting, a folder."""


class DatasetError(InputError):
    """A dataset or corpus file that is not what it should be.

    Attributes:
        path: The file.
        where: The line or record, such as ``line 7`` or ``record 3``.
        expected: What should stand there.
    """

    def __init__(self, path: Path, where: str, expected: str) -> None:
        super().__init__(f"{path}, {where}: expected {expected}")
        self.path = path
        self.where = where
        self.expected = expected


class BundleError(InputError):
    """A bundle folder that is absent, unfinished, of another version, or altered since it was built."""


class StorageError(InputError):
    """A place that cannot be written, such as a full disk or a read-only folder; says what to do."""


class EmbeddingError(ReadGateError):
    """A model returned something that is no embedding, such as NaN or a wrong number of dimensions."""
