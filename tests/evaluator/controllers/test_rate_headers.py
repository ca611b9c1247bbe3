"""Headers that state limits and waits: each form a provider writes is read, and nothing is an error."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.controllers.rate_headers import Stated, duration, retry_after, stated

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0),
        ("12ms", 0.012),
        ("1s", 1.0),
        ("7.66s", 7.66),
        ("2m59.56s", 179.56),
        ("1h2m3.5s", 3723.5),
        ("1d", 86_400.0),
        ("500us", 0.0005),
        ("500µs", 0.0005),
        (" 30 ", 30.0),
        ("0.25", 0.25),
        ("0", 0.0),
    ],
)
def test_a_duration_is_read_in_every_form(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "soon", "-1", "-1s", "1x", "s", "1m-2s", "nan", "inf", "1 s", "½s", "1e999"]
)
def test_what_is_no_duration_says_nothing(text: str) -> None:
    assert duration(text) is None


@given(
    hours=st.integers(0, 200), minutes=st.integers(0, 59), seconds=st.integers(0, 59), ms=st.integers(0, 999)
)
def test_a_duration_written_as_go_writes_it_is_read_back(
    hours: int, minutes: int, seconds: int, ms: int
) -> None:
    total = timedelta(hours=hours, minutes=minutes, seconds=seconds, milliseconds=ms).total_seconds()
    assert duration(f"{hours}h{minutes}m{seconds}.{ms:03}s") == pytest.approx(total)
    assert duration(f"{hours}h{minutes}m{seconds}s{ms}ms") == pytest.approx(total)


@given(st.text())
def test_any_text_is_a_duration_of_at_least_0_or_none(text: str) -> None:
    seconds = duration(text)
    assert seconds is None or 0 <= seconds < float("inf")


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-limit-requests"]), st.text()
    )
)
def test_no_header_is_ever_an_error(headers: dict[str, str]) -> None:
    seconds = retry_after(headers, NOW)
    assert seconds is None or 0 <= seconds < float("inf")
    limit = stated(headers, "requests")
    assert limit is None or limit.limit >= 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "30"}, 30.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "6m0s"}, 360.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "60"}, 60.0),
        ({"retry-after": "Sun, 01 Nov 2026 12:00:45 GMT"}, 45.0),
        ({"retry-after": "Sun, 01 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 01 Nov 2026 12:00:45"}, 45.0),
        ({"retry-after": "Sun, 01 Nov 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Sun, 01 Nov 2026 13:00:30 +0100"}, 30.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Sun, 99 Nov 2026 12:00:45 GMT"}, None),
    ],
    ids=str,
)
def test_a_wait_is_read_in_milliseconds_seconds_and_dates(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, NOW) == seconds


@given(seconds=st.integers(0, 10**6), zone=st.integers(-12, 14))
def test_a_date_means_the_same_instant_in_every_zone(seconds: int, zone: int) -> None:
    instant = (NOW + timedelta(seconds=seconds)).astimezone(timezone(timedelta(hours=zone)))
    assert retry_after({"retry-after": format_datetime(instant)}, NOW) == seconds


def test_a_limit_is_read_from_its_three_headers() -> None:
    headers = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "200000",
        "x-ratelimit-remaining-tokens": "150000.5",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    assert stated(headers, "requests") == Stated(500, 499, 0.12)
    assert stated(headers, "tokens") == Stated(200_000, 150_000, 360.0)


@pytest.mark.parametrize(
    ("limit", "remaining", "reset", "expected"),
    [
        ("60", None, None, Stated(60, None, None)),
        ("60", "soon", "later", Stated(60, None, None)),
        ("60", "61", "1s", Stated(60, 60, 1.0)),
        ("60", "-1", "1s", Stated(60, None, 1.0)),
        ("0", "0", "1s", None),
        ("-5", "0", "1s", None),
        ("nan", "0", "1s", None),
        ("1e300", "0", "1s", None),
        (None, "3", "1s", None),
    ],
)
def test_what_is_missing_or_senseless_in_a_statement_says_nothing(
    limit: str | None, remaining: str | None, reset: str | None, expected: Stated | None
) -> None:
    given_ = {"limit": limit, "remaining": remaining, "reset": reset}
    headers = {f"x-ratelimit-{name}-requests": value for name, value in given_.items() if value is not None}
    assert stated(headers, "requests") == expected
