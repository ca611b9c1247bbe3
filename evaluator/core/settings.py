"""Every setting of an experiment, with its one-line meaning and its default.

An experiment is data: a TOML file that becomes one frozen ``Experiment``. Reading the file is the
command line's part; here text becomes settings, and mistakes become sentences that name the nearest
known key.
"""

import difflib
import tomllib
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evaluator.core.errors import InputError, SettingsError
from index_builder.snippets import make_snippeter

RuleName: TypeAlias = Literal["read", "snippet", "low_evidence"]
Retriever: TypeAlias = Literal["bm25", "dense", "hybrid"]
PromptName: TypeAlias = Literal["default", "strict"]
Family: TypeAlias = Literal["primary", "control", "exploratory"]
ProviderName: TypeAlias = Literal["openai_chat", "openai_responses", "gemini", "scripted"]
Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high"]
Parameter: TypeAlias = Literal[
    "temperature",
    "reasoning_effort",
    "thinking_budget",
    "thinking_level",
    "tool_choice",
    "parallel_tool_calls",
    "seed",
    "service_tier",
    "encrypted_reasoning",
]
"""What a model may refuse, whatever its provider calls it."""
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=80)]

LARGEST_INTEGER = 2**63 - 1
"""What TOML and JSON of every kind can hold."""


