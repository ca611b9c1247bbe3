"""Every provider by its name in an experiment, and the address and key that a model's settings lead to.

A new provider is a wire module and an entry here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from evaluator.controllers import gemini_wire, openai_chat_wire, openai_responses_wire
from evaluator.controllers.model_lists import gemini_models, openai_models
from evaluator.controllers.wire import Provider
from evaluator.core.errors import CredentialError, InputError
from evaluator.core.settings import ModelSettings, ProviderName

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
GEMINI_KEY = "GEMINI_API_KEY"

PROVIDERS: Mapping[ProviderName, Provider] = MappingProxyType(
    {
        "openai_chat": Provider(openai_chat_wire, OPENAI_URL, OPENAI_KEY, openai_models),
        "openai_responses": Provider(openai_responses_wire, OPENAI_URL, OPENAI_KEY, openai_models),
        "gemini": Provider(gemini_wire, GEMINI_URL, GEMINI_KEY, gemini_models),
        # Programs of this project speak as OpenAI does, each at the address it is served at.
        "scripted": Provider(openai_chat_wire, None, None, openai_models),
    }
)


def provider_of(settings: ModelSettings) -> Provider:
    """Whom a model's settings name."""
    return PROVIDERS[settings.provider]


def destination(settings: ModelSettings, api_key: str | None) -> tuple[str, str | None]:
    """Where calls to a model go, and the key they take with them.

    Raises:
        CredentialError: The provider needs a key and has none, or one that no header can carry.
        InputError: The address cannot be used.
    """
    address = address_of(settings)
    return provider_of(settings).wire.url(address, settings.model), _checked_key(settings, api_key)


def address_of(settings: ModelSettings) -> str:
    """The address that a model's provider is reached at, without a slash at its end.

    Raises:
        InputError: There is none, or it cannot be used.
    """
    base = provider_of(settings).home if settings.base_url is None else settings.base_url
    if base is None:
        raise InputError(f"the {settings.provider} model {settings.model} needs the address of its server")
    if not _is_address(base):
        raise InputError(f"base_url {base!r} of {settings.model} is no http or https address")
    return base.rstrip("/")


def key_variable(settings: ModelSettings) -> str | None:
    """The name of the variable that holds the key, or None when the provider needs none."""
    wanted = provider_of(settings).key_variable
    if wanted is None:
        return None
    return settings.api_key_env or (wanted if settings.base_url is None else None)


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
