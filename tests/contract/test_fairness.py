"""The scripted programs are a fair instrument: every condition of the design, measured in a small world."""

import http.client
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from scipy.stats import binomtest

from evaluator.budget.prices import ModelFacts
from evaluator.controllers import openai_chat_wire as wire
from evaluator.controllers.lenient_json import dumps
from evaluator.controllers.scripted.completions import complete
from evaluator.controllers.scripted.judging import is_correct
from evaluator.controllers.scripted.server import ScriptedServer
from evaluator.controllers.scripted.world_language import bare, inquiry, statements
from evaluator.core.messages import ModelRequest
from evaluator.core.settings import ModelSettings
from evaluator.core.trajectory import Injected, Ruled, Searched, Trajectory, WasRead
from index_builder.datasets.world.pages import RELATIONS
from index_builder.records import Passage
from judges.contain import contain
from tests.contract.world_stage import SETS, Played, World, answer_of, make_world, play

ARMS = ("hasty", "hasty-rerun", "hasty+gate", "hasty+inject", "diligent", "diligent+gate")
GATED = ("hasty", "hasty+gate")
QUESTIONS = 100


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"), questions=QUESTIONS, passages=300)


@pytest.fixture(scope="module")
def quickstart(world: World, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Played]]:
    folder = tmp_path_factory.mktemp("bundles")
    return {dataset: play(world, folder, ARMS, dataset=dataset) for dataset in SETS}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("small"), questions=60, passages=150)


def _mcnemar(gained: int, lost: int) -> float:
    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


@pytest.mark.parametrize("dataset", SETS)
def test_hasty_leaves_at_least_half_of_the_questions_unread(
    quickstart: dict[str, dict[str, Played]], dataset: str
) -> None:
    hasty = quickstart[dataset]["hasty"]
    assert len(hasty.trajectories) == QUESTIONS
    assert hasty.zero_read_rate >= 0.5


@pytest.mark.parametrize("dataset", SETS)
def test_the_gate_gains_on_every_set_and_a_rerun_does_not(
    quickstart: dict[str, dict[str, Played]], dataset: str
) -> None:
    arms = quickstart[dataset]
    gained, lost = arms["hasty+gate"].against(arms["hasty"])
    assert gained - lost >= 18
    assert lost <= 5
    assert _mcnemar(gained, lost) < 1e-4
    assert _mcnemar(*arms["hasty-rerun"].against(arms["hasty"])) > 0.01


@pytest.mark.parametrize("dataset", SETS)
def test_a_rerun_differs_on_some_answers_and_agrees_on_others(
    quickstart: dict[str, dict[str, Played]], dataset: str
) -> None:
    first, again = (quickstart[dataset][arm].trajectories for arm in ("hasty", "hasty-rerun"))
    differ = sum(answer_of(first[i]) != answer_of(again[i]) for i in first)
    assert 0 < differ < QUESTIONS * 0.7


@pytest.mark.parametrize("dataset", SETS)
def test_diligent_under_a_gate_is_diligent_wherever_it_did_not_fire(
    quickstart: dict[str, dict[str, Played]], dataset: str
) -> None:
    plain, gated = quickstart[dataset]["diligent"], quickstart[dataset]["diligent+gate"]
    unfired = [i for i, t in gated.trajectories.items() if not any(r.fired.read for r in _rulings(t))]
    assert len(unfired) >= QUESTIONS * 0.9
    for i in unfired:
        assert gated.trajectories[i].steps == plain.trajectories[i].steps
        assert gated.trajectories[i].outcome == plain.trajectories[i].outcome


def _rulings(trajectory: Trajectory) -> list[Ruled]:
    return [step for step in trajectory.steps if isinstance(step, Ruled)]


@pytest.mark.parametrize("dataset", SETS)
def test_no_final_that_an_enforced_gate_accepted_searched_without_reading(
    quickstart: dict[str, dict[str, Played]], dataset: str
) -> None:
    for arm in ("hasty+gate", "hasty+inject", "diligent+gate"):
        for trajectory in quickstart[dataset][arm].trajectories.values():
            rulings = _rulings(trajectory)
            if rulings and rulings[-1].decision == "accepted":
                assert trajectory.search_count == 0 or trajectory.read_count > 0


def test_arms_of_one_policy_send_identical_first_requests_and_a_rerun_another_seed(
    quickstart: dict[str, dict[str, Played]],
) -> None:
    arms = quickstart["two_wiki"]
    for i, (first, *_) in arms["hasty"].requests.items():
        for arm in ("hasty+gate", "hasty+inject"):
            assert _body("hasty", arms[arm].requests[i][0]) == _body("hasty", first)
        again = arms["hasty-rerun"].requests[i][0]
        assert again.messages == first.messages
        assert again.seed != first.seed


