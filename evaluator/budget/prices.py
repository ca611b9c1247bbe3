"""What models cost and take: the packaged table, extended by an experiment's own prices and facts.

A model is looked up by its exact id, a declared alias, or a declared kind of snapshot; never by a
substring. An unknown model has no price.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import TypeAdapter

from evaluator.core.messages import Usage
from evaluator.core.settings import FactSettings, ModelSettings, PriceSettings, TakesSettings, TierSettings

PICO = 10**12
"""Money is added up in whole picodollars, which hold every price per token exactly."""

STANDARD = "standard"
"""The tier that a price without a name is of."""

DYNAMIC = -1
"""The thinking budget that leaves it to the model."""

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
        output_limit: The field of Chat Completions that bounds a reply; None leaves it to the controller.
        refuses: Parameters that the model answers with HTTP 400.
        takes: The values that it takes.
        price: None when unknown.
        tiers: Prices of other tiers of service: flex, batch.
        shutdown: The day it is switched off, YYYY-MM-DD, None when unknown.
    """

    aliases: tuple[str, ...] = ()
    dated_snapshots: bool = False
    context: int | None = None
    max_output: int | None = None
    output_limit: Literal["max_tokens", "max_completion_tokens"] | None = None
    refuses: tuple[str, ...] = ()
    takes: TakesSettings = field(default_factory=TakesSettings)
    price: Price | None = None
    tiers: Mapping[str, Price] = field(default_factory=dict)
    shutdown: str | None = None

    def objection(self, settings: ModelSettings) -> str | None:
        """What of the settings the model would refuse by its value, in words; None when nothing."""
        efforts, budgets = self.takes.reasoning_effort, self.takes.thinking_budget
        effort, budget = settings.reasoning_effort, settings.thinking_budget
        if effort is not None and efforts is not None and effort not in efforts:
            return f"{settings.model} takes reasoning_effort {' | '.join(efforts)}, not {effort!r}"
        if budget in {None, DYNAMIC} or budgets is None or budgets.least <= budget <= budgets.most:
            return None
        return (
            f"{settings.model} takes a thinking_budget of {budgets.least} to {budgets.most} or {DYNAMIC}, "
            f"not {budget}"
        )


class PriceTable:
    """The facts of every known model."""

    def __init__(self, facts: Mapping[str, ModelFacts]) -> None:
        self._facts = facts

    @classmethod
    def load(
        cls, prices: Mapping[str, PriceSettings], models: Mapping[str, FactSettings] = MappingProxyType({})
    ) -> "PriceTable":
        """Read the packaged table, with what an experiment says in place of what it says itself.

        Args:
            prices: USD per million tokens by model id.
            models: Other facts by model id.
        """
        tree = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
        packaged = TypeAdapter(dict[str, FactSettings]).validate_python(tree)
        facts = {model: _extended(ModelFacts(), given) for model, given in packaged.items()}
        for own in (models, {model: FactSettings(price=given) for model, given in prices.items()}):
            known = cls(facts)
            facts = facts | {model: _extended(known.facts(model), given) for model, given in own.items()}
        return cls(facts)

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


def _extended(facts: ModelFacts, given: FactSettings) -> ModelFacts:
    """The facts with everything replaced that is given."""
    changes: dict[str, Any] = {
        name: value
        for name in given.model_fields_set
        if (value := getattr(given, name)) is not None and name != "price"
    }
    if given.price is not None:
        changes |= {"price": _price(given.price), "tiers": _tiers(given.price)}
    return replace(facts, **changes)


def _tiers(given: PriceSettings) -> dict[str, Price]:
    named = {"flex": given.flex, "batch": given.batch}
    return {name: _rates(tier) for name, tier in named.items() if tier is not None}


def _price(given: PriceSettings) -> Price:
    above = None if given.above is None else _rates(given.above)
    return replace(_rates(given), above_tokens=given.above_tokens, above=above)


def _rates(given: TierSettings) -> Price:
    cached = given.input if given.cached_input is None else given.cached_input
    return Price(input=given.input, cached_input=cached, output=given.output)


def _pico_per_token(usd_per_million: float) -> int:
    return round(usd_per_million * PICO / 1_000_000)
