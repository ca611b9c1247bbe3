"""The search/read/final loop as a generator: it yields effects, is sent results, and returns an Episode.

It knows no clock, socket or disk. The same generator runs under asyncio and in a plain test. An
``EpisodeError`` thrown in ends it as ``failed`` with the steps so far; any other exception passes through.
"""

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from evaluator.agent.actions import (
    Action,
    BadCall,
    FinalCall,
    ReadCall,
    SearchCall,
    forced_answer,
    read_call,
    read_text,
    with_distinct_ids,
)
from evaluator.agent.conversation import Conversation, replayable_name
from evaluator.agent.effects import AskModel, Effect, Read, Result, Search
from evaluator.agent.prompts import FORCED, MALFORMED, SYSTEM_PROMPTS
from evaluator.agent.tools import (
    render_already_read,
    render_chunk,
    render_error,
    render_hits,
    render_no_such_chunk,
)
from evaluator.core.errors import EpisodeError, RetrievalError
from evaluator.core.messages import (
    Reply,
    SystemMessage,
    ToolCall,
    ToolChoice,
    ToolMessage,
    Usage,
    UserMessage,
)
from evaluator.core.outcome import Abstained, Answered, Failed, Outcome
from evaluator.core.ports import EntityExtractor
from evaluator.core.settings import GateSettings, LimitSettings, ProtocolSettings
from evaluator.core.trajectory import (
    Asked,
    Decision,
    Episode,
    Injected,
    Malformed,
    Ruled,
    Searched,
    Step,
    WasRead,
)
from evaluator.evidence.decline import is_decline
from evaluator.gates.decide import decide, fire
from evaluator.gates.evidence import bytes4, evidence_before, final_evidence, retrieved_tokens
from evaluator.gates.spec import CORRECTIVE, NEUTRAL, injected_passage, neutral_with
from index_builder.records import Chunk, IndexedQuestion

REPLY_TOKENS = 16_384
"""Room kept for one reply unless the caller knows the controller's own; the default of its settings."""

_OBSERVATIONS: Mapping[Decision, str] = {"rejected": CORRECTIVE, "injected": NEUTRAL}
"""What a decision that keeps the episode going tells the model; the others end it."""

T = TypeVar("T")
Work: TypeAlias = Generator[Effect, Result, T]


def run_agent(
    question: IndexedQuestion,
    *,
    protocol: ProtocolSettings,
    limits: LimitSettings,
    gate: GateSettings,
    seed: int | None,
    extract: EntityExtractor,
    reply_tokens: int = REPLY_TOKENS,
) -> Work[Episode]:
    """One episode.

    Args:
        question: What to answer; its gold is not looked at.
        protocol: The agent's world.
        limits: ``turns`` and ``tokens`` end an episode here; deadlines are the driver's. No turn is begun
            with a prompt beyond ``tokens`` less the room for a reply; the forced call that then follows
            bears what the last reply brought in as well, since its evidence is everything.
        gate: What happens at a ``final``.
        seed: Sent with every model call.
        extract: Finds entities for the rulings.
        reply_tokens: Room kept for a reply within ``limits.tokens``, at most half of it.
    """
    agent = _Agent(question.question, protocol, limits, gate, seed, extract, reply_tokens)
    try:
        outcome = yield from agent.run()
    except EpisodeError as error:
        outcome = Failed(error.boundary, str(error))
    return agent.episode(outcome)


