"""Golden trajectories: whole episodes written down, played again and compared, word for word.

Each JSON file holds what was given (gate, limits, protocol, replies), the messages that the model had
been sent at its last call, and the episode. ``python tests/golden/test_golden.py`` plays all of them and
writes messages and episode anew; read the difference before committing it.
"""

from pathlib import Path

import orjson
import pytest
from pydantic import TypeAdapter

from evaluator.agent.loop import run_agent
from evaluator.agent.rehearsal import Rehearsal, Shelf, rehearse
from evaluator.core.messages import Reply
from evaluator.core.settings import GateSettings, LimitSettings, ProtocolSettings
from evaluator.core.trajectory import Episode
from evaluator.evidence.entities.by_rule import entities
from index_builder.records import Chunk, IndexedQuestion

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.json"))
KINDS_OF_DECISION = {"accepted", "rejected", "exhausted", "injected", "shadowed"}

SHELF = Shelf(
    (
        Chunk(
            "p1", "Kiss and Tell (1945 film)", "Kiss and Tell is a 1945 comedy film starring Shirley Temple."
        ),
        Chunk(
            "p2",
            "Shirley Temple",
            "Shirley Temple was an American actress, later Chief of Protocol of the US.",
        ),
        Chunk("p3", "", "Corliss Archer was played on the radio by Janet Waldo – and on stage by others."),
    )
)
QUESTION = IndexedQuestion(
    "5a8c7595",
    "What office was held by the actress of Corliss Archer in Kiss and Tell?",
    ("Chief of Protocol",),
    "bridge",
    2,
    ("p1", "p2"),
)


def played(path: Path) -> Rehearsal:
    given = orjson.loads(path.read_bytes())["given"]
    loop = run_agent(
        QUESTION,
        protocol=ProtocolSettings.model_validate(given["protocol"]),
        limits=LimitSettings.model_validate(given["limits"]),
        gate=GateSettings.model_validate(given["gate"]),
        seed=7,
        extract=entities,
        reply_tokens=1_000,
    )
    return rehearse(loop, TypeAdapter(tuple[Reply, ...]).validate_python(given["replies"]), SHELF)


def outcome_of(rehearsal: Rehearsal) -> dict[str, object]:
    trees: dict[str, object] = orjson.loads(
        orjson.dumps({"messages": rehearsal.requests[-1].messages, "episode": rehearsal.episode})
    )
    return trees


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_episode_is_played_as_it_was_written_down(path: Path) -> None:
    golden = orjson.loads(path.read_bytes())
    rehearsal = played(path)
    assert outcome_of(rehearsal) == {"messages": golden["messages"], "episode": golden["episode"]}
    assert len(rehearsal.requests) == len(golden["given"]["replies"])
    assert TypeAdapter(Episode).validate_python(golden["episode"]) == rehearsal.episode


def test_the_golden_episodes_show_every_kind_of_step_and_decision() -> None:
    steps = [step for path in FILES for step in orjson.loads(path.read_bytes())["episode"]["steps"]]
    assert {step["kind"] for step in steps} == {
        "asked", "searched", "was_read", "ruled", "injected", "malformed",
    }  # fmt: skip
    assert {step["decision"] for step in steps if step["kind"] == "ruled"} == KINDS_OF_DECISION


def write_anew() -> None:
    """Play every file and write what came of it."""
    for path in FILES:
        golden = orjson.loads(path.read_bytes())
        path.write_bytes(
            orjson.dumps({**golden, **outcome_of(played(path))}, option=orjson.OPT_INDENT_2) + b"\n"
        )


if __name__ == "__main__":
    write_anew()
