"""The HTTP client at the end of every line: one POST out, one raw reply back, whatever happens.

The key goes into one request header and nowhere else: it is masked out of whatever a server sends
back before anything else sees it.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import aiohttp

from evaluator.controllers.lenient_json import clean, loads, loads_strict
from evaluator.controllers.line import Attempt, Bill, RawReply
from evaluator.core.ports import Clock

CONNECT_SECONDS = 15.0
SHORTEST_SECRET = 8
"""Shorter keys are placeholders such as EMPTY; masking them would alter what models say."""

_TIMING_HEADERS = ("retry-after", "x-ratelimit-")

BillOf = Callable[[int, object], Bill]
"""Reads the bill out of a status and a parsed body: the provider's wire module with prices bound."""


@asynccontextmanager
async def open_session(in_flight: int) -> AsyncIterator[aiohttp.ClientSession]:
    """A client session for that many calls in flight, closed at the end of the block."""
    connector = aiohttp.TCPConnector(limit=in_flight, ttl_dns_cache=300)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        yield session


class HttpLine:
    """Posts attempts to one URL; a fault of the connection is a raw reply of status 0."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        *,
        key: str | None,
        headers: Mapping[str, str],
        bill_of: BillOf,
        clock: Clock,
    ) -> None:
        """Bind to a place.

        Args:
            session: From ``open_session``.
            url: Where attempts are posted to.
            key: What is masked out of every response.
            headers: What carries the key.
            bill_of: Reads the bill out of a response.
            clock: Of latencies.
        """
        self._session = session
        self._url = url
        self._headers = {"Content-Type": "application/json", **headers}
        self._mask = _masker(key or "")
        self._bill_of = bill_of
        self._clock = clock

    async def send(self, attempt: Attempt) -> RawReply:
        """Post the body; wait for the whole response until the deadline of the call."""
        timeout = aiohttp.ClientTimeout(
            total=max(attempt.deadline.remaining(), 0.001), sock_connect=CONNECT_SECONDS
        )
        started = self._clock.monotonic()
        try:
            async with self._session.post(
                self._url, data=attempt.body, headers=self._headers, timeout=timeout, allow_redirects=False
            ) as response:
                body = await response.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            return self._broken(error, started, Bill(cost_usd=0.0))  # no request left this machine
        except (aiohttp.ClientError, OSError) as error:
            return self._broken(error, started, self._bill_of(0, None))
        latency = self._clock.monotonic() - started
        body = self._mask(body)
        tree, is_json = parsed(body)
        return RawReply(
            status=response.status,
            body=body,
            bill=self._bill_of(response.status, tree),
            headers=self._timing(response.headers),
            tree=tree,
            is_json=is_json,
            latency_s=latency,
        )

    def _broken(self, error: Exception, started: float, bill: Bill) -> RawReply:
        said = self._mask(f"{type(error).__name__}: {str(error) or 'no whole answer in time'}".encode())
        latency = self._clock.monotonic() - started
        return RawReply(status=0, body=b"", bill=bill, latency_s=latency, error=said.decode())

    def _timing(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            name.lower(): self._mask(clean(value).encode()).decode()
            for name, value in headers.items()
            if name.lower().startswith(_TIMING_HEADERS)
        }


def parsed(body: bytes) -> tuple[object, bool]:
    """The JSON tree, None when there is none, and whether the bytes are strict JSON."""
    try:
        return loads_strict(body), True
    except ValueError:
        pass
    try:
        return loads(body), False
    except ValueError:
        return None, False


def _masker(key: str) -> Callable[[bytes], bytes]:
    """A function that replaces the key by asterisks, however JSON within JSON may spell it."""
    if len(key) < SHORTEST_SECRET:
        return lambda body: body
    escaped = re.compile("".join(map(_spellings, key)).encode())
    plain = key.encode()

    def mask(body: bytes) -> bytes:
        if b"\\" in body:
            body = escaped.sub(b"***", body)
        return body.replace(plain, b"***")

    return mask


def _spellings(character: str) -> str:
    """A pattern for a character inside up to three levels of JSON strings.

    Each level doubles the backslashes before a quoted character or before a code point.
    """
    quoting = r"\\{0,7}" if character in '"/\\' else ""
    return rf"(?:{quoting}{re.escape(character)}|\\{{1,7}}u00(?i:{ord(character):02x}))"