class Settings(BaseModel):
    """A table of settings: frozen, and closed to keys it does not know and to values of another kind."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    @field_validator("*", mode="before")
    @classmethod
    def _fits_every_file(cls, value: object) -> object:
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            msg = f"Input should be at most {LARGEST_INTEGER}"
            raise ValueError(msg)
        return value


class GateSettings(Settings):
    """Read-Gate and its family, per condition."""

    mode: Literal["off", "shadow", "enforce"] = Field("off", description="whether rulings change anything")
    rules: tuple[RuleName, ...] = Field(
        ("read",), description="rules whose firing counts", min_length=1, strict=False
    )
    inject: Literal["none", "user", "tool"] = Field(
        "none", description="show the top passage instead of asking to read"
    )
    max_corrections: int | None = Field(
        None, ge=0, description="rejections before the gate is exhausted; absent = only the turn limit"
    )
    when_exhausted: Literal["accept", "abstain"] = Field("accept", description="what an exhausted gate does")

    @model_validator(mode="after")
    def _can_be_carried_out(self) -> "GateSettings":
        if self.mode == "enforce" and self.rules != ("read",):
            msg = 'mode "enforce" takes rules = ["read"]'
            raise ValueError(msg)
        if self.inject != "none" and self.mode != "enforce":
            msg = f'inject = "{self.inject}" needs mode = "enforce"'
            raise ValueError(msg)
        if self.inject != "none" and self.when_exhausted == "abstain":
            msg = 'when_exhausted = "abstain" does not go with inject: finals after a passage are accepted'
            raise ValueError(msg)
        return self


class DatasetSettings(Settings):
    """A dataset of the grid."""

    name: Name
    bundle: str = Field(description="its bundle folder, relative to the working directory")
    real: bool = Field(
        default=False, description="its passages are of the real world; else scripted runs call it invented"
    )


class ConditionSettings(Settings):
    """A condition of the grid: who answers, under which gate."""

    name: Name
    controller: Name = Field(description="the name of a [controller.*] table")
    gate: GateSettings = GateSettings()
    repeat: int = Field(1, ge=1, description="2 or more: the same policy again, with other noise")
    prompt: PromptName | None = Field(None, description="absent = the protocol's")
    retriever: Retriever = Field("hybrid", description="which ranking search shows")


class PairSettings(Settings):
    """Two conditions compared question by question."""

    baseline: Name
    treatment: Name
    family: Family = Field("exploratory", description="rows of one family are corrected together (Holm)")
    select_on: str = Field("", description="a condition: only questions it searched for and left unread")


class ModelSettings(Settings):
    """A model and how to reach it; controllers and judges alike."""

    provider: ProviderName
    model: Name = Field(description="the provider's model id, or the scripted policy")
    base_url: str | None = Field(None, description="absent = the provider's own")
    api_key_env: str | None = Field(
        None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="the NAME of the variable that holds the key"
    )
    reasoning_effort: Effort | None = Field(None, description="sent as given; absent = not sent")
    thinking_budget: int | None = Field(
        None, ge=-1, description="tokens that Gemini may think; 0 = none, -1 = as it likes; absent = not sent"
    )
    service_tier: Literal["flex"] | None = Field(
        None, description="flex: cheaper, but allow 900 call_seconds; absent = the provider's usual"
    )
    max_output_tokens: int = Field(16_384, ge=1, description="room for one reply, reasoning included")
    send_seed: bool = Field(
        default=False, description="send the run's seed to the provider (scripted: always)"
    )
    allow_other_models: bool = Field(
        default=False, description="take answers of any model; else a cell stops at the first by another one"
    )

    @model_validator(mode="after")
    def _fits_its_provider(self) -> "ModelSettings":
        if self.thinking_budget is not None and self.provider != "gemini":
            msg = 'thinking_budget is of provider "gemini"; elsewhere it is reasoning_effort'
            raise ValueError(msg)
        if self.thinking_budget is not None and self.reasoning_effort is not None:
            msg = "thinking_budget and reasoning_effort exclude each other"
            raise ValueError(msg)
        if self.provider == "gemini" and self.reasoning_effort == "none":
            msg = 'provider "gemini" takes no reasoning_effort = "none"; say thinking_budget = 0'
            raise ValueError(msg)
        return self


class ProtocolSettings(Settings):
    """What the agent's world looks like; part of every trajectory's identity."""

    k: int = Field(5, ge=1, le=100, description="results a search shows")
    depth: int = Field(100, ge=1, le=1000, description="candidates of each ranking before fusion")
    snippet: str = Field("lead:200", description="what a result shows of a chunk: lead:N or best-sentences:N")
    prompt: PromptName = Field("default", description="the system prompt")
    tool_choice: Literal["auto", "required"] = Field("auto", description="whether a reply must call a tool")
    parallel_tool_calls: bool = Field(default=False, description="whether one reply may call several tools")
    decline: Literal["answered", "abstained"] = Field(
        "answered", description="what a final that says it cannot answer counts as"
    )

    @field_validator("snippet")
    @classmethod
    def _names_a_snippet(cls, spec: str) -> str:
        try:
            make_snippeter(spec)
        except InputError as error:
            raise ValueError(str(error)) from error
        return spec


class LimitSettings(Settings):
    """Where an episode ends."""

    turns: int = Field(10, ge=1, description="model calls before the forced answer")
    tokens: int = Field(128_000, ge=1_000, description="size of one call's prompt, reply room included")
    call_seconds: float = Field(120.0, gt=0, description="deadline of one model call, retries included")
    trajectory_seconds: float = Field(900.0, gt=0, description="deadline of one episode")


class RateSettings(Settings):
    """How fast the run may go."""

    trajectories: int = Field(64, ge=1, le=10_000, description="episodes in flight")
    requests_per_minute: int | None = Field(None, ge=1, description="absent = unlimited")
    tokens_per_minute: int | None = Field(None, ge=1, description="absent = unlimited")


class BudgetSettings(Settings):
    """What the run folder may spend, judging included."""

    usd: float | None = Field(None, gt=0, description="absent = no cap")


class TierSettings(Settings):
    """USD per million tokens."""

    input: float = Field(ge=0)
    cached_input: float | None = Field(None, ge=0, description="absent = as input")
    output: float = Field(ge=0)


class PriceSettings(TierSettings):
    """USD per million tokens of a model, and of its other tiers where it has any."""

    above_tokens: int | None = Field(None, ge=1, description="longer prompts are billed by above")
    above: TierSettings | None = Field(None, description="the price of prompts longer than above_tokens")
    flex: TierSettings | None = Field(None, description="the price of the flex tier")
    batch: TierSettings | None = Field(None, description="the price of the Batch API")

    @model_validator(mode="after")
    def _above_something(self) -> "PriceSettings":
        if (self.above is None) != (self.above_tokens is None):
            msg = "above and above_tokens go together"
            raise ValueError(msg)
        return self


class BudgetRangeSettings(Settings):
    """The thinking budgets that a model takes; -1, which leaves it to the model, is always one."""

    least: int = Field(ge=0, description="0 = thinking can be turned off")
    most: int = Field(ge=1)


class TakesSettings(Settings):
    """The values that a model takes; absent = any."""

    reasoning_effort: tuple[Effort, ...] | None = Field(None, strict=False)
    thinking_budget: BudgetRangeSettings | None = None


class FactSettings(Settings):
    """What is known of a model; what is given here replaces what the packaged table says."""

    aliases: tuple[Name, ...] | None = Field(
        None, strict=False, description="other ids that are the same model"
    )
    dated_snapshots: bool | None = Field(None, description='whether "<id>-YYYY-MM-DD" costs the same')
    context: int | None = Field(None, ge=1, description="tokens of the largest prompt")
    max_output: int | None = Field(None, ge=1, description="tokens of the largest reply, reasoning included")
    output_limit: Literal["max_tokens", "max_completion_tokens"] | None = Field(
        None, description="the field of Chat Completions that bounds a reply"
    )
    refuses: tuple[Parameter, ...] | None = Field(
        None, strict=False, description="left out of requests, and noted"
    )
    takes: TakesSettings | None = Field(
        None, description="an experiment that asks for another value is refused"
    )
    price: PriceSettings | None = Field(None, description="USD per million tokens")
    shutdown: str | None = Field(
        None, pattern=r"^\d{4}-\d{2}-\d{2}$", description="the day its provider switches it off"
    )


class Experiment(Settings):
    """A whole experiment."""

    name: Name = Field(description="and of its run folder below runs/, so no path")
    seed: int = Field(0, ge=0, description="of question sampling and of everything random")
    questions: int | None = Field(None, ge=1, description="per dataset, sampled by seed and id; absent = all")
    dataset: tuple[DatasetSettings, ...] = Field(min_length=1, strict=False)
    condition: tuple[ConditionSettings, ...] = Field(min_length=1, strict=False)
    pair: tuple[PairSettings, ...] = Field((), strict=False)
    controller: dict[str, ModelSettings] = Field(min_length=1)
    judge: dict[str, ModelSettings] = Field({}, description="the first table is the primary judge")
    protocol: ProtocolSettings = ProtocolSettings()
    limits: LimitSettings = LimitSettings()
    rate: RateSettings = RateSettings()
    budget: BudgetSettings = BudgetSettings()
    prices: dict[str, PriceSettings] = Field({}, description="of models that the table does not know")
    models: dict[str, FactSettings] = Field({}, description="facts that extend or replace the table's")

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, name: str) -> str:
        if name in {".", ".."} or not {"/", "\0"}.isdisjoint(name):
            msg = f"{name!r} cannot be the name of a folder; it must not be a path"
            raise ValueError(msg)
        return name

    @model_validator(mode="after")
    def _names_lead_somewhere(self) -> "Experiment":
        conditions = [condition.name for condition in self.condition]
        _all_distinct("dataset", [dataset.name for dataset in self.dataset])
        _all_distinct("condition", conditions)
        for condition in self.condition:
            _known(f"controller of condition {condition.name!r}", condition.controller, list(self.controller))
        for pair in self.pair:
            _known("baseline of a pair", pair.baseline, conditions)
            _known("treatment of a pair", pair.treatment, conditions)
            if pair.select_on:
                _known("select_on of a pair", pair.select_on, conditions)
            if pair.baseline == pair.treatment:
                msg = f"a pair compares {pair.baseline!r} with itself"
                raise ValueError(msg)
        for name in self.prices:
            if name in self.models and self.models[name].price is not None:
                msg = f"the price of {name!r} stands both in prices and in models"
                raise ValueError(msg)
        return self


def parse_experiment(text: str, source: str) -> Experiment:
    """Turn the text of a TOML file into settings.

    Args:
        text: The file's content.
        source: What to call it in errors.

    Raises:
        SettingsError: Naming the source, the key and the nearest known key or the accepted values.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{source} is not valid TOML: {error}") from error
    return experiment_of(tree, source)


