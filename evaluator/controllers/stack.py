"""The order of the layers: replayed(retrying(adaptive(throttled(capped(recorded(http)))))).

It is stated here, once. A call made before is not made again, so the replay stands outermost. Rate and
budget are taken by every attempt, so they stand inside the retries; what is billed is recorded before
any layer judges it, so the journal stands next to the wire. A replay of a whole run has no provider:
replayed(offline).
"""

from functools import partial
from random import Random

import aiohttp

from evaluator.budget.ledger import Ledger
from evaluator.budget.prices import FREE, Price, PriceTable
from evaluator.controllers.adaptive import Adaptive
from evaluator.controllers.capped import Capped
from evaluator.controllers.client import Client
from evaluator.controllers.http_line import HttpLine
from evaluator.controllers.line import FaultOf, Line, RawReply
from evaluator.controllers.offline import Offline
from evaluator.controllers.pressure import Pressure, Pressures
from evaluator.controllers.providers import destination, key_variable, provider_of
from evaluator.controllers.recorded import Recorded
from evaluator.controllers.replayed import Replayed, Usable
from evaluator.controllers.retrying import Retrying
from evaluator.controllers.throttled import Throttled
from evaluator.core.errors import InputError
from evaluator.core.ports import Clock, FinishedCalls, Sink
from evaluator.core.settings import ModelSettings


def build_model(
    settings: ModelSettings,
    *,
    pressures: Pressures,
    ledger: Ledger,
    prices: PriceTable,
    journal: Sink,
    finished: FinishedCalls,
    clock: Clock,
    luck: Random,
    session: aiohttp.ClientSession,
    api_key: str | None,
    call_seconds: float,
) -> Client:
    """A model with all its layers.

    Args:
        settings: The model and how to reach it.
        pressures: The paces of the run by provider key, one object for all its models.
        ledger: The budget of the run, one object for all its models.
        prices: What models cost and take.
        journal: Where attempts are recorded.
        finished: What the journal holds already.
        clock: Of deadlines and waits.
        luck: Of the jitter between attempts.
        session: From ``open_session``.
        api_key: The value of the variable that ``key_variable`` names, None when it is not set.
        call_seconds: The deadline of one call, retries included.

    Raises:
        CredentialError: The provider needs a key and has none, or one that no header can carry.
        InputError: The address cannot be used, or a model without a price meets a cap.
    """
    price = _price_within(settings, prices, ledger)
    wire = provider_of(settings).wire
    url, key = destination(settings, api_key)
    http = HttpLine(
        session,
        url,
        key=key,
        headers=wire.headers(key) if key else {},
        bill_of=partial(wire.bill, price_of=partial(_price_returned, settings, prices)),
        clock=clock,
    )
    counted = Capped(Recorded(http, journal), ledger)
    retried = _borne(counted, pressures.of(url, key), fault_of=wire.fault, clock=clock, luck=luck)
    line = Replayed(retried, finished, _usable(settings, prices, clock))
    return _client(settings, line, prices=prices, price=price, clock=clock, call_seconds=call_seconds)


def build_offline(
    settings: ModelSettings,
    *,
    prices: PriceTable,
    journal: Sink,
    finished: FinishedCalls,
    source: FinishedCalls,
    clock: Clock,
    call_seconds: float,
) -> Client:
    """A model that gives again what it said in another run: no network, no key, no money.

    Args:
        settings: The model and how requests to it are written.
        prices: What models take.
        journal: Where the lines of the other run are taken over to.
        finished: What has been taken over already.
        source: The calls of the other run.
        clock: Of deadlines that nothing waits for.
        call_seconds: As of ``build_model``.
    """
    usable = _usable(settings, prices, clock)
    line = Replayed(Offline(source, finished, journal, usable), finished, usable)
    return _client(settings, line, prices=prices, price=None, clock=clock, call_seconds=call_seconds)


def price_of(settings: ModelSettings, prices: PriceTable) -> Price | None:
    """What a model costs: scripted ones nothing, unknown ones None."""
    return FREE if settings.provider == "scripted" else prices.price(settings.model)


def _borne(line: Line, pressure: Pressure, *, fault_of: FaultOf, clock: Clock, luck: Random) -> Retrying:
    """The line at the pace that its provider bears."""
    metered = Throttled(line, pressure.pace, fault_of=fault_of, clock=clock)
    adaptive = Adaptive(metered, pressure.concurrency, fault_of=fault_of, clock=clock)
    return Retrying(adaptive, fault_of=fault_of, clock=clock, luck=luck)


def _client(
    settings: ModelSettings,
    line: Line,
    *,
    prices: PriceTable,
    price: Price | None,
    clock: Clock,
    call_seconds: float,
) -> Client:
    return Client(
        settings,
        provider_of(settings).wire,
        line,
        facts=prices.facts(settings.model),
        price=price,
        accepts=partial(_accepts, settings, prices),
        clock=clock,
        call_seconds=call_seconds,
        key_variable=key_variable(settings),
    )


def _usable(settings: ModelSettings, prices: PriceTable, clock: Clock) -> Usable:
    """A recorded reply that was not taken, because another model gave it, is not given again."""
    wire = provider_of(settings).wire

    def usable(raw: RawReply) -> bool:
        returned = raw.bill.returned_model
        accepted = not returned or _accepts(settings, prices, returned)
        return accepted and wire.fault(raw, clock.now()) is None

    return usable


def _price_within(settings: ModelSettings, prices: PriceTable, ledger: Ledger) -> Price | None:
    price = price_of(settings, prices)
    if price is None and ledger.cap_usd is not None:
        raise InputError(
            f"{settings.model} has no price, and a budget cannot hold what has none: "
            f'add [prices."{settings.model}"] with input and output, or remove the cap'
        )
    return price


def _price_returned(settings: ModelSettings, prices: PriceTable, returned: str, tier: str) -> Price | None:
    """The price of the model and tier that answered, which need not be those that were asked for."""
    if settings.provider == "scripted":
        return FREE
    same = not returned or prices.serves(settings.model, returned)
    return prices.price(settings.model if same else returned, tier)


def _accepts(settings: ModelSettings, prices: PriceTable, returned: str) -> bool:
    """Whether an answer by the returned model counts as one by the model that was asked."""
    anyone = settings.provider == "scripted" or settings.allow_other_models
    return anyone or prices.serves(settings.model, returned)
