"""Picks the implementations and reads the environment; nothing else in the project does either.

What can be wrong with an experiment on this machine (a bundle, a key, a price, a port) is found here,
before a run folder is touched.
"""

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from importlib.metadata import version
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from evaluator.agent.prompts import wording
from evaluator.budget.ledger import Ledger
from evaluator.budget.prices import Price, PriceTable
from evaluator.controllers.client import Client
from evaluator.controllers.http_line import open_session
from evaluator.controllers.pressure import Pressures
from evaluator.controllers.providers import destination, key_variable, provider_of
from evaluator.controllers.scripted.completions import PROGRAMS
from evaluator.controllers.scripted.server import HOST, ScriptedServer
from evaluator.controllers.stack import build_model, build_offline, price_of
from evaluator.core.cell import CallTag, content_hash
from evaluator.core.errors import CredentialError, InputError, SettingsError
from evaluator.core.messages import ModelRequest, Reply
from evaluator.core.ports import Clock, FinishedCalls, Library, Sink
from evaluator.core.settings import Experiment, ModelSettings, Retriever, nearest, parse_experiment
from evaluator.store.manifest import ModelsSeen
from index_builder.bundle import Bundle, open_bundle, verify_bundle
from index_builder.hybrid import HybridSearch

SOON = timedelta(days=30)
"""How long before its shutdown a model is warned of."""

SHIPPED = Path(__file__).parents[1] / "experiments"

Libraries = Mapping[tuple[str, Retriever], Library]
"""What is searched, by dataset and retriever."""


def code_version() -> str:
    """The version of this project, for the manifest."""
    return version("read-gate")


def wording_sha256() -> str:
    """The hash of every text the environment can send to a model."""
    return content_hash(wording())


def find_experiment(name: str) -> Experiment:
    """An experiment, by the path of a TOML file or the name of a shipped one."""
    given, shipped = Path(name), SHIPPED / f"{name}.toml"
    path = given if given.suffix == ".toml" or not shipped.is_file() else shipped
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        hint = nearest(name, [each.stem for each in SHIPPED.glob("*.toml")])
        raise SettingsError(f"there is no experiment file {name!r} and none shipped; {hint}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read the experiment {name!r}: {error}") from error
    return parse_experiment(text, str(path))


def open_bundles(experiment: Experiment) -> dict[str, Bundle]:
    """The bundle of each dataset, its files checked against their hashes."""
    return {
        dataset.name: open_bundle(Path(dataset.bundle), verify_hashes=True) for dataset in experiment.dataset
    }


def check_bundles(experiment: Experiment, hashes: Mapping[str, str]) -> Iterator[str]:
    """Compare every file of a finished run's bundles with its hash.

    Args:
        experiment: Of the run.
        hashes: The bundle hash of each dataset, as the run had it.

    Yields:
        Notes on bundles that are not there or not those of the run, which nothing after a run reads.

    Raises:
        BundleError: When a file was altered.
    """
    for dataset in experiment.dataset:
        path = Path(dataset.bundle)
        if not path.exists():
            yield f"{path} is not here and was not checked"
        elif verify_bundle(path).bundle_hash != hashes[dataset.name]:
            yield f"{path} is sound, but no longer the bundle of the run"


@contextmanager
def open_libraries(experiment: Experiment, bundles: Mapping[str, Bundle]) -> Iterator[Libraries]:
    """One library for each dataset and each retriever that a condition uses."""
    protocol = experiment.protocol
    libraries: dict[tuple[str, Retriever], HybridSearch] = {}
    try:
        for name, bundle in bundles.items():
            for retriever in {condition.retriever for condition in experiment.condition}:
                libraries[name, retriever] = HybridSearch(
                    bundle, retriever=retriever, k=protocol.k, depth=protocol.depth, snippet=protocol.snippet
                )
        yield libraries
    finally:
        for library in libraries.values():
            library.close()


def require_reachable(tables: Mapping[str, ModelSettings]) -> None:
    """Look at where each model is to be found, as far as that can be done without a call.

    Raises:
        CredentialError: The variable of a key that is needed is not set, or holds none.
        InputError: An address cannot be used, or there is no scripted program of that name.
    """
    for name, settings in tables.items():
        variable = key_variable(settings)
        if variable is not None and not os.environ.get(variable):
            raise CredentialError(f"{name} ({settings.model}) needs a key: set the variable {variable}")
        if settings.provider != "scripted":
            destination(settings, os.environ.get(variable or ""))
        elif settings.model not in PROGRAMS:
            hint = nearest(settings.model, list(PROGRAMS))
            raise SettingsError(f"{name}: there is no scripted program {settings.model!r}; {hint}")


def require_prices(experiment: Experiment) -> None:
    """SettingsError when a capped experiment uses a model whose price is unknown."""
    if experiment.budget.usd is None:
        return
    prices = PriceTable.load(experiment.prices, experiment.models)
    for settings in (*experiment.controller.values(), *experiment.judge.values()):
        if price_of(settings, prices) is None:
            msg = (
                f"{settings.model} has no price, and a capped run needs one: add "
                f'[prices."{settings.model}"] with input and output in USD per million tokens'
            )
            raise SettingsError(msg)


def require_taken(experiment: Experiment) -> None:
    """SettingsError when a model is asked for something with a value that it would refuse."""
    prices = PriceTable.load(experiment.prices, experiment.models)
    for settings in (*experiment.controller.values(), *experiment.judge.values()):
        objection = prices.facts(settings.model).objection(settings)
        if objection is not None:
            raise SettingsError(objection)


