"""The scripted programs without HTTP: for tests and anyone who wants an answer at once.

The very bytes that would go over the wire are built, answered and read, so that what holds here holds
for the server too.
"""

import orjson

from evaluator.budget.prices import FREE, ModelFacts
from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.lenient_json import dumps
from evaluator.controllers.line import RawReply
from evaluator.controllers.scripted.completions import complete
from evaluator.core.cell import CallTag
from evaluator.core.errors import ModelError
from evaluator.core.messages import ModelRequest, Reply
from evaluator.core.settings import ModelSettings


class InProcessModel:
    """A scripted program as a model."""

    def __init__(self, program: str) -> None:
        self._settings = ModelSettings(provider="scripted", model=program)

    async def ask(self, request: ModelRequest, tag: CallTag) -> Reply:
        """Answer one call; the tag is not looked at."""
        del tag
        return self.reply(request)

    def reply(self, request: ModelRequest) -> Reply:
        """Answer one call.

        Raises:
            ModelError: There is no such program, or it cannot read the request.
        """
        status, body = complete(dumps(wire.build(request, self._settings, ModelFacts())))
        tree = orjson.loads(body)
        if status != 200:
            raise ModelError(tree["error"]["message"])
        bill = wire.bill(status, tree, lambda _model, _tier: FREE)
        return wire.read(RawReply(status, body, bill, tree=tree, is_json=True))
