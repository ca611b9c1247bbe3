"""The text of an experiment reads back as the experiment."""

from hypothesis import given
from hypothesis import strategies as st

from evaluator.core.settings import Experiment, parse_experiment
from evaluator.store.experiment_text import experiment_text

FULL = """
name = "smoke"
seed = 7
questions = 200
[[dataset]]
name = "hotpotqa"
bundle = "bundles/hotpotqa"
[[dataset]]
name = "two_wiki"
bundle = "bundles/two_wiki"
[[condition]]
name = "minimal"
controller = "mini"
[[condition]]
name = "minimal+gate"
controller = "mini"
gate = { mode = "enforce", rules = ["read"], inject = "none", max_corrections = 2, when_exhausted = "accept" }
repeat = 2
prompt = "strict"
retriever = "bm25"
[[pair]]
baseline = "minimal"
treatment = "minimal+gate"
family = "primary"
select_on = "minimal"
[controller.mini]
provider = "openai_chat"
model = "gpt-5-mini"
base_url = "http://127.0.0.1:8900/v1"
api_key_env = "OPENAI_API_KEY"
reasoning_effort = "minimal"
send_seed = true
[judge.primary]
provider = "openai_chat"
model = "gpt-5-mini"
[protocol]
k = 5
[limits]
call_seconds = 0.5
[rate]
requests_per_minute = 3000
[budget]
usd = 50.0
[prices."my/model 1.5"]
input = 0.15
output = 6e-7
[models."my/model 2"]
refuses = []
takes = { thinking_budget = { least = 0, most = 5 }, reasoning_effort = ["low"] }
price = { input = 1, output = 2, flex = { input = 0.5, output = 1 } }
shutdown = "2027-01-01"
"""


def again(experiment: Experiment) -> Experiment:
    return parse_experiment(experiment_text(experiment), "copy")


def test_every_setting_survives() -> None:
    experiment = parse_experiment(FULL, "t.toml")
    assert again(experiment) == experiment
    assert list(again(experiment).judge) == list(experiment.judge)


def test_facts_that_are_not_given_stay_absent() -> None:
    facts = again(parse_experiment(FULL, "t.toml")).models["my/model 2"]
    assert (facts.refuses, facts.aliases, facts.context) == ((), None, None)


def test_defaults_are_written_out_and_absent_ones_left_out() -> None:
    text = experiment_text(parse_experiment(FULL, "t.toml"))
    assert "depth = 100" in text
    assert "tokens_per_minute" not in text


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=80)
folder_names = texts.filter(lambda name: name not in {".", ".."} and not {"/", "\0"} & set(name))
amounts = st.floats(min_value=1e-9, max_value=1e9)


@given(name=folder_names, table=texts, usd=amounts, seed=st.integers(0, 2**63 - 1))
def test_any_name_and_any_number_survives(name: str, table: str, usd: float, seed: int) -> None:
    model = {"provider": "scripted", "model": name}
    experiment = Experiment.model_validate(
        {
            "name": name,
            "seed": seed,
            "dataset": [{"name": name, "bundle": name}],
            "condition": [{"name": name, "controller": table}],
            "controller": {table: model},
            "budget": {"usd": usd},
        }
    )
    assert again(experiment) == experiment