def cautions(experiment: Experiment, today: date) -> Iterator[str]:
    """Notes on models that are switched off already or soon, or hold less than an episode may grow to."""
    prices = PriceTable.load(experiment.prices, experiment.models)
    tables = (*experiment.controller.values(), *experiment.judge.values())
    for model in dict.fromkeys(table.model for table in tables if table.provider != "scripted"):
        facts, limit = prices.facts(model), experiment.limits.tokens
        if facts.shutdown is not None and facts.shutdown <= (today + SOON).isoformat():
            when = "was" if facts.shutdown <= today.isoformat() else "is"
            yield (
                f"{model} {when} to be switched off on {facts.shutdown}; "
                "if another model answers for it, its cells stop"
            )
        if facts.context is not None and facts.context < limit:
            yield (
                f"{model} holds {facts.context} tokens, fewer than limits.tokens = {limit}: "
                "longer episodes would fail; lower the limit"
            )


def prices_used(experiment: Experiment) -> dict[str, dict[str, float]]:
    """USD per million tokens of every model whose price is known."""
    prices = PriceTable.load(experiment.prices, experiment.models)
    known = {}
    for settings in (*experiment.controller.values(), *experiment.judge.values()):
        price = price_of(settings, prices)
        if price is not None:
            known[settings.model] = _rates(price)
        tier = settings.service_tier and prices.price(settings.model, settings.service_tier)
        if tier:
            known[f"{settings.model} {settings.service_tier}"] = _rates(tier)
    return known


def _rates(price: Price) -> dict[str, float]:
    rates = {"input": price.input, "cached_input": price.cached_input, "output": price.output}
    if price.above is not None and price.above_tokens is not None:
        above = {f"above_{name}": rate for name, rate in _rates(price.above).items()}
        rates |= {"above_tokens": float(price.above_tokens), **above}
    return rates


def deviations(experiment: Experiment) -> dict[str, dict[str, str]]:
    """What of the protocol each controller's and each judge's model does not take."""
    prices = PriceTable.load(experiment.prices, experiment.models)
    judges = {f"judge.{name}": settings for name, settings in experiment.judge.items()}
    notes = {
        name: provider_of(settings).wire.notes(settings, prices.facts(settings.model))
        for name, settings in {**experiment.controller, **judges}.items()
    }
    return {name: noted for name, noted in notes.items() if noted}


@contextmanager
def scripted_servers(tables: Mapping[str, ModelSettings]) -> Iterator[dict[str, ModelSettings]]:
    """Start the servers that scripted models need; yields the tables with their addresses filled in.

    Models without an address share one server on a free port; an address names the port to serve on.

    Raises:
        InputError: A port is in use, or an address is not on this machine.
    """
    with ExitStack() as servers:
        base_urls: dict[str | None, str] = {}
        served = {}
        for name, settings in tables.items():
            if settings.provider == "scripted":
                if settings.base_url not in base_urls:
                    server = servers.enter_context(ScriptedServer(_port(settings.base_url)))
                    base_urls[settings.base_url] = server.base_url
                served[name] = settings.model_copy(update={"base_url": base_urls[settings.base_url]})
            else:
                served[name] = settings
        yield served


@dataclass(slots=True)
class Witnessed:
    """A model that remembers the ids that answered, for the manifest; satisfies ``Model``."""

    model: Client
    requested: str
    returned: dict[str, None] = field(default_factory=dict)

    async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
        """Pass the call on and note who answered."""
        reply = await self.model.ask(request, tag)
        self.returned[reply.returned_model] = None
        return reply

    def seen(self) -> ModelsSeen:
        """For the manifest."""
        return ModelsSeen(self.requested, tuple(name for name in self.returned if name))


@asynccontextmanager
async def open_models(
    tables: Mapping[str, ModelSettings],
    experiment: Experiment,
    *,
    ledger: Ledger,
    journal: Sink,
    finished: FinishedCalls,
    recorded: Mapping[str, FinishedCalls],
    clock: Clock,
    pressures: Pressures,
) -> AsyncIterator[dict[str, Witnessed]]:
    """The models of some tables behind all their layers, sharing one pace a key, one budget, one session.

    Those that ``recorded`` names answer out of what they said in another run.
    """
    prices = PriceTable.load(experiment.prices, experiment.models)
    luck, seconds = Random(), experiment.limits.call_seconds
    async with open_session(experiment.rate.trajectories) as session:

        def build(name: str, settings: ModelSettings) -> Client:
            if name in recorded:
                return build_offline(
                    settings,
                    prices=prices,
                    journal=journal,
                    finished=finished,
                    source=recorded[name],
                    clock=clock,
                    call_seconds=seconds,
                )
            return build_model(
                settings,
                pressures=pressures,
                ledger=ledger,
                prices=prices,
                journal=journal,
                finished=finished,
                clock=clock,
                luck=luck,
                session=session,
                api_key=os.environ.get(key_variable(settings) or ""),
                call_seconds=seconds,
            )

        yield {name: Witnessed(build(name, table), table.model) for name, table in tables.items()}


def _port(base_url: str | None) -> int:
    if base_url is None:
        return 0
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError as error:
        raise InputError(f"base_url {base_url!r} of a scripted model: {error}") from error
    if parts.hostname not in {HOST, "localhost"} or port is None:
        raise InputError(f"base_url {base_url!r} of a scripted model must be http://{HOST}:PORT/v1")
    return port
