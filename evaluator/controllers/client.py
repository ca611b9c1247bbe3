"""A model behind any provider: records in, one line asked through the provider's wire, records out."""

from collections.abc import Callable

from evaluator.budget.prices import ModelFacts, Price
from evaluator.controllers import faults
from evaluator.controllers.capped import worst_case_usd
from evaluator.controllers.lenient_json import dumps
from evaluator.controllers.line import Attempt, Deadline, Line
from evaluator.controllers.wire import Wire, max_output
from evaluator.core.cell import CallTag, Cell
from evaluator.core.errors import AttemptError, DriftError
from evaluator.core.messages import ModelRequest, Reply
from evaluator.core.ports import Clock
from evaluator.core.settings import ModelSettings


class Client:
    """Answers model calls through a line; satisfies ``Model``.

    A reply by another model is not taken: it stops the cell it is for, before models are mixed there,
    and no other cell. A judge is one model for all cells, so it stops as a whole.
    """

    def __init__(
        self,
        settings: ModelSettings,
        wire: Wire,
        line: Line,
        *,
        facts: ModelFacts,
        price: Price | None,
        accepts: Callable[[str], bool],
        clock: Clock,
        call_seconds: float,
        key_variable: str | None,
    ) -> None:
        """Bind the settings to a line.

        Args:
            settings: The model and its parameters.
            wire: How the provider is spoken to.
            line: The outermost layer on the way to the provider.
            facts: What is known of the model.
            price: The most that it costs, None when unknown.
            accepts: Whether an answer by a returned model id counts as one by this model.
            clock: Of the deadline.
            call_seconds: The deadline of one call, retries included.
            key_variable: The name of the variable that holds the key, for error messages.
        """
        self._settings = settings
        self._wire = wire
        self._line = line
        self._facts = facts
        self._price = price
        self._accepts = accepts
        self._clock = clock
        self._call_seconds = call_seconds
        self._key_variable = key_variable
        self._stopped: dict[Cell | None, str] = {}

    async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
        """Answer one call.

        Raises:
            ModelError: The provider could not be made to answer this call, or refuses it.
            DriftError: Another model answers for this cell, now or before.
            DeadlineError: It took longer than the call's deadline.
            CredentialError: The provider refuses the key.
            InputError: The provider would refuse every call.
            CapReachedError: The budget cannot hold the call.
        """
        concerned = tag.cell if tag.purpose == "agent" else None
        if concerned in self._stopped:
            raise DriftError(self._stopped[concerned])
        try:
            reply = self._wire.read(await self._line.send(self._attempt(request, tag)))
        except AttemptError as error:
            raise faults.final(error, model=self._settings.model, key_variable=self._key_variable) from error
        if reply.returned_model and not self._accepts(reply.returned_model):
            sentence = _drifted(self._settings.model, reply.returned_model)
            self._stopped.setdefault(concerned, sentence)
            raise DriftError(sentence)
        return reply

    def _attempt(self, request: ModelRequest, tag: CallTag) -> Attempt:
        body = dumps(self._wire.build(request, self._settings, self._facts))
        output = max_output(self._settings, self._facts)
        return Attempt(
            body=body,
            tag=tag,
            requested_model=self._settings.model,
            deadline=Deadline(self._clock, self._call_seconds),
            worst_usd=worst_case_usd(body, self._facts, self._price, output),
            estimated_tokens=-(-len(body) // 4),
        )


def _drifted(requested: str, returned: str) -> str:
    return (
        f"{requested} was asked and {returned} answered; models are not mixed in one cell, so it stops: "
        f'request the model that is served, or name {returned} among the aliases of [models."{requested}"] '
        "if it is the same one, or set allow_other_models = true"
    )
