"""Every text the environment can send, and that the hash of the protocol covers it."""

from typing import get_args

from evaluator.agent import prompts
from evaluator.agent.prompts import FORCED, MALFORMED, SYSTEM_PROMPTS, Problem, wording
from evaluator.agent.tools import TOOLS
from evaluator.core.settings import PromptName
from evaluator.gates.spec import GATE_WORDING


def test_the_default_prompt_demands_no_read_and_the_strict_one_adds_only_that() -> None:
    default, strict = SYSTEM_PROMPTS["default"], SYSTEM_PROMPTS["strict"]
    assert "must" not in default
    assert strict.startswith(default)
    assert "must read" in strict.removeprefix(default)


def test_there_is_a_prompt_for_every_name_and_a_text_for_every_problem() -> None:
    assert set(SYSTEM_PROMPTS) == set(get_args(PromptName))
    assert set(MALFORMED) == set(get_args(Problem))
    assert all(text.strip() == text != "" for text in (*SYSTEM_PROMPTS.values(), *MALFORMED.values()))


def test_the_wording_covers_prompts_tools_observations_and_the_gate() -> None:
    texts = wording()
    everything = "\n".join(texts.values())
    for text in (*SYSTEM_PROMPTS.values(), *MALFORMED.values(), FORCED, *GATE_WORDING.values()):
        assert text in texts.values()
    for tool in TOOLS:
        assert tool.description in texts[f"tool.{tool.name}"]
        assert next(iter(tool.parameters["properties"].values()))["description"] in everything  # type: ignore[attr-defined]  # a JSON Schema
    assert len(texts) == len(SYSTEM_PROMPTS) + len(TOOLS) + len(MALFORMED) + 3 + len(GATE_WORDING)


def test_every_sentence_of_the_module_is_part_of_the_wording() -> None:
    texts = set(wording().values())
    loose = [value for name, value in vars(prompts).items() if isinstance(value, str) and name.isupper()]
    assert set(loose) <= texts
