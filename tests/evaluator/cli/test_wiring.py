"""Wiring: the right implementation for each setting, and every shipped experiment sound."""

import asyncio
from datetime import date
from pathlib import Path

import pytest

from evaluator.budget.ledger import Ledger
from evaluator.cli import wiring
from evaluator.controllers.fakes import FakeCalls
from evaluator.controllers.pressure import Pressures
from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import CredentialError, SettingsError
from evaluator.core.messages import ModelRequest, Reply, SystemMessage, UserMessage
from evaluator.core.settings import Experiment, ModelSettings, RateSettings, parse_experiment
from evaluator.run.clocks import SystemClock
from evaluator.store.manifest import ModelsSeen

SHIPPED = ("paper-grid", "quickstart", "real-smoke", "stubborn")
HASTY = ModelSettings(provider="scripted", model="hasty")
MINI = ModelSettings(provider="openai_chat", model="gpt-5-mini", api_key_env="RG_KEY")


def experiment(here: Path, *changes: tuple[str, str]) -> Experiment:
    text = (here / "small.toml").read_text()
    for old, new in changes:
        text = text.replace(old, new, 1)
    return parse_experiment(text, "small.toml")


class Nowhere:
    """A journal that keeps nothing."""

    async def append(self, record: object) -> None:
        del record


def test_every_shipped_experiment_is_found_by_its_name() -> None:
    assert tuple(sorted(path.stem for path in wiring.SHIPPED.glob("*.toml"))) == SHIPPED
    for name in SHIPPED:
        assert wiring.find_experiment(name).name == name


def test_quickstart_has_its_six_conditions_on_three_sets_and_its_pairs() -> None:
    quickstart = wiring.find_experiment("quickstart")
    conditions = [condition.name for condition in quickstart.condition]
    assert conditions == ["hasty", "hasty-rerun", "hasty+gate", "hasty+inject", "diligent", "diligent+gate"]
    assert [dataset.bundle for dataset in quickstart.dataset] == [
        "bundles/world-hotpotqa",
        "bundles/world-two_wiki",
        "bundles/world-musique",
    ]
    primary = [(pair.baseline, pair.treatment) for pair in quickstart.pair if pair.family == "primary"]
    assert primary == [("hasty", "hasty+gate")]
    assert quickstart.questions is not None
    assert quickstart.questions * len(conditions) * 3 >= 1500


def test_the_paper_grid_is_twelve_cells_of_a_thousand_questions() -> None:
    grid = wiring.find_experiment("paper-grid")
    assert (len(grid.dataset) * len(grid.condition), grid.questions) == (12, 1000)
    assert {condition.retriever for condition in grid.condition} == {"hybrid"}
    assert wiring.prices_used(grid)["gpt-5-mini"] == {"input": 0.25, "cached_input": 0.025, "output": 2.0}
    wiring.require_prices(grid)
    assert wiring.deviations(grid)["minimal"]["temperature"] == "not supported"
    assert wiring.deviations(grid)["judge.primary"] == {"temperature": "not supported"}
    assert "4o-mini" not in wiring.deviations(grid)


