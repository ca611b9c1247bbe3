"""The order of the layers around a provider: replayed(retrying(throttled(capped(recorded(http))))).

It is stated here, once. A call made before is not made again, so the replay stands outermost. Rate and
budget are taken by every attempt, so they stand inside the retries; what is billed is recorded before
any layer judges it, so the journal stands next to the wire. A replay of a whole run has no provider:
replayed(offline).
"""

from functools import partial
from random import Random
from urllib.parse import urlsplit

import aiohttp

from evaluator.budget.ledger import Ledger
from evaluator.budget.prices import FREE, Price, PriceTable
from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.capped import Capped
from evaluator.controllers.http_line import HttpLine
from evaluator.controllers.line import Bill, Line, RawReply
from evaluator.controllers.offline import Offline
from evaluator.controllers.openai_chat import OpenAIChat
from evaluator.controllers.recorded import Recorded
from evaluator.controllers.replayed import Replayed, Usable
from evaluator.controllers.retrying import Retrying
from evaluator.controllers.throttled import Pace, Throttled
from evaluator.core.errors import CredentialError, InputError
from evaluator.core.ports import Clock, FinishedCalls, Sink
from evaluator.core.settings import ModelSettings

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"


def build_model(
    settings: ModelSettings,
    *,
    rate: Pace,
    ledger: Ledger,
    prices: PriceTable,
    journal: Sink,
    finished: FinishedCalls,
    clock: Clock,
    luck: Random,
    session: aiohttp.ClientSession,
    api_key: str | None,
    call_seconds: float,
) -> OpenAIChat:
    """A model with all its layers.

    Args:
        settings: The model and how to reach it.
        rate: The pace of the run, one object for all its models.
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
    bill_of = partial(_bill, settings=settings, prices=prices)
    url, key = destination(settings, api_key)
    http = HttpLine(session, url, key=key, bill_of=bill_of, clock=clock)
    metered = Throttled(Capped(Recorded(http, journal), ledger), rate)
    retried = Retrying(metered, fault_of=wire.fault, clock=clock, luck=luck)
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
) -> OpenAIChat:
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


def destination(settings: ModelSettings, api_key: str | None) -> tuple[str, str | None]:
    """Where calls to a model go, and the key they take with them.

    Raises:
        CredentialError: The provider needs a key and has none, or one that no header can carry.
        InputError: The address cannot be used.
    """
    return _url(settings), _checked_key(settings, api_key)


def key_variable(settings: ModelSettings) -> str | None:
    """The name of the variable that holds the key, or None when the provider needs none."""
    if settings.provider == "scripted":
        return None
    return settings.api_key_env or (OPENAI_KEY if settings.base_url is None else None)


def price_of(settings: ModelSettings, prices: PriceTable) -> Price | None:
    """What a model costs: scripted ones nothing, unknown ones None."""
    return FREE if settings.provider == "scripted" else prices.price(settings.model)


def _client(
    settings: ModelSettings,
    line: Line,
    *,
    prices: PriceTable,
    price: Price | None,
    clock: Clock,
    call_seconds: float,
) -> OpenAIChat:
    return OpenAIChat(
        settings,
        line,
        facts=prices.facts(settings.model),
        price=price,
        serves=partial(_serves, settings=settings, prices=prices),
        clock=clock,
        call_seconds=call_seconds,
        key_variable=key_variable(settings),
    )


def _usable(settings: ModelSettings, prices: PriceTable, clock: Clock) -> Usable:
    """A recorded reply that stopped its run, because another model gave it, is not given again."""

    def usable(raw: RawReply) -> bool:
        returned = raw.bill.returned_model
        served = not returned or _serves(returned, settings=settings, prices=prices)
        return served and wire.fault(raw, clock.now()) is None

    return usable


def _price_within(settings: ModelSettings, prices: PriceTable, ledger: Ledger) -> Price | None:
    price = price_of(settings, prices)
    if price is None and ledger.cap_usd is not None:
        raise InputError(
            f"{settings.model} has no price, and a budget cannot hold what has none: "
            f'add [prices."{settings.model}"] with input and output, or remove the cap'
        )
    return price


def _bill(status: int, tree: object, *, settings: ModelSettings, prices: PriceTable) -> Bill:
    """The bill by the price of the model that answered, which need not be the one that was asked."""
    returned = tree.get("model") if isinstance(tree, dict) else None
    if isinstance(returned, str) and returned and not _serves(returned, settings=settings, prices=prices):
        return wire.bill(status, tree, prices.price(returned))
    return wire.bill(status, tree, price_of(settings, prices))


def _serves(returned: str, *, settings: ModelSettings, prices: PriceTable) -> bool:
    return settings.provider == "scripted" or prices.serves(settings.model, returned)


def _url(settings: ModelSettings) -> str:
    if settings.provider == "scripted" and settings.base_url is None:
        raise InputError(f"the scripted model {settings.model} needs the address of its server")
    base = OPENAI_URL if settings.base_url is None else settings.base_url
    if not _is_address(base):
        raise InputError(f"base_url {base!r} of {settings.model} is no http or https address")
    return f"{base.rstrip('/')}/chat/completions"


def _is_address(base: str) -> bool:
    try:
        parts = urlsplit(base)
        usable_port = parts.port != 0
    except ValueError:
        return False
    plain = base.isprintable() and " " not in base and not parts.query and not parts.fragment
    return plain and usable_port and parts.scheme in {"http", "https"} and bool(parts.hostname)


def _checked_key(settings: ModelSettings, api_key: str | None) -> str | None:
    variable = key_variable(settings)
    if variable is None:
        return None
    if not api_key:
        raise CredentialError(f"{settings.model} needs a key: set the variable {variable}")
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise CredentialError(f"the key in {variable} holds characters that no key has, such as a space")
    return api_key
