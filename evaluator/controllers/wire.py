"""What a provider is to the rest of the stack: a wire that writes and reads its bytes, and where it is.

A wire is a pure module, ``<provider>_wire``; one generic client does the asking for all of them. What is
the same for every wire stands here as well.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from evaluator.budget.prices import FREE, ModelFacts, Price
from evaluator.controllers.line import Bill, RawReply
from evaluator.core.errors import AttemptError
from evaluator.core.messages import ModelRequest, Reply, ToolSpec, Usage
from evaluator.core.settings import ModelSettings

PriceOf: TypeAlias = Callable[[str, str], Price | None]
"""The price by the model and the tier that a response says it was billed as; None when unknown."""

PROBE = ModelRequest(messages=(), tools=(ToolSpec("probe", "", {}),), seed=0)
"""A request that wants every parameter there is."""


class Wire(Protocol):
    """Requests out of records, records out of responses; a module of this shape is one."""

    def url(self, base_url: str, model: str) -> str:
        """Where calls to a model go."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """What carries the key."""
        ...

    def build(self, request: ModelRequest, model: ModelSettings, facts: ModelFacts) -> dict[str, object]:
        """The request as a JSON tree, without what the model refuses."""
        ...

    def notes(self, model: ModelSettings, facts: ModelFacts) -> dict[str, str]:
        """What of the protocol the model does not take, for the manifest: setting to what became of it."""
        ...

    def bill(self, status: int, tree: object, price_of: PriceOf) -> Bill:
        """What a whole response says about its cost."""
        ...

    def fault(self, raw: RawReply, now: datetime) -> AttemptError | None:
        """What is wrong with the outcome of an attempt, or None when it holds a reply."""
        ...

    def read(self, raw: RawReply) -> Reply:
        """The reply that a response without ``fault`` holds."""
        ...


@dataclass(frozen=True, slots=True)
class Provider:
    """How one provider is spoken to, and where.

    Attributes:
        home: Its own address; None when every model of it has one of its own.
        key_variable: The variable that holds the key to ``home``; None when it wants none.
        listed: Reads ``GET <address>/models``: every model id with its shutdown date, "" when it has none.
    """

    wire: Wire
    home: str | None
    key_variable: str | None
    listed: Callable[[object], Mapping[str, str]]


def max_output(model: ModelSettings, facts: ModelFacts) -> int:
    """The most tokens that a reply can have, by the settings and by the model."""
    return min(model.max_output_tokens, facts.max_output or model.max_output_tokens)


def left_out(wanted: Mapping[str, object], model: ModelSettings, facts: ModelFacts) -> dict[str, str]:
    """The notes of a wire: which of the wanted parameters are refused, and how much room a reply has."""
    noted = {name: "not supported" for name in wanted if name in facts.refuses}
    limit = max_output(model, facts)
    if limit < model.max_output_tokens:
        noted["max_output_tokens"] = f"{limit}, the model's limit"
    return noted


def cost_usd(status: int, usage: Usage | None, price: Price | None, *, reported: bool) -> float | None:
    """What an attempt cost, None when nobody says so.

    An error that the provider itself reports is not billed; a gateway's page with a status of 500 or
    more says nothing about what happened behind the gateway.

    Args:
        status: Of the response, 0 when none came.
        usage: As the response gives it.
        price: Of the model and tier that answered.
        reported: Whether the provider reports an error in place of a reply.
    """
    if price == FREE:
        return 0.0
    if usage is not None and 200 <= status < 300:
        return price.cost_usd(usage) if price else None
    return 0.0 if reported or 300 <= status < 500 else None