def experiment_of(tree: object, source: str) -> Experiment:
    """Turn a parsed tree into settings; errors as ``parse_experiment``."""
    try:
        return Experiment.model_validate(tree)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        # A misspelt required key is both unknown and missing: the spelling is the better hint.
        first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
        raise SettingsError(f"{source}: {_sentence(first['type'], first['loc'], first['msg'])}") from error


def nearest(word: str, known: list[str]) -> str:
    """A hint that names the closest known word, or all of them when none is close."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known)) or 'none'}"


def _all_distinct(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        msg = f"two {what} tables are named {twice[0]!r}"
        raise ValueError(msg)


def _known(what: str, name: str, names: list[str]) -> None:
    if name not in names:
        msg = f"{what} is {name!r}, which is not defined; {nearest(name, names)}"
        raise ValueError(msg)


def _sentence(kind: str, location: tuple[int | str, ...], message: str) -> str:
    path = ".".join(str(part) for part in location)
    if kind == "extra_forbidden":
        return f"unknown setting {path!r}; {nearest(str(location[-1]), _keys_at(location[:-1]))}"
    if kind == "missing":
        return f"the setting {path!r} is missing"
    return f"{path or 'experiment'}: {message.removeprefix('Value error, ')}"


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    """The known keys of the table at a location of the settings tree."""
    tables: list[type[Settings]] = [Experiment]
    for part in location:
        if isinstance(part, str):
            fields = [table.model_fields[part].annotation for table in tables if part in table.model_fields]
            tables = [inner for annotation in fields for inner in _tables_in(annotation)] or tables
    return sorted({key for table in tables for key in table.model_fields})


def _tables_in(annotation: object) -> Iterator[type[Settings]]:
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        yield annotation
    for inner in get_args(annotation):
        yield from _tables_in(inner)
