"""Providers by name, and the address and key that settings lead to."""

from typing import get_args

import pytest

from evaluator.controllers.providers import PROVIDERS, destination, key_variable
from evaluator.core.errors import CredentialError, InputError
from evaluator.core.settings import ModelSettings, ProviderName

LOCAL = "http://127.0.0.1:8000/v1"


def _settings(**given: object) -> ModelSettings:
    return ModelSettings.model_validate({"provider": "openai_chat", "model": "gpt-4o-mini", **given})


def test_every_provider_that_settings_can_name_is_there() -> None:
    assert set(PROVIDERS) == set(get_args(ProviderName))


def test_programs_have_no_home_and_no_key() -> None:
    assert (PROVIDERS["scripted"].home, PROVIDERS["scripted"].key_variable) == (None, None)


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ("openai_chat", "https://api.openai.com/v1/chat/completions"),
        ("openai_responses", "https://api.openai.com/v1/responses"),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta/models/gpt-4o-mini:generateContent"),
    ],
)
def test_calls_go_to_the_providers_own_address_unless_another_is_given(provider: str, url: str) -> None:
    key = "sk-12345678"
    assert destination(_settings(provider=provider), key) == (url, key)
    path = url.replace("/v1beta/", "/v1/").partition("/v1/")[2]
    assert destination(_settings(provider=provider, base_url=f"{LOCAL}/"), None) == (f"{LOCAL}/{path}", None)


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        (_settings(), "OPENAI_API_KEY"),
        (_settings(provider="gemini"), "GEMINI_API_KEY"),
        (_settings(api_key_env="MY_KEY"), "MY_KEY"),
        (_settings(api_key_env="MY_KEY", base_url=LOCAL), "MY_KEY"),
        (_settings(base_url=LOCAL), None),
        (_settings(provider="scripted", api_key_env="MY_KEY"), None),
    ],
)
def test_a_key_is_needed_by_openai_and_wherever_one_is_named(
    settings: ModelSettings, variable: str | None
) -> None:
    assert key_variable(settings) == variable


@pytest.mark.parametrize("api_key", [None, ""])
def test_a_missing_key_is_told_by_the_name_of_its_variable(api_key: str | None) -> None:
    with pytest.raises(CredentialError, match="set the variable OPENAI_API_KEY"):
        destination(_settings(), api_key)


@pytest.mark.parametrize("api_key", ["sk-with space", "sk-with-newline\n", "sk-ключ", "sk\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(api_key: str) -> None:
    with pytest.raises(CredentialError) as raised:
        destination(_settings(), api_key)
    assert "OPENAI_API_KEY" in str(raised.value)
    assert "sk" not in str(raised.value)


@pytest.mark.parametrize(
    "base_url",
    [
        "localhost:8000",
        "ftp://host/v1",
        "http://",
        "",
        "/v1",
        "http://host:port/v1",
        "http://host:0/v1",
        "http://host:65536/v1",
        "http://[::1/v1",
        "http://a host/v1",
        "http://host\n/v1",
        "http://host/v1?key=value",
        "http://host/v1#part",
    ],
)
def test_an_address_that_is_none_is_refused(base_url: str) -> None:
    with pytest.raises(InputError, match="is no http or https address"):
        destination(_settings(base_url=base_url), "sk-12345678")


def test_a_scripted_model_needs_its_servers_address() -> None:
    with pytest.raises(InputError, match="needs the address of its server"):
        destination(_settings(provider="scripted", model="hasty"), None)
