"""Every error of the project, one class a boundary.

The whole tree::

    ReadGateError                     index_builder.errors: one clear sentence for the user
    ├── InputError                    wrong use or bad input; exit code 2
    │   ├── DatasetError              index_builder.errors
    │   ├── BundleError               index_builder.errors
    │   ├── StorageError              index_builder.errors
    │   ├── SettingsError             an experiment file
    │   ├── RunFolderError            a run folder: of another experiment, in use, unreadable
    │   ├── ReplayError               a request that the replayed journal holds no reply to
    │   └── CredentialError           a provider that needs a key and has none, or refuses it
    ├── EmbeddingError                index_builder.errors
    ├── EpisodeError                  ends one episode as ``failed``; owed again on resume
    │   ├── ModelError                the provider could not be made to answer
    │   ├── DriftError                another model answers than the one that was asked: its cell stops
    │   ├── RetrievalError            a search or read that could not be carried out
    │   └── DeadlineError             a call or a trajectory took longer than its limit
    ├── AttemptError                  one HTTP attempt went wrong; the retrying layer decides what follows
    │   ├── RetryableError            408 409 429 5xx, connection faults, garbage with status 200
    │   └── RefusedError              400 401 403 404 422, exhausted quota: never retried
    ├── UnclearVerdictError           a judge's reply that holds no verdict
    └── CapReachedError               the budget cannot hold the next call; exit code 3
"""

from typing import Literal

from index_builder.errors import (
    BundleError,
    DatasetError,
    EmbeddingError,
    InputError,
    ReadGateError,
    StorageError,
)

__all__ = [
    "AttemptError",
    "BundleError",
    "CapReachedError",
    "CredentialError",
    "DatasetError",
    "DeadlineError",
    "DriftError",
    "EmbeddingError",
    "EpisodeError",
    "InputError",
    "ModelError",
    "ReadGateError",
    "RefusedError",
    "ReplayError",
    "RetrievalError",
    "RetryableError",
    "RunFolderError",
    "SettingsError",
    "StorageError",
    "UnclearVerdictError",
]


class SettingsError(InputError):
    """An experiment file with an unknown key, a value of a wrong kind, or a name that leads nowhere."""


class RunFolderError(InputError):
    """A run folder that belongs to another experiment, is in use, or cannot be read."""


class ReplayError(InputError):
    """A request to which the journal of the replayed run holds no reply."""


class CredentialError(InputError):
    """A provider needs a key that is not set, or refuses the one it was given."""


class EpisodeError(ReadGateError):
    """Ends one episode as ``failed``: its text is the outcome's ``detail``, ``boundary`` says where."""

    boundary = "episode"


class ModelError(EpisodeError):
    """The provider could not be made to give a usable reply."""

    boundary = "model"


class DriftError(EpisodeError):
    """Another model answers than the one that was asked; every further episode of the cell ends so too."""

    boundary = "drift"


class RetrievalError(EpisodeError):
    """A search or a read could not be carried out."""

    boundary = "retrieval"


class DeadlineError(EpisodeError):
    """A call or a whole trajectory took longer than its limit."""

    boundary = "deadline"


class AttemptError(ReadGateError):
    """One HTTP attempt went wrong; ``status`` is 0 when no response came."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class RetryableError(AttemptError):
    """An attempt that may succeed when made again.

    Attributes:
        retry_after: Seconds the server asked to wait, or None.
    """

    def __init__(self, message: str, *, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message, status=status)
        self.retry_after = retry_after


class RefusedError(AttemptError):
    """An attempt that no repetition mends: a bad request, a refused key, an exhausted quota.

    Attributes:
        concerns: Whether only this ``call`` is refused (such as one prompt too long), or every call of
            the ``run`` would be (an unknown model, an exhausted quota), or the ``key`` is.
    """

    def __init__(
        self, message: str, *, status: int = 0, concerns: Literal["call", "run", "key"] = "call"
    ) -> None:
        super().__init__(message, status=status)
        self.concerns = concerns


class UnclearVerdictError(ReadGateError):
    """A judge's reply that holds no clear verdict; never scored as 0 or 1."""


class CapReachedError(ReadGateError):
    """The budget cannot hold the worst case of the next call; the run stops and can be resumed."""
