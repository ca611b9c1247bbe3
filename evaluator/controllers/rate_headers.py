"""What response headers say about a provider's limits and about when to try again; text in, numbers out.

A limit is stated by up to three headers, ``x-ratelimit-{limit,remaining,reset}-requests`` and the same
of ``tokens``. What cannot be read says nothing: no header is ever an error.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, TypeAlias

Measure: TypeAlias = Literal["requests", "tokens"]

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_AMOUNT = r"(\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})"
_PART = re.compile(_AMOUNT + r"(ns|us|µs|ms|s|m|h|d)")
_DURATION = re.compile(f"(?:{_AMOUNT}(?:ns|us|µs|ms|s|m|h|d))+")

LARGEST_LIMIT = 10**15
"""Beyond this a number is no limit."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One limit as a response states it.

    Attributes:
        limit: Requests or tokens a window.
        remaining: What is left of them after the request that was answered; None when not stated.
        reset: Seconds until the whole limit is there again; None when not stated.
    """

    limit: int
    remaining: int | None
    reset: float | None


def stated(headers: Mapping[str, str], measure: Measure) -> Stated | None:
    """What the headers, their names in lower case, state of a limit; None when they state none."""
    limit = _count(headers.get(f"x-ratelimit-limit-{measure}"))
    if not limit:
        return None
    remaining = _count(headers.get(f"x-ratelimit-remaining-{measure}"))
    return Stated(
        limit,
        None if remaining is None else min(remaining, limit),
        duration(headers.get(f"x-ratelimit-reset-{measure}", "")),
    )


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait by ``retry-after-ms`` or ``Retry-After`` (seconds or an HTTP date), or None."""
    milliseconds = duration(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    seconds = duration(text)
    return _until(text, now) if seconds is None and text else seconds


def duration(text: str) -> float | None:
    """Seconds in a text such as ``6m0s``, ``12ms``, ``1h2m3.5s`` or ``30``; None when it is no duration."""
    text = text.strip()
    if _DURATION.fullmatch(text):
        return sum(float(amount) * _UNITS[unit] for amount, unit in _PART.findall(text))
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(text: str, now: datetime) -> float | None:
    """Seconds until an HTTP date; 0 when it has passed, None when it is none."""
    try:
        instant = parsedate_to_datetime(text)
        return max(0.0, (instant.replace(tzinfo=instant.tzinfo or UTC) - now).total_seconds())
    except (ValueError, OverflowError):
        return None


def _count(text: str | None) -> int | None:
    """A whole number of at least 0, written with or without a fraction, or None."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return int(number) if 0 <= number <= LARGEST_LIMIT else None