@dataclass(slots=True)
class _Agent:
    """The state of one episode and the moves that change it."""

    question: str
    protocol: ProtocolSettings
    limits: LimitSettings
    gate: GateSettings
    seed: int | None
    extract: EntityExtractor
    reply_tokens: int
    conversation: Conversation = field(default_factory=Conversation)
    afterwards: list[UserMessage] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    call_ids: set[str] = field(default_factory=set)
    read_ids: set[str] = field(default_factory=set)
    turns: int = 0
    corrections: int = 0

    def run(self) -> Work[Outcome]:
        """Turns until something ends the episode."""
        self.conversation.add(SystemMessage(SYSTEM_PROMPTS[self.protocol.prompt]))
        self.conversation.add(UserMessage(self.question))
        prompt_room = self.limits.tokens - min(self.reply_tokens, self.limits.tokens // 2)
        while self.turns < self.limits.turns and self.conversation.size <= prompt_room:
            outcome = yield from self._turn()
            if outcome is not None:
                return outcome
        return (yield from self._forced())

    def episode(self, outcome: Outcome) -> Episode:
        """The record of all that happened."""
        steps = tuple(self.steps)
        evidence = final_evidence(steps, outcome)
        asked = [step for step in steps if isinstance(step, Asked)]
        costs = [step.cost_usd for step in asked if step.cost_usd is not None]
        return Episode(
            steps=steps,
            outcome=outcome,
            search_count=evidence.search_count,
            read_count=evidence.read_count,
            turns=self.turns,
            corrections=self.corrections,
            retrieved_tokens=retrieved_tokens(steps),
            usage=sum((step.usage for step in asked), Usage()),
            cost_usd=math.fsum(costs) if len(costs) == len(asked) else None,
        )

    def _turn(self) -> Work[Outcome | None]:
        reply, calls = yield from self._ask(self.protocol.tool_choice, self.turns + 1)
        self.turns += 1
        if calls:
            outcome = yield from self._run(calls)
        else:
            outcome = yield from self._carry_out(read_text(reply), blind=False)
        # Providers want the tool messages of a reply right after it, so user messages waited.
        for message in self.afterwards:
            self.conversation.add(message)
        self.afterwards.clear()
        return outcome

    def _forced(self) -> Work[Outcome]:
        """The last call, with tools disabled: no turn, no gate, no ruling."""
        self.conversation.add(UserMessage(FORCED))
        turn = self.turns + 1
        reply, _ = yield from self._ask("none", turn)
        answer, problem = forced_answer(reply)
        if problem is not None:
            self.steps.append(Malformed(turn, problem, observation=""))
        return Answered(answer, forced=True)

    def _ask(self, tool_choice: ToolChoice, turn: int) -> Work[tuple[Reply, tuple[ToolCall, ...]]]:
        parallel = self.protocol.parallel_tool_calls
        reply = yield AskModel(self.conversation.request(tool_choice, self.seed, parallel=parallel), turn)
        if not isinstance(reply, Reply):
            raise TypeError(f"AskModel is answered with a Reply, not with {type(reply).__name__}")
        calls = with_distinct_ids(reply.tool_calls, self.call_ids, turn)
        self.conversation.add_reply(reply, calls)
        self.steps.append(
            Asked(
                turn=turn,
                text=reply.text,
                tool_calls=calls,
                finish_reason=reply.finish_reason,
                usage=reply.usage,
                cost_usd=reply.cost_usd,
                latency_s=reply.latency_s,
                returned_model=reply.returned_model,
            )
        )
        return reply, calls

    def _run(self, calls: tuple[ToolCall, ...]) -> Work[Outcome | None]:
        """The calls of one reply, in order, up to an accepted final."""
        blind = ruled = False
        for call in calls:
            action = read_call(call)
            if isinstance(action, FinalCall) and ruled:
                action = BadCall(call.id, call.name, "second_final")
            outcome = yield from self._carry_out(action, blind=blind)
            if outcome is not None:
                return outcome
            blind = blind or isinstance(action, SearchCall | ReadCall)
            ruled = ruled or isinstance(action, FinalCall)
        return None

    def _carry_out(self, action: Action, *, blind: bool) -> Work[Outcome | None]:
        match action:
            case SearchCall():
                yield from self._search(action)
            case ReadCall():
                yield from self._read(action)
            case FinalCall():
                return (yield from self._final(action, blind=blind))
            case BadCall():
                self._answer_malformed(action)
        return None

    def _search(self, call: SearchCall) -> Work[None]:
        hits = yield Search(call.query)
        if not isinstance(hits, tuple):
            raise TypeError(f"Search is answered with a tuple of hits, not with {type(hits).__name__}")
        self.steps.append(Searched(self.turns, call.call_id, call.query, hits))
        self._answer(call.call_id, "search", render_hits(hits))

    def _read(self, call: ReadCall) -> Work[None]:
        chunk_id = call.chunk_id
        if chunk_id in self.read_ids:
            chunk, found, text = None, True, render_already_read(chunk_id)
        else:
            chunk = yield from self._chunk(chunk_id)
            found = chunk is not None
            text = render_no_such_chunk(chunk_id) if chunk is None else render_chunk(chunk)
        if chunk is not None:
            self.read_ids.add(chunk_id)
        self.steps.append(
            WasRead(
                turn=self.turns,
                call_id=call.call_id,
                chunk_id=chunk_id,
                found=found,
                new=chunk is not None,
                title=chunk.title if chunk else "",
                text=chunk.text if chunk else "",
                tokens=bytes4(chunk.text) if chunk else 0,
            )
        )
        self._answer(call.call_id, "read", text)

    def _chunk(self, chunk_id: str) -> Work[Chunk | None]:
        chunk = yield Read(chunk_id)
        if chunk is not None and not isinstance(chunk, Chunk):
            raise TypeError(f"Read is answered with a Chunk or None, not with {type(chunk).__name__}")
        return chunk

    def _final(self, final: FinalCall, *, blind: bool) -> Work[Outcome | None]:
        """Rule on a proposed answer: the outcome when it ends the episode, else None."""
        evidence = evidence_before(self.steps, self.turns)
        fired = fire(self.question, final.answer, evidence, self.extract)
        decision = decide(self.gate, fired, self.corrections)
        observation = _OBSERVATIONS.get(decision, "")
        self.steps.append(Ruled(self.turns, final.answer, fired, decision, blind, observation))
        if decision == "exhausted" and self.gate.when_exhausted == "abstain":
            return Abstained("gate_exhausted")
        if not observation:
            declined = self.protocol.decline == "abstained" and is_decline(final.answer)
            return Abstained("declined") if declined else Answered(final.answer)
        self.corrections += 1
        if decision == "injected":
            yield from self._inject(final)
        else:
            self._answer(final.call_id, "final", observation)
        return None

    def _inject(self, final: FinalCall) -> Work[None]:
        """Put rank 1 of the latest search with hits before the model.

        A final in plain text has no call to reply to: whatever the role, one user message then bears
        both the neutral reply and the passage.
        """
        top = next(step.hits[0] for step in reversed(self.steps) if isinstance(step, Searched) and step.hits)
        chunk = yield from self._chunk(top.chunk_id)
        if chunk is None:
            raise RetrievalError(f"chunk {top.chunk_id!r} stood in search results and cannot be read")
        passage = injected_passage(render_chunk(chunk))
        as_tool = self.gate.inject == "tool" and final.call_id is not None
        self.steps.append(Injected(self.turns, chunk.chunk_id, "tool" if as_tool else "user", passage))
        if as_tool or final.call_id is None:
            self._answer(final.call_id, "final", neutral_with(passage))
        else:
            self._answer(final.call_id, "final", NEUTRAL)
            self.afterwards.append(UserMessage(passage))

    def _answer_malformed(self, bad: BadCall) -> None:
        sentence = MALFORMED[bad.problem]
        observation = sentence if bad.call_id is None else render_error(sentence)
        self.steps.append(Malformed(self.turns, bad.problem, observation))
        self._answer(bad.call_id, bad.name, observation)

    def _answer(self, call_id: str | None, name: str, text: str) -> None:
        """The one message that answers a call, or a reply without calls."""
        if call_id is None:
            self.afterwards.append(UserMessage(text))
        else:
            self.conversation.add(ToolMessage(call_id, replayable_name(name), text))
