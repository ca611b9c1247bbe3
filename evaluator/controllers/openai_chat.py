"""A model behind OpenAI Chat Completions: records in, one line asked, records out.

OpenAI itself, scripted controllers and every server that speaks the format are reached through it.
"""

from collections.abc import Callable

from evaluator.budget.prices import ModelFacts, Price
from evaluator.controllers import faults
from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.capped import worst_case_usd
from evaluator.controllers.lenient_json import dumps
from evaluator.controllers.line import Attempt, Deadline, Line
from evaluator.core.cell import CallTag
from evaluator.core.errors import AttemptError, InputError
from evaluator.core.messages import ModelRequest, Reply
from evaluator.core.ports import Clock
from evaluator.core.settings import ModelSettings


class OpenAIChat:
    """Answers model calls through a line; satisfies ``Model``."""

    def __init__(
        self,
        settings: ModelSettings,
        line: Line,
        *,
        facts: ModelFacts,
        price: Price | None,
        serves: Callable[[str], bool],
        clock: Clock,
        call_seconds: float,
        key_variable: str | None,
    ) -> None:
        """Bind the settings to a line.

        Args:
            settings: The model and its parameters.
            line: The outermost layer on the way to the provider.
            facts: What is known of the model.
            price: What it costs, None when unknown.
            serves: Whether an answer by a returned model id is one by this model.
            clock: Of the deadline.
            call_seconds: The deadline of one call, retries included.
            key_variable: The name of the variable that holds the key, for error messages.
        """
        self._settings = settings
        self._line = line
        self._facts = facts
        self._price = price
        self._serves = serves
        self._clock = clock
        self._call_seconds = call_seconds
        self._key_variable = key_variable

    async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
        """Answer one call.

        Raises:
            ModelError: The provider could not be made to answer this call, or refuses it.
            DeadlineError: It took longer than the call's deadline.
            CredentialError: The provider refuses the key.
            InputError: The provider would refuse every call, or another model answers.
            CapReachedError: The budget cannot hold the call.
        """
        body = dumps(wire.build(request, self._settings, self._facts))
        output = wire.max_output(self._settings, self._facts)
        attempt = Attempt(
            body=body,
            tag=tag,
            requested_model=self._settings.model,
            deadline=Deadline(self._clock, self._call_seconds),
            worst_usd=worst_case_usd(body, self._facts, self._price, output),
            estimated_tokens=-(-len(body) // 4),
        )
        try:
            reply = wire.read(await self._line.send(attempt))
        except AttemptError as error:
            raise faults.final(error, model=self._settings.model, key_variable=self._key_variable) from error
        if reply.returned_model and not self._serves(reply.returned_model):
            raise InputError(
                f"{self._settings.model} was asked and {reply.returned_model} answered; models are not mixed "
                "in one cell: request the model that is served"
            )
        return reply
