"""An experiment's text becomes settings; its mistakes become sentences."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluator.core.errors import InputError, SettingsError
from evaluator.core.settings import (
    BudgetRangeSettings,
    BudgetSettings,
    ConditionSettings,
    DatasetSettings,
    Experiment,
    FactSettings,
    GateSettings,
    LimitSettings,
    ModelSettings,
    PairSettings,
    PriceSettings,
    ProtocolSettings,
    RateSettings,
    Settings,
    TakesSettings,
    TierSettings,
    experiment_of,
    nearest,
    parse_experiment,
)

MINIMAL = """
name = "smoke"
[[dataset]]
name = "hotpotqa"
bundle = "bundles/hotpotqa"
[[condition]]
name = "minimal"
controller = "mini"
[controller.mini]
provider = "openai_chat"
model = "gpt-5-mini"
"""

# Every table, and keys of every kind.
FULL = """
name = "smoke"
seed = 7
questions = 200

[[dataset]]
name = "hotpotqa"
bundle = "bundles/hotpotqa"

[[condition]]
name = "minimal"
controller = "mini"

[[condition]]
name = "minimal+gate"
controller = "mini"
repeat = 2
prompt = "strict"
retriever = "bm25"
gate = { mode = "enforce", rules = ["read"], inject = "none", max_corrections = 2, when_exhausted = "accept" }

[[pair]]
baseline = "minimal"
treatment = "minimal+gate"
family = "primary"
select_on = ""

[controller.mini]
provider = "openai_chat"
model = "gpt-5-mini"
base_url = "http://127.0.0.1:8900/v1"
api_key_env = "OPENAI_API_KEY"
reasoning_effort = "minimal"

[judge.primary]
provider = "openai_chat"
model = "gpt-5-mini"

[protocol]
k = 5
depth = 100
snippet = "lead:200"
prompt = "default"
tool_choice = "auto"

[limits]
turns = 10
tokens = 128000
call_seconds = 120
trajectory_seconds = 900

[rate]
trajectories = 64
requests_per_minute = 3000
tokens_per_minute = 2000000

[budget]
usd = 50.0

