"""The controller stack as a run builds it, with its journal in memory and instant waits."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Literal

import orjson

from evaluator.budget.ledger import Ledger
from evaluator.budget.prices import PriceTable
from evaluator.controllers.client import Client
from evaluator.controllers.fakes import FakeCalls
from evaluator.controllers.http_line import open_session
from evaluator.controllers.pressure import Pressures
from evaluator.controllers.stack import build_model
from evaluator.core.cell import CallTag, Cell
from evaluator.core.journal import CALL_LINES, Returned, Sent
from evaluator.core.messages import ModelRequest, SystemMessage, ToolSpec, UserMessage
from evaluator.core.ports import Clock, FinishedCalls
from evaluator.core.settings import ModelSettings, RateSettings
from evaluator.run.clocks import InstantClock

CANARY = "sk-canary/Zq7-DO_NOT-STORE"
KEY_VARIABLE = "CANARY_API_KEY"
SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})
REQUEST = ModelRequest(
    messages=(SystemMessage("Answer."), UserMessage("Where is the Louvre?")), tools=(SEARCH,), seed=7
)


def tag(turn: int = 1, purpose: Literal["agent", "judge"] = "agent") -> CallTag:
    """A call's tag."""
    return CallTag(
        purpose, Cell("hotpotqa", "minimal"), "0" * 32, "" if purpose == "agent" else "primary", turn
    )


@dataclass
class MemoryJournal:
    """A sink that keeps the lines as a file would."""

    lines: list[bytes] = field(default_factory=list)

    async def append(self, record: object) -> None:
        """Write one line."""
        line = orjson.dumps(record)
        assert b"\n" not in line
        self.lines.append(line)

    @property
    def calls(self) -> list[Sent | Returned]:
        """The lines, read as the records of ``calls.jsonl``."""
        return [CALL_LINES.validate_json(line) for line in self.lines]

    @property
    def returned(self) -> list[Returned]:
        """The second lines of all attempts."""
        return [call for call in self.calls if isinstance(call, Returned)]


@dataclass
class Stack:
    """A model with all its layers, and what surrounds it."""

    model: Client
    journal: MemoryJournal
    ledger: Ledger
    clock: Clock


@asynccontextmanager
async def stack_to(
    url: str,
    *,
    cap_usd: float | None = None,
    call_seconds: float = 120.0,
    clock: Clock | None = None,
    rate: RateSettings | None = None,
    connections: int = 64,
    finished: FinishedCalls | None = None,
    settings: Mapping[str, object] = MappingProxyType({}),
) -> AsyncIterator[Stack]:
    """The stack for a model behind the URL; gpt-4o-mini unless the settings say otherwise."""
    chosen = {"provider": "openai_chat", "model": "gpt-4o-mini", "api_key_env": KEY_VARIABLE, **settings}
    clock = clock or InstantClock()
    journal, ledger = MemoryJournal(), Ledger(cap_usd)
    async with open_session(connections) as session:
        model = build_model(
            ModelSettings.model_validate({"base_url": url, **chosen}),
            pressures=Pressures(rate or RateSettings(), clock),
            ledger=ledger,
            prices=PriceTable.load({}),
            journal=journal,
            finished=finished or FakeCalls(),
            clock=clock,
            luck=Random(0),
            session=session,
            api_key=CANARY,
            call_seconds=call_seconds,
        )
        yield Stack(model, journal, ledger, clock)
