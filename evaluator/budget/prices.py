"""What models cost and take: the packaged table, extended by an experiment's own prices.

A model is looked up by its exact id, a declared alias, or a declared kind of snapshot; never by a
substring. An unknown model has no price.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from evaluator.core.messages import Usage
from evaluator.core.settings import PriceSettings

PICO = 10**12
"""Money is added up in whole picodollars, which hold every price per token exactly."""

STANDARD = "standard"

_TABLE = Path(__file__).with_name("models.toml")
_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens; prompts longer than ``above_tokens`` are billed by ``above``."""

    input: float
    cached_input: float
    output: float
    above_tokens: int | None = None
    above: "Price | None" = None

    def cost_usd(self, usage: Usage) -> float:
        """What a call of that usage costs: cached tokens and reasoning tokens are counted once."""
        price = self._for_prompt(usage.input_tokens)
        return (
            (usage.input_tokens - usage.cached_tokens) * _pico_per_token(price.input)
            + usage.cached_tokens * _pico_per_token(price.cached_input)
            + usage.output_tokens * _pico_per_token(price.output)
        ) / PICO

    def worst_usd(self, input_tokens: int, output_tokens: int) -> float:
        """The most that a call within these sizes can cost."""
        price = self._for_prompt(input_tokens)
        dearest_input = max(price.input, price.cached_input)
        pico = input_tokens * _pico_per_token(dearest_input) + output_tokens * _pico_per_token(price.output)
        return pico / PICO

    def _for_prompt(self, input_tokens: int) -> "Price":
        if self.above is None or self.above_tokens is None or input_tokens <= self.above_tokens:
            return self
        return self.above


FREE = Price(input=0.0, cached_input=0.0, output=0.0)
"""The price of scripted controllers."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model; the defaults are those of a model that nothing is known of.

    Attributes:
        aliases: Other ids of the same model.
        dated_snapshots: Whether ``<id>-YYYY-MM-DD`` is the same model at the same price.
        context: Tokens of the largest prompt, or None when unknown.
        max_output: Tokens of the largest reply, or None when unknown.
        output_limit: The request field that bounds a reply; None leaves it to the controller.
        refuses: Request fields that the model answers with HTTP 400.
        price: None when unknown.
        tiers: Prices of other tiers of service: flex, batch.
    """

    aliases: tuple[str, ...] = ()
    dated_snapshots: bool = False
    context: int | None = None
    max_output: int | None = None
    output_limit: Literal["max_tokens", "max_completion_tokens"] | None = None
    refuses: tuple[str, ...] = ()
    price: Price | None = None
    tiers: Mapping[str, Price] = field(default_factory=dict)


class PriceTable:
    """The facts of every known model."""

    def __init__(self, facts: Mapping[str, ModelFacts]) -> None:
        self._facts = facts

    @classmethod
    def load(cls, extra: Mapping[str, PriceSettings]) -> "PriceTable":
        """Read the packaged table; ``extra`` adds models and overrides the prices of known ones."""
        tree = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
        packaged = TypeAdapter(dict[str, ModelFacts]).validate_python(tree)
        known = cls(packaged)
        own = {model: replace(known.facts(model), price=_price(given)) for model, given in extra.items()}
        return cls({**packaged, **own})

    def price(self, model: str, tier: str = STANDARD) -> Price | None:
        """The price of a model id in a tier of service, or None when it is unknown."""
        facts = self.facts(model)
        return facts.price if tier == STANDARD else facts.tiers.get(tier)

    def facts(self, model: str) -> ModelFacts:
        """What is known of a model id; the bare defaults when nothing is."""
        if model in self._facts:
            return self._facts[model]
        for name, facts in self._facts.items():
            if model in facts.aliases or (facts.dated_snapshots and is_snapshot(name, model)):
                return facts
        return ModelFacts()

    def serves(self, requested: str, returned: str) -> bool:
        """Whether an answer by ``returned`` is one by ``requested``: the same id, its snapshot or alias."""
        facts = self.facts(requested)
        return returned == requested or returned in facts.aliases or is_snapshot(requested, returned)


def is_snapshot(model: str, candidate: str) -> bool:
    """Whether ``candidate`` is ``model`` with a date behind it."""
    return candidate.startswith(model) and _DATE.fullmatch(candidate[len(model) :]) is not None


def _price(given: PriceSettings) -> Price:
    cached = given.input if given.cached_input is None else given.cached_input
    return Price(input=given.input, cached_input=cached, output=given.output)


def _pico_per_token(usd_per_million: float) -> int:
    return round(usd_per_million * PICO / 1_000_000)