def _body(program: str, request: ModelRequest) -> bytes:
    settings = ModelSettings(provider="scripted", model=program)
    return dumps(wire.build(request, settings, ModelFacts()))


def test_the_server_answers_the_bytes_of_any_arm_as_the_same_program_in_another_process(
    quickstart: dict[str, dict[str, Played]],
) -> None:
    bodies = {
        _body(arm.partition("+")[0], request)
        for arm in ("hasty", "hasty+gate", "diligent")
        for i in list(quickstart["musique"][arm].requests)[:8]
        for request in quickstart["musique"][arm].requests[i]
    }
    with ScriptedServer() as server:
        parts = urlsplit(server.base_url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        for body in sorted(bodies):
            connection.request("POST", "/v1/chat/completions", body)
            assert connection.getresponse().read() == complete(body)[1]
        connection.close()
    assert len(bodies) > 50


@pytest.mark.parametrize("arm", ARMS)
def test_every_answer_stands_in_a_text_that_was_shown_or_in_the_question(
    quickstart: dict[str, dict[str, Played]], arm: str
) -> None:
    for dataset in SETS:
        for trajectory in quickstart[dataset][arm].trajectories.values():
            answer = answer_of(trajectory)
            assert (
                answer in {"yes", "no", "unknown"} or answer in f"{trajectory.question}\n{_shown(trajectory)}"
            )


def _shown(trajectory: Trajectory) -> str:
    parts: list[str] = []
    for step in trajectory.steps:
        match step:
            case Searched(hits=hits):
                parts += [f"{hit.title}\n{hit.snippet}" for hit in hits]
            case WasRead(title=title, text=text):
                parts += [title, text]
            case Injected(text=text):
                parts.append(text)
            case _:
                pass
    return "\n".join(parts)


@pytest.mark.parametrize("dataset", SETS)
def test_scrambled_passages_leave_at_most_one_answer_in_twenty_right(
    small: World, tmp_path: Path, dataset: str
) -> None:
    luck = random.Random(7)

    def scrambled(passage: Passage) -> Iterable[Passage]:
        words = passage.text.split()
        luck.shuffle(words)
        return [Passage(passage.title, " ".join(words))]

    arms = play(small, tmp_path, ("hasty", "hasty+gate", "diligent"), dataset=dataset, rewrite=scrambled)
    for arm in arms.values():
        assert arm.accuracy <= 0.05
        # Not even a lucky yes or no: nothing that was shown states a fact.
        assert {answer_of(trajectory) for trajectory in arm.trajectories.values()} == {"unknown"}


def test_changing_one_fact_in_one_passage_changes_the_answer(small: World, tmp_path: Path) -> None:
    before = play(small, tmp_path / "before", ("diligent",), dataset="hotpotqa")["diligent"]
    changed = 0
    for i, trajectory in before.trajectories.items():
        decisive = _decisive_read(trajectory)
        if not before.right[i] or decisive is None or changed == 12:
            continue
        said = answer_of(trajectory)
        new = f"{said[:-1]}{(int(said[-1]) + 1) % 10}" if said[-1].isdigit() else "Quill Zorander"
        altered = decisive.replace(said, new)

        def one_fact(_: str, text: str, old: str = decisive, fresh: str = altered) -> str:
            return text.replace(old, fresh)

        after = play(_only(small, i), tmp_path / f"after{changed}", ("diligent",), alter=one_fact)["diligent"]
        assert answer_of(after.trajectories[i]) == new
        changed += 1
    assert changed == 12


def _decisive_read(trajectory: Trajectory) -> str | None:
    """The sentence in the last page read that states the answer of a chain question."""
    asked = inquiry(trajectory.question)
    reads = [step for step in trajectory.steps if isinstance(step, WasRead) and step.new]
    if asked is None or asked.choose != "object" or not reads:
        return None
    for sentence in reads[-1].text.split(". "):
        for said in statements(reads[-1].title, f"{sentence.rstrip('.')}."):
            if (
                said.stated
                and said.value == answer_of(trajectory)
                and said.relation == asked.chains[0].path[-1]
            ):
                return sentence
    return None


def _only(world: World, question_id: str) -> World:
    dataset, passages = world.sets["hotpotqa"]
    kept = tuple(q for q in dataset.questions if q.question_id == question_id)
    return World({"hotpotqa": (type(dataset)(kept, dataset.passages, dataset.notes), passages)})


@pytest.mark.parametrize("dataset", SETS)
def test_the_gain_vanishes_when_snippets_show_whole_chunks(
    small: World, tmp_path: Path, dataset: str
) -> None:
    arms = play(small, tmp_path, GATED, dataset=dataset, snippet="lead:100000")
    gained, lost = arms["hasty+gate"].against(arms["hasty"])
    assert gained <= 2
    assert lost <= 2
    assert arms["hasty"].accuracy >= 0.9


def test_the_size_of_the_gain_is_set_by_where_facts_stand_and_what_snippets_show(tmp_path: Path) -> None:
    gains = {}
    for share, snippet in ((0.0, "lead:200"), (1.0, "lead:200"), (1.0, "lead:400")):
        folder = tmp_path / f"{share}-{snippet[5:]}"
        world = make_world(folder / "world", questions=60, passages=150, late_share=share)
        arms = play(world, folder, GATED, snippet=snippet)
        gained, lost = arms["hasty+gate"].against(arms["hasty"])
        gains[share, snippet] = gained - lost
    assert gains[0.0, "lead:200"] < gains[1.0, "lead:200"]
    assert gains[1.0, "lead:400"] < gains[1.0, "lead:200"]


def test_reading_hurts_where_retrieval_puts_a_stale_page_of_the_same_name_first(tmp_path: Path) -> None:
    world = make_world(tmp_path / "world", questions=60, passages=150)
    arms = play(world, tmp_path, GATED, rewrite=_with_a_stale_page, snippet="lead:800")
    gained, lost = arms["hasty+gate"].against(arms["hasty"])
    assert arms["hasty"].accuracy >= 0.8
    assert lost - gained >= 8
    assert _mcnemar(gained, lost) < 0.01


def _with_a_stale_page(passage: Passage) -> Iterable[Passage]:
    """The page, and another of that name that says otherwise beyond the reach of a snippet."""
    name = bare(passage.title)
    lead = " ".join([f"Much has been written about {name}."] * 30)
    others = {"date": "1 January 1111", "year": "1111", "number": "1,111"}
    false = [
        RELATIONS[said.relation][0].format(subject=name, object=others.get(_form(said.value), "Nemo Nobody"))
        for said in statements(passage.title, passage.text)
        if said.stated
    ]
    return [passage, Passage(f"{name} ({name} in an old edition)", f"{lead} {' '.join(false)}")]


def _form(value: str) -> str:
    if value.isdigit():
        return "year"
    return "date" if value[0].isdigit() and " " in value else "number" if value[0].isdigit() else "name"


def test_the_same_seed_gives_the_same_episodes_from_files_to_verdicts(small: World, tmp_path: Path) -> None:
    arms = ("hasty", "hasty-rerun", "hasty+gate", "hasty+inject")
    first = play(small, tmp_path / "first", arms, dataset="musique")
    again_world = make_world(tmp_path / "world", questions=60, passages=150)
    again = play(again_world, tmp_path / "again", arms, dataset="musique")
    for arm in arms:
        assert again[arm].right == first[arm].right
        assert [(i, t.steps, t.outcome) for i, t in again[arm].trajectories.items()] == [
            (i, t.steps, t.outcome) for i, t in first[arm].trajectories.items()
        ]


def test_a_refusal_is_obeyed_nine_times_in_ten(quickstart: dict[str, dict[str, Played]]) -> None:
    obeyed = [
        _obeyed_first_refusal(trajectory)
        for dataset in SETS
        for trajectory in quickstart[dataset]["hasty+gate"].trajectories.values()
        if any(ruling.decision == "rejected" for ruling in _rulings(trajectory))
    ]
    # Four standard deviations of a share of .9: 4 sqrt(.9 × .1 / n).
    assert len(obeyed) > 150
    assert abs(sum(obeyed) / len(obeyed) - 0.9) < 4 * (0.09 / len(obeyed)) ** 0.5


def _obeyed_first_refusal(trajectory: Trajectory) -> bool:
    """Whether the first final is not simply followed by another in the next turn."""
    finals = [ruling.turn for ruling in _rulings(trajectory)]
    return len(finals) == 1 or finals[1] != finals[0] + 1


def test_the_judge_differs_from_containment_on_listed_cases() -> None:
    cases: Mapping[tuple[str, ...], Mapping[str, bool]] = {
        ("Paris",): {"not Paris": False, "Paris or London": False, "in Paris, as it happens": True},
        ("United States", "USA"): {"the USA": True},
        ("12 March 1987",): {"March 12, 1987": True, "1987": False},
        ("Ada King Lovelace",): {"Ada Lovelace": True, "Lovelace": False},
        ("five",): {"5": True},
        ("Ann",): {"Annapolis": False},
    }
    judged = {
        (golds[0], said): (is_correct(golds, said), contain(said, golds), right)
        for golds, predictions in cases.items()
        for said, right in predictions.items()
    }
    assert all(verdict is right for verdict, _, right in judged.values())
    assert {said for (_, said), (verdict, contained, _) in judged.items() if verdict != contained} == {
        "not Paris",
        "Paris or London",
        "the USA",
        "March 12, 1987",
        "Ada Lovelace",
        "5",
        "Annapolis",
    }