def test_a_file_comes_before_a_shipped_name_only_when_it_ends_in_toml(here: Path) -> None:
    (here / "quickstart").mkdir()
    assert wiring.find_experiment("quickstart").name == "quickstart"
    assert wiring.find_experiment("small.toml").name == "small"
    (here / "broken.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="cannot read the experiment"):
        wiring.find_experiment("broken.toml")
    (here / "folder.toml").mkdir()
    with pytest.raises(SettingsError, match="cannot read the experiment"):
        wiring.find_experiment("folder.toml")


def test_keys_are_looked_for_by_name_only_where_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RG_KEY", raising=False)
    wiring.require_reachable({"hasty": HASTY})
    with pytest.raises(CredentialError, match=r"mini \(gpt-5-mini\) needs a key: set the variable RG_KEY"):
        wiring.require_reachable({"mini": MINI})
    monkeypatch.setenv("RG_KEY", "")
    with pytest.raises(CredentialError, match="RG_KEY"):
        wiring.require_reachable({"mini": MINI})
    monkeypatch.setenv("RG_KEY", "something")
    wiring.require_reachable({"mini": MINI})


def test_prices_are_needed_under_a_cap_for_judges_too(here: Path) -> None:
    judge = (
        '[judge.primary]\nprovider = "scripted"\nmodel = "judge"',
        '[judge.primary]\nprovider = "openai_chat"\nmodel = "mystery"',
    )
    wiring.require_prices(experiment(here, judge))
    capped = experiment(here, judge, ("[rate]", "[budget]\nusd = 1\n[rate]"))
    with pytest.raises(SettingsError, match="mystery has no price"):
        wiring.require_prices(capped)
    priced = ("[rate]", "[prices.mystery]\ninput = 1\noutput = 2\n[budget]\nusd = 1\n[rate]")
    wiring.require_prices(experiment(here, judge, priced))
    assert wiring.prices_used(experiment(here, judge, priced))["mystery"]["cached_input"] == 1.0


def test_a_value_that_a_model_refuses_is_told_before_the_run(here: Path) -> None:
    judge = '[judge.primary]\nprovider = "scripted"\nmodel = "judge"'
    own = '[judge.primary]\nprovider = "openai_chat"\nmodel = "gpt-5-mini"\nreasoning_effort = "none"'
    wiring.require_taken(experiment(here))
    with pytest.raises(SettingsError, match="gpt-5-mini takes reasoning_effort minimal"):
        wiring.require_taken(experiment(here, (judge, own)))
    facts = '[models.gpt-5-mini.takes]\nreasoning_effort = ["none"]\n[rate]'
    wiring.require_taken(experiment(here, (judge, own), ("[rate]", facts)))


@pytest.mark.parametrize(
    ("today", "notes"),
    [
        (date(2026, 11, 10), []),
        (date(2026, 11, 11), ["gpt-5-mini is to be switched off on 2026-12-11"]),
        (date(2026, 12, 11), ["gpt-5-mini was to be switched off on 2026-12-11"]),
    ],
)
def test_a_model_that_is_switched_off_soon_is_noted(here: Path, today: date, notes: list[str]) -> None:
    judge = ('provider = "scripted"\nmodel = "judge"', 'provider = "openai_chat"\nmodel = "gpt-5-mini"')
    told = list(wiring.cautions(experiment(here, judge), today))
    assert [note.partition(";")[0] for note in told] == notes


def test_a_model_that_holds_less_than_an_episode_may_grow_to_is_noted(here: Path) -> None:
    facts = ("[rate]", "[models.mine]\ncontext = 32768\n[rate]")
    mine = ('provider = "scripted"\nmodel = "judge"', 'provider = "openai_chat"\nmodel = "mine"')
    (note,) = wiring.cautions(experiment(here, facts, mine), date(2026, 1, 1))
    assert "mine holds 32768 tokens, fewer than limits.tokens = 128000" in note
    assert list(wiring.cautions(experiment(here, mine), date(2026, 1, 1))) == []


def test_every_price_that_can_apply_is_in_the_manifest(here: Path) -> None:
    judge = (
        'provider = "scripted"\nmodel = "judge"',
        'provider = "openai_chat"\nmodel = "gpt-5-mini"\nservice_tier = "flex"',
    )
    assert wiring.prices_used(experiment(here, judge))["gpt-5-mini flex"] == {
        "input": 0.125,
        "cached_input": 0.0125,
        "output": 1.0,
    }
    pro = ('provider = "scripted"\nmodel = "judge"', 'provider = "openai_chat"\nmodel = "gemini-2.5-pro"')
    used = wiring.prices_used(experiment(here, pro))["gemini-2.5-pro"]
    assert (used["above_tokens"], used["above_output"]) == (200_000, 15.0)


def test_scripted_models_share_a_server_and_others_keep_their_address() -> None:
    tables = {"a": HASTY, "b": HASTY.model_copy(update={"model": "diligent"}), "c": MINI}
    with wiring.scripted_servers(tables) as served:
        assert served["a"].base_url == served["b"].base_url
        assert str(served["a"].base_url).startswith("http://127.0.0.1:")
        assert served["c"] == MINI


def test_a_model_remembers_who_answered(here: Path) -> None:
    async def ask() -> tuple[Reply, ModelsSeen]:
        with wiring.scripted_servers({"hasty": HASTY}) as served:
            async with wiring.open_models(
                served,
                experiment(here),
                ledger=Ledger(None),
                journal=Nowhere(),
                finished=FakeCalls(),
                recorded={},
                clock=SystemClock(),
                pressures=Pressures(RateSettings(), SystemClock()),
            ) as models:
                request = ModelRequest((SystemMessage("s"), UserMessage("Who?")))
                tag = CallTag("agent", Cell("d", "c"), "t", judge="", turn=1)
                await models["hasty"].ask(request, tag)
                reply = await models["hasty"].ask(request, tag)
                return reply, models["hasty"].seen()

    reply, seen = asyncio.run(ask())
    assert reply.returned_model == "hasty"
    assert seen == ModelsSeen("hasty", ("hasty",))


def test_libraries_are_opened_for_every_dataset_and_every_retriever_in_use(here: Path) -> None:
    settings = experiment(here, ('name = "hasty+gate"', 'name = "hasty+gate"\nretriever = "bm25"'))
    with wiring.open_libraries(settings, wiring.open_bundles(settings)) as libraries:
        assert set(libraries) == {
            (dataset, retriever) for dataset in ("hotpotqa", "musique") for retriever in ("hybrid", "bm25")
        }
        hits = asyncio.run(libraries["musique", "bm25"].search("who founded it"))
        assert len(hits) == settings.protocol.k


def test_the_wording_has_one_hash_and_the_code_a_version() -> None:
    assert len(wiring.wording_sha256()) == 64
    assert wiring.wording_sha256() == wiring.wording_sha256()
    assert wiring.code_version().count(".") == 2
