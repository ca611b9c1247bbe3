"""Prices: which model has which, and what a call costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.budget.prices import FREE, Price, PriceTable, is_snapshot
from evaluator.core.messages import Usage
from evaluator.core.settings import FactSettings, ModelSettings, PriceSettings, TierSettings

TABLE = PriceTable.load({})
MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("gpt-4o-mini", (0.15, 0.075, 0.60)),
        ("gpt-5-mini", (0.25, 0.025, 2.00)),
        ("gemini-2.5-flash", (0.30, 0.03, 2.50)),
        ("gemini-2.5-pro", (1.25, 0.125, 10.00)),
        ("gpt-5-mini-2025-08-07", (0.25, 0.025, 2.00)),
        ("models/gemini-2.5-flash", (0.30, 0.03, 2.50)),
    ],
)
def test_known_models_their_snapshots_and_aliases_have_their_price(
    model: str, dollars: tuple[float, float, float]
) -> None:
    price = TABLE.price(model)
    assert price is not None
    assert (price.input, price.cached_input, price.output) == dollars


@pytest.mark.parametrize(
    "model",
    ["gpt-4o", "gpt-4o-mini-audio-preview", "gpt-4o-mini-2024", "x-gpt-4o-mini", "gemini-2.5-flash-lite", ""],
)
def test_a_model_that_only_resembles_a_known_one_has_no_price(model: str) -> None:
    assert TABLE.price(model) is None


def test_cached_tokens_are_part_of_the_input_and_reasoning_tokens_of_the_output() -> None:
    price = Price(input=0.25, cached_input=0.025, output=2.00)
    usage = Usage(input_tokens=MILLION, cached_tokens=400_000, output_tokens=10_000, reasoning_tokens=9_000)
    # 600,000 × 0.25/M + 400,000 × 0.025/M + 10,000 × 2/M = 0.15 + 0.01 + 0.02
    assert price.cost_usd(usage) == 0.18


def test_a_long_prompt_is_billed_by_the_dearer_tier_as_a_whole() -> None:
    pro = TABLE.price("gemini-2.5-pro")
    assert pro is not None
    assert pro.cost_usd(Usage(input_tokens=200_000)) == 0.25  # 0.2 M × 1.25
    assert pro.cost_usd(Usage(input_tokens=200_001)) == pytest.approx(0.5000025)  # 0.200001 M × 2.50


def test_an_experiment_adds_prices_and_overrides_them_without_losing_what_is_known() -> None:
    table = PriceTable.load(
        {
            "my-model": PriceSettings(input=1.0, output=2.0),
            "gpt-5-mini": PriceSettings(input=9.0, cached_input=8.0, output=7.0),
        }
    )
    assert table.price("my-model") == Price(input=1.0, cached_input=1.0, output=2.0)
    assert table.price("gpt-5-mini") == Price(input=9.0, cached_input=8.0, output=7.0)
    assert table.facts("gpt-5-mini").refuses == ("temperature",)
    assert table.price("gpt-4o-mini") == TABLE.price("gpt-4o-mini")


def _facts(**given: object) -> FactSettings:
    return FactSettings.model_validate(given)


def test_an_experiment_replaces_the_facts_it_names_and_keeps_the_others() -> None:
    price = {"input": 1.0, "output": 4.0, "flex": {"input": 0.5, "output": 2.0}}
    models = {"gpt-5-mini": _facts(refuses=[], aliases=["mini"]), "mine": _facts(context=100, price=price)}
    table = PriceTable.load({}, models)
    mini = table.facts("gpt-5-mini")
    assert (mini.refuses, mini.aliases, mini.context) == ((), ("mini",), 272_000)
    assert mini.price == TABLE.price("gpt-5-mini")
    assert table.price("mini") == TABLE.price("gpt-5-mini")
    assert table.facts("mine").context == 100
    assert table.price("mine", "flex") == Price(input=0.5, cached_input=0.5, output=2.0)
    assert TABLE.facts("gpt-5-mini").refuses == ("temperature",)


def test_a_price_and_facts_of_one_model_add_up() -> None:
    own = PriceSettings(input=1.0, output=2.0, above_tokens=10, above=TierSettings(input=3.0, output=4.0))
    table = PriceTable.load({"mine": own}, {"mine": _facts(max_output=7)})
    assert table.facts("mine").max_output == 7
    price = table.price("mine")
    assert price is not None
    assert price.cost_usd(Usage(MILLION, 0, 0)) == 3.0
    assert price.cost_usd(Usage(10, 0, MILLION)) == pytest.approx(2.00001)


@pytest.mark.parametrize(
    ("model", "tier", "output"),
    [
        ("gpt-5-mini", "standard", 2.00),
        ("gpt-5-mini-2025-08-07", "flex", 1.00),
        ("gpt-5-mini", "batch", 1.00),
        ("gpt-4o-mini", "batch", 0.30),
        ("gpt-4o-mini", "flex", None),
        ("gpt-5-mini", "priority", None),
        ("mystery", "standard", None),
    ],
)
def test_a_tier_has_its_own_price_and_an_unknown_one_none(
    model: str, tier: str, output: float | None
) -> None:
    price = TABLE.price(model, tier)
    assert (price and price.output) == output


@pytest.mark.parametrize(
    ("model", "given", "objection"),
    [
        ("gpt-5-mini", {"reasoning_effort": "minimal"}, None),
        ("gpt-5-mini", {"reasoning_effort": "none"}, "minimal | low | medium | high, not 'none'"),
        ("gpt-5-mini", {}, None),
        ("mystery", {"reasoning_effort": "none"}, None),
        ("mystery", {"thinking_budget": 7}, None),
        ("gemini-2.5-flash", {"thinking_budget": 0}, None),
        ("gemini-2.5-flash", {"thinking_budget": -1}, None),
        ("gemini-2.5-flash", {"thinking_budget": 24_577}, "of 0 to 24576 or -1, not 24577"),
        ("gemini-2.5-pro", {"thinking_budget": 0}, "of 128 to 32768 or -1, not 0"),
        ("gemini-2.5-pro", {"thinking_budget": -1}, None),
    ],
)
def test_a_value_that_a_model_would_refuse_is_told_before_the_call(
    model: str, given: dict[str, object], objection: str | None
) -> None:
    provider = "gemini" if "thinking_budget" in given else "openai_chat"
    settings = ModelSettings.model_validate({"provider": provider, "model": model, **given})
    said = TABLE.facts(model).objection(settings)
    assert said is None if objection is None else said and objection in said


def test_the_shutdown_dates_of_the_papers_models_are_known() -> None:
    models = ("gpt-5-mini", "gpt-4o-mini", "gemini-2.5-flash", "gemini-2.5-pro", "mystery")
    days = [TABLE.facts(model).shutdown for model in models]
    assert days == ["2026-12-11", "2027-01-14", "2026-12-01", "2026-12-01", None]


def test_a_scripted_model_costs_nothing() -> None:
    assert FREE.cost_usd(Usage(10**9, 0, 10**9, 0)) == 0
    assert FREE.worst_usd(10**9, 10**9) == 0


@pytest.mark.parametrize(
    ("requested", "returned", "served"),
    [
        ("gpt-4o-mini", "gpt-4o-mini", True),
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2025-01-01", False),
        ("gpt-4o-mini", "gpt-4o", False),
        ("gpt-4o-mini", "gpt-4o-mini-high", False),
        ("gemini-2.5-flash", "models/gemini-2.5-flash", True),
        ("gemini-2.5-flash", "gemini-3-flash", False),
        ("qwen", "qwen", True),
        ("qwen", "qwen-2026-01-02", True),
        ("qwen", "llama", False),
    ],
)
def test_an_answer_counts_only_from_the_model_its_snapshot_or_a_declared_alias(
    requested: str, returned: str, *, served: bool
) -> None:
    assert TABLE.serves(requested, returned) is served


def test_a_snapshot_is_a_date_and_nothing_else_behind_the_id() -> None:
    assert is_snapshot("m", "m-2026-11-30")
    assert not is_snapshot("m", "m-2026-11-30-preview")
    assert not is_snapshot("m", "m")


_PRICES = st.floats(min_value=0, max_value=100).map(lambda dollars: round(dollars, 4))


@given(
    prices=st.tuples(_PRICES, _PRICES, _PRICES),
    tokens=st.tuples(st.integers(0, 300_000), st.integers(0, 300_000), st.integers(0, 100_000)),
    slack=st.tuples(st.integers(0, 1000), st.integers(0, 1000)),
)
def test_the_worst_case_is_never_below_the_cost(
    prices: tuple[float, float, float], tokens: tuple[int, int, int], slack: tuple[int, int]
) -> None:
    cheap, dear = Price(*prices), Price(2 * prices[0], 2 * prices[1], 2 * prices[2])
    price = Price(*prices, above_tokens=200_000, above=dear)
    usage = Usage(tokens[0], min(tokens[0], tokens[1]), tokens[2])
    worst = price.worst_usd(usage.input_tokens + slack[0], usage.output_tokens + slack[1])
    assert worst >= price.cost_usd(usage) >= cheap.cost_usd(usage)
