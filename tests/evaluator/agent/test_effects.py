"""Effects are plain values: equal when they ask the same."""

from evaluator.agent.effects import AskModel, Read, Search
from evaluator.core.messages import ModelRequest, UserMessage


def test_effects_are_values_that_a_driver_can_match() -> None:
    request = ModelRequest((UserMessage("q"),))
    assert AskModel(request, 1) == AskModel(ModelRequest((UserMessage("q"),)), 1)
    assert AskModel(request, 1) != AskModel(request, 2)
    match Search("Hamlet"):
        case Search(query):
            assert query == "Hamlet"
    match Read("c1"):
        case Read(chunk_id):
            assert chunk_id == "c1"