[prices."my-model"]
input = 0.15
cached_input = 0.075
output = 0.60
"""


def sentence(text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        parse_experiment(text, "x.toml")
    return str(caught.value)


def with_line(line: str, *, after: str) -> str:
    assert after in MINIMAL
    return MINIMAL.replace(after, f"{after}\n{line}", 1)


def test_the_smallest_experiment_has_every_default() -> None:
    experiment = parse_experiment(MINIMAL, "x.toml")
    assert (experiment.seed, experiment.questions, experiment.pair, experiment.judge) == (0, None, (), {})
    assert experiment.protocol.model_dump() == {
        "k": 5, "depth": 100, "snippet": "lead:200", "prompt": "default", "tool_choice": "auto",
        "parallel_tool_calls": False, "decline": "answered",
    }  # fmt: skip
    assert experiment.limits.model_dump() == {
        "turns": 10, "tokens": 128_000, "call_seconds": 120.0, "trajectory_seconds": 900.0,
    }  # fmt: skip
    assert experiment.condition[0].gate == GateSettings()
    assert experiment.condition[0].gate.model_dump() == {
        "mode": "off", "rules": ("read",), "inject": "none", "max_corrections": None,
        "when_exhausted": "accept",
    }  # fmt: skip
    assert (experiment.rate.trajectories, experiment.budget.usd) == (64, None)


def test_every_key_of_the_design_is_taken() -> None:
    experiment = parse_experiment(FULL, "x.toml")
    gated = experiment.condition[1]
    assert (gated.repeat, gated.prompt, gated.retriever, gated.gate.max_corrections) == (
        2,
        "strict",
        "bm25",
        2,
    )
    assert experiment.pair[0] == PairSettings(
        baseline="minimal", treatment="minimal+gate", family="primary", select_on=""
    )
    assert experiment.controller["mini"].base_url == "http://127.0.0.1:8900/v1"
    assert (experiment.budget.usd, experiment.prices["my-model"].cached_input) == (50.0, 0.075)


@pytest.mark.parametrize("key", ["seed", "name"])
def test_settings_cannot_be_changed(key: str) -> None:
    experiment = parse_experiment(MINIMAL, "x.toml")
    with pytest.raises(ValidationError, match="frozen"):
        setattr(experiment, key, getattr(experiment, key))


def test_an_error_of_settings_is_wrong_input() -> None:
    assert issubclass(SettingsError, InputError)


def test_text_that_is_no_toml_is_named_so() -> None:
    assert sentence("name = ").startswith("x.toml is not valid TOML: ")


@pytest.mark.parametrize(
    ("line", "after", "expected"),
    [
        ("sead = 3", 'name = "smoke"', "unknown setting 'sead'; did you mean 'seed'?"),
        ("bundel = 1", 'name = "hotpotqa"', "unknown setting 'dataset.0.bundel'; did you mean 'bundle'?"),
        ('retreiver = "bm25"', 'name = "minimal"', "'condition.0.retreiver'; did you mean 'retriever'?"),
        ('gate = { mod = "off" }', 'name = "minimal"', "'condition.0.gate.mod'; did you mean 'mode'?"),
        ('gate.injct = "user"', 'name = "minimal"', "'condition.0.gate.injct'; did you mean 'inject'?"),
        ("api_key = 1", 'model = "gpt-5-mini"', "'controller.mini.api_key'; did you mean 'api_key_env'?"),
        ("[limits]\nturn = 3", 'model = "gpt-5-mini"', "'limits.turn'; did you mean 'turns'?"),
        ("[judge.a]\nmodell = 3", 'model = "gpt-5-mini"', "'judge.a.modell'; did you mean 'model'?"),
        ("[prices.m]\ncached = 3", 'model = "gpt-5-mini"', "'prices.m.cached'; did you mean 'cached_input'?"),
        ("[[pair]]\nbase = 1", 'model = "gpt-5-mini"', "'pair.0.base'; did you mean 'baseline'?"),
    ],
)
def test_an_unknown_key_names_its_place_and_the_nearest_known_one(
    line: str, after: str, expected: str
) -> None:
    found = sentence(with_line(line, after=after))
    assert found.startswith("x.toml: unknown setting ")
    assert found.endswith(expected)


def test_an_unknown_key_that_resembles_none_lists_all_of_its_table() -> None:
    found = sentence(with_line("[budget]\nqqqq = 1", after='model = "gpt-5-mini"'))
    assert found == "x.toml: unknown setting 'budget.qqqq'; known: usd"


def test_a_misspelt_required_key_is_called_misspelt_not_missing() -> None:
    found = sentence(MINIMAL.replace('controller = "mini"', 'controler = "mini"'))
    assert found == "x.toml: unknown setting 'condition.0.controler'; did you mean 'controller'?"


def test_a_missing_key_is_named() -> None:
    assert sentence(MINIMAL.replace('name = "smoke"', "")) == "x.toml: the setting 'name' is missing"
    assert sentence('name = "smoke"').startswith("x.toml: the setting 'dataset' is missing")


@pytest.mark.parametrize(
    ("line", "after", "place"),
    [
        ('seed = "x"', 'name = "smoke"', "seed"),
        ("questions = 0", 'name = "smoke"', "questions"),
        ("questions = true", 'name = "smoke"', "questions"),
        ('questions = "8"', 'name = "smoke"', "questions"),
        ("questions = 8.0", 'name = "smoke"', "questions"),
        (f"questions = {2**63}", 'name = "smoke"', "questions"),
        (f"seed = {2**63}", 'name = "smoke"', "seed"),
        ("repeat = 0", 'name = "minimal"', "condition.0.repeat"),
        ('retriever = "bing"', 'name = "minimal"', "condition.0.retriever"),
        ('gate.mode = "on"', 'name = "minimal"', "condition.0.gate.mode"),
        ("gate.rules = []", 'name = "minimal"', "condition.0.gate.rules"),
        ('[protocol]\nsnippet = "lead:0"', 'model = "gpt-5-mini"', "protocol.snippet"),
        ("[protocol]\nk = 101", 'model = "gpt-5-mini"', "protocol.k"),
        ("[budget]\nusd = 0", 'model = "gpt-5-mini"', "budget.usd"),
        ("[limits]\ntokens = 999", 'model = "gpt-5-mini"', "limits.tokens"),
        ("[rate]\ntrajectories = 10001", 'model = "gpt-5-mini"', "rate.trajectories"),
        ("[rate]\ntrajectories = 0", 'model = "gpt-5-mini"', "rate.trajectories"),
        ("[prices.m]\ninput = -1\noutput = 1", 'model = "gpt-5-mini"', "prices.m.input"),
        ("max_output_tokens = 0", 'model = "gpt-5-mini"', "controller.mini.max_output_tokens"),
    ],
)
def test_a_value_of_a_wrong_kind_or_size_is_named_with_what_is_accepted(
    line: str, after: str, place: str
) -> None:
    assert sentence(with_line(line, after=after)).startswith(f"x.toml: {place}: Input should ") or (
        place in {"protocol.snippet", "condition.0.gate.rules"}
        and sentence(with_line(line, after=after)).startswith(f"x.toml: {place}: ")
    )


@pytest.mark.parametrize("name", ["../x", "/x", "a/b", ".", "..", "a\\u0000b"])
def test_an_experiment_whose_name_is_a_path_is_refused(name: str) -> None:
    found = sentence(MINIMAL.replace('"smoke"', f'"{name}"'))
    assert found.startswith("x.toml: name: ")
    assert found.endswith("cannot be the name of a folder; it must not be a path")


@pytest.mark.parametrize("spec", ["lead:0", "best-sentences:", "middle:200"])
def test_a_snippet_of_an_unknown_form_is_refused_with_the_known_ones(spec: str) -> None:
    found = sentence(with_line(f'[protocol]\nsnippet = "{spec}"', after='model = "gpt-5-mini"'))
    assert found.startswith(
        f'x.toml: protocol.snippet: snippet is {spec!r}; known: "lead:N" and "best-sentences:N"'
    )


def test_a_snippet_of_the_best_sentences_is_a_setting() -> None:
    text = with_line('[protocol]\nsnippet = "best-sentences:300"', after='model = "gpt-5-mini"')
    assert parse_experiment(text, "x.toml").protocol.snippet == "best-sentences:300"


def test_a_key_in_place_of_the_name_of_its_variable_is_refused_unseen() -> None:
    found = sentence(with_line('api_key_env = "sk-proj-canary"', after='model = "gpt-5-mini"'))
    assert found.startswith("x.toml: controller.mini.api_key_env: ")
    assert "canary" not in found


def test_a_condition_is_not_compared_with_itself() -> None:
    found = sentence(FULL.replace('treatment = "minimal+gate"', 'treatment = "minimal"'))
    assert found == "x.toml: experiment: a pair compares 'minimal' with itself"


def test_a_tree_that_is_no_table_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"x.toml: experiment: Input should be"):
        experiment_of([], "x.toml")


def test_enforcing_takes_the_read_rule_only() -> None:
    found = sentence(with_line('gate = { mode = "enforce", rules = ["snippet"] }', after='name = "minimal"'))
    assert found == 'x.toml: condition.0.gate: mode "enforce" takes rules = ["read"]'
    assert GateSettings(mode="shadow", rules=("snippet", "low_evidence")).rules == ("snippet", "low_evidence")


@pytest.mark.parametrize("mode", ["off", "shadow"])
def test_injecting_needs_an_enforced_gate(mode: str) -> None:
    line = f'gate = {{ mode = "{mode}", inject = "user" }}'
    found = sentence(with_line(line, after='name = "minimal"'))
    assert found == 'x.toml: condition.0.gate: inject = "user" needs mode = "enforce"'


def test_finals_after_an_injected_passage_are_accepted_so_none_can_be_an_abstention() -> None:
    line = 'gate = { mode = "enforce", inject = "tool", when_exhausted = "abstain" }'
    found = sentence(with_line(line, after='name = "minimal"'))
    assert found.startswith('x.toml: condition.0.gate: when_exhausted = "abstain" does not go with inject')


def test_two_tables_of_one_name_are_refused() -> None:
    dataset = '[[dataset]]\nname = "hotpotqa"\nbundle = "other"\n'
    assert sentence(MINIMAL + dataset) == "x.toml: experiment: two dataset tables are named 'hotpotqa'"
    condition = '[[condition]]\nname = "minimal"\ncontroller = "mini"\n'
    assert sentence(MINIMAL + condition) == "x.toml: experiment: two condition tables are named 'minimal'"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'controller = "mini"\nrepeat',
            'controller = "mino"\nrepeat',
            "controller of condition 'minimal+gate'",
        ),
        ('baseline = "minimal"', 'baseline = "minimale"', "baseline of a pair is 'minimale'"),
        ('treatment = "minimal+gate"', 'treatment = "gate"', "treatment of a pair is 'gate'"),
        ('select_on = ""', 'select_on = "minmal"', "select_on of a pair is 'minmal'"),
    ],
)
def test_a_name_that_leads_nowhere_names_the_nearest_one(old: str, new: str, expected: str) -> None:
    found = sentence(FULL.replace(old, new))
    assert expected in found
    assert re.search(r"which is not defined; (did you mean '(mini|minimal|minimal\+gate)'\?|known: )", found)


def test_nearest_hints_at_the_closest_or_lists_all() -> None:
    assert nearest("trun", ["turns", "tokens"]) == "did you mean 'turns'?"
    assert nearest("zzz", ["b", "a"]) == "known: a, b"
    assert nearest("zzz", []) == "known: none"


@pytest.mark.parametrize(
    "table",
    [
        BudgetRangeSettings, BudgetSettings, ConditionSettings, DatasetSettings, Experiment, FactSettings,
        GateSettings, LimitSettings, ModelSettings, PairSettings, PriceSettings, ProtocolSettings,
        RateSettings, TakesSettings, TierSettings,
    ],
)  # fmt: skip
def test_every_table_is_closed_and_frozen(table: type[Settings]) -> None:
    assert table.model_config["frozen"] is True
    assert table.model_config["extra"] == "forbid"


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_becomes_settings_or_one_sentence(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_experiment(text, "x.toml")


def test_settings_survive_their_own_json() -> None:
    experiment = parse_experiment(FULL, "x.toml")
    assert experiment_of(experiment.model_dump(mode="json"), "again") == experiment
    assert experiment_of(tomllib.loads(FULL), "again") == experiment


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ("contxt = 5", "unknown setting 'models.m.contxt'; did you mean 'context'?"),
        ('refuses = ["top_p"]', "models.m.refuses.0: Input should be 'temperature'"),
        ("takes = { reasoning_efort = [] }", "unknown setting 'models.m.takes.reasoning_efort'"),
        ("price = { input = 1, output = 1, flx = 1 }", "unknown setting 'models.m.price.flx'"),
        ("price = { input = 1, output = 1, above_tokens = 5 }", "above and above_tokens go together"),
        ('shutdown = "soon"', "models.m.shutdown: String should match pattern"),
        (
            "price = { input = 1, output = 1 }\n[prices.m]\ninput = 1\noutput = 1",
            "the price of 'm' stands both",
        ),
    ],
)
def test_facts_of_a_model_are_closed_and_have_one_price(facts: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_experiment(f"{MINIMAL}\n[models.m]\n{facts}", "x.toml")
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ('provider = "openai_chat"\nthinking_budget = 5', 'thinking_budget is of provider "gemini"'),
        ('provider = "gemini"\nthinking_budget = 5\nreasoning_effort = "low"', "exclude each other"),
        ('provider = "gemini"\nreasoning_effort = "none"', "say thinking_budget = 0"),
        ('provider = "gemini"\nthinking_budget = -2', "greater than or equal to -1"),
        ('provider = "openai_responses"\nservice_tier = "fast"', "Input should be 'flex'"),
    ],
)
def test_a_model_is_asked_only_for_what_its_provider_has(given: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_experiment(MINIMAL.replace('provider = "openai_chat"', given), "x.toml")
    assert sentence in str(raised.value)
