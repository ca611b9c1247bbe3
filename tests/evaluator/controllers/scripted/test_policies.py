"""Tests of the programs that play the agent, in the real loop over a small library."""

from collections import Counter
from dataclasses import dataclass

import pytest

from evaluator.agent.effects import AskModel, Read, Search
from evaluator.agent.loop import run_agent
from evaluator.controllers.scripted.in_process import InProcessModel
from evaluator.core.messages import ModelRequest
from evaluator.core.outcome import Answered
from evaluator.core.settings import GateSettings, LimitSettings, ProtocolSettings
from evaluator.core.trajectory import Episode, Injected, Ruled, Searched, WasRead
from evaluator.evidence.entities.by_rule import entities
from index_builder.records import Chunk, Hit, IndexedQuestion

OFF = GateSettings()
ENFORCE = GateSettings(mode="enforce", rules=("read",))
QUESTION = "When was the director of the film Vell born?"
BEES = "Neighbours described a careful talker with a loud laugh."
PAGES = (
    ("Vell", f"Vell was directed by Ada Orr. {BEES}"),
    (
        "Ada Orr",
        f"A baptism of Ada Orr is entered under 3 May 1931. {BEES} Ada Orr was born on 14 March 1931.",
    ),
    ("Oxley", f"Oxley lies in Oressa. {BEES}"),
)
PLAIN_PAGES = (PAGES[0], ("Ada Orr", f"Ada Orr was born on 14 March 1931. {BEES}"))
LEAD = 50


@dataclass(frozen=True)
class Library:
    """Pages found by their names: a search shows those whose title stands in the query."""

    pages: tuple[tuple[str, str], ...]
    lead: int = LEAD

    def search(self, query: str) -> tuple[Hit, ...]:
        found = [(title, text) for title, text in self.pages if title.partition(" (")[0] in query]
        return tuple(
            Hit(f"c{self.pages.index(page)}", rank, 1.0, page[0], page[1][: self.lead])
            for rank, page in enumerate(found, start=1)
        )

    def read(self, chunk_id: str) -> Chunk | None:
        title, text = self.pages[int(chunk_id[1:])]
        return Chunk(chunk_id, title, text)


@dataclass(frozen=True)
class Played:
    """An episode and what its model was asked."""

    episode: Episode
    requests: tuple[ModelRequest, ...]

    @property
    def answer(self) -> str:
        assert isinstance(self.episode.outcome, Answered)
        return self.episode.outcome.answer

    @property
    def forced(self) -> bool:
        return isinstance(self.episode.outcome, Answered) and self.episode.outcome.forced

    @property
    def moves(self) -> list[str]:
        """Searches and new reads, in order, by their query or title."""
        steps = self.episode.steps
        return [
            s.query if isinstance(s, Searched) else s.title
            for s in steps
            if isinstance(s, Searched | WasRead)
        ]


def _play(
    program: str,
    library: Library,
    gate: GateSettings = OFF,
    *,
    seed: int = 1,
    question: str = QUESTION,
    turns: int = 10,
) -> Played:
    model, requests = InProcessModel(program), []
    asked = IndexedQuestion("q", question, ("14 March 1931",), "bridge", 2, None)
    loop = run_agent(
        asked,
        protocol=ProtocolSettings(),
        limits=LimitSettings(turns=turns),
        gate=gate,
        seed=seed,
        extract=entities,
    )
    effect = next(loop)
    while True:
        try:
            match effect:
                case AskModel(request, _):
                    requests.append(request)
                    effect = loop.send(model.reply(request))
                case Search(query):
                    effect = loop.send(library.search(query))
                case Read(chunk_id):
                    effect = loop.send(library.read(chunk_id))
        except StopIteration as end:
            return Played(end.value, tuple(requests))


def test_hasty_answers_without_reading_when_the_snippets_state_every_fact() -> None:
    played = _play("hasty", Library(PLAIN_PAGES))
    assert played.answer == "14 March 1931"
    assert (played.episode.search_count, played.episode.read_count) == (2, 0)
    assert played.moves[0] == QUESTION
    assert "Ada Orr" in played.moves[1]


def test_hasty_guesses_what_its_snippets_lack_and_sometimes_reads() -> None:
    answers = Counter(_play("hasty", Library(PAGES), seed=seed).answer for seed in range(60))
    # The decoy of the snippet is the guess; curiosity reads the page in a quarter of the cases.
    assert set(answers) == {"3 May 1931", "14 March 1931"}
    assert 5 <= answers["14 March 1931"] <= 27


def test_hasty_says_unknown_when_nothing_of_the_right_type_was_seen() -> None:
    assert _play("hasty", Library(PAGES[2:])).answer == "unknown"
    assert _play("hasty", Library(())).answer == "unknown"


def test_a_refused_hasty_reads_hop_by_hop_and_takes_what_it_read() -> None:
    played = _play("hasty", Library(PAGES), ENFORCE, seed=_seed_that_guesses())
    assert played.answer == "14 March 1931"
    assert [title for title in played.moves if title in {"Vell", "Ada Orr"}] == ["Vell", "Ada Orr"]


def _seed_that_guesses() -> int:
    return next(s for s in range(99) if _play("hasty", Library(PAGES), seed=s).answer == "3 May 1931")


def test_a_demand_to_read_is_obeyed_nine_times_in_ten() -> None:
    once = GateSettings(mode="enforce", rules=("read",), max_corrections=1, when_exhausted="accept")
    library = Library(PLAIN_PAGES)
    reads = [_play("hasty", library, once, seed=seed).episode.read_count for seed in range(400)]
    # Binomial(400, .9): mean 360, standard deviation 6; four of them either way.
    assert 336 <= sum(count > 0 for count in reads) <= 384


def test_whoever_disobeys_insists_on_the_same_answer_and_is_asked_again() -> None:
    library = Library(PLAIN_PAGES)
    rulings = [
        [
            step
            for step in _play("hasty", library, ENFORCE, seed=seed).episode.steps
            if isinstance(step, Ruled)
        ]
        for seed in range(60)
    ]
    stubborn_once = [ruled for ruled in rulings if len(ruled) > 2]
    assert stubborn_once
    for ruled in stubborn_once:
        assert len({ruling.answer for ruling in ruled[:-1]}) == 1
        assert ruled[-1].decision == "accepted"


def test_diligent_reads_the_page_of_every_hop_before_it_answers() -> None:
    played = _play("diligent", Library(PAGES))
    assert played.answer == "14 March 1931"
    assert played.moves[0] == QUESTION
    assert played.moves[1] == "Vell"
    assert "Ada Orr" in played.moves[2]
    assert played.moves[3] == "Ada Orr"
    assert len(played.moves) == 4


def test_diligent_reads_something_even_when_no_page_bears_the_name() -> None:
    question = "When was the director of the film Oxley born?"
    played = _play("diligent", Library(PAGES), question=question)
    assert played.episode.read_count == 1
    assert played.answer == "unknown"


def test_diligent_gives_up_when_nothing_is_found() -> None:
    played = _play("diligent", Library(()))
    assert played.answer == "unknown"
    assert len(played.moves) == 2


def test_a_page_that_does_not_exist_is_asked_for_once() -> None:
    @dataclass(frozen=True)
    class Torn(Library):
        def read(self, chunk_id: str) -> Chunk | None:
            del chunk_id
            return None

    played = _play("diligent", Torn(PLAIN_PAGES))
    asked = [step.chunk_id for step in played.episode.steps if isinstance(step, WasRead)]
    assert asked == ["c0", "c1"]
    assert played.answer == "14 March 1931"


def test_diligent_is_the_same_under_a_gate_that_does_not_fire() -> None:
    assert _play("diligent", Library(PAGES), ENFORCE) == _play("diligent", Library(PAGES), OFF)


def test_at_most_two_pages_of_one_name_are_read_for_one_fact() -> None:
    namesakes = tuple((f"Ada Orr ({n})", f"Ada Orr worked for Brell. {BEES}") for n in range(4))
    played = _play("diligent", Library((PAGES[0], *namesakes)))
    assert played.episode.read_count == 3


def test_stubborn_repeats_its_first_final_until_a_limit_ends_it() -> None:
    played = _play("stubborn", Library(PLAIN_PAGES), ENFORCE)
    rulings = [step for step in played.episode.steps if isinstance(step, Ruled)]
    assert {ruling.answer for ruling in rulings} == {"14 March 1931"}
    assert len(rulings) == 8
    assert (played.answer, played.forced, played.episode.turns) == ("14 March 1931", True, 10)


def test_a_forced_answer_is_the_best_that_was_seen_so_far() -> None:
    for program in ("hasty", "diligent"):
        cut = _play(program, Library(PAGES), turns=2, seed=_seed_that_guesses())
        assert cut.forced
    assert _play("hasty", Library(PLAIN_PAGES), turns=2).answer == "14 March 1931"
    assert _play("diligent", Library(PAGES), turns=1).answer == "unknown"


@pytest.mark.parametrize("role", ["user", "tool"])
def test_an_injected_passage_is_used_like_any_other_text(role: str) -> None:
    gate = GateSettings.model_validate({"mode": "enforce", "rules": ["read"], "inject": role})
    played = _play("hasty", Library(PAGES), gate, seed=_seed_that_guesses())
    assert [step.role for step in played.episode.steps if isinstance(step, Injected)] == [role]
    assert played.answer == "14 March 1931"
    assert played.episode.read_count == 0


def test_equal_seeds_give_equal_episodes_and_others_differ_as_a_rerun_does() -> None:
    library = Library(PAGES)
    assert _play("hasty", library, seed=5) == _play("hasty", library, seed=5)
    assert len({_play("hasty", library, seed=seed).moves[1] for seed in range(30)}) == 3


@pytest.mark.parametrize("program", ["hasty", "diligent", "stubborn"])
def test_arms_of_one_policy_send_identical_requests_until_they_are_told_something_else(program: str) -> None:
    library = Library(PLAIN_PAGES)
    off, gated = _play(program, library, OFF), _play(program, library, ENFORCE)
    same = min(len(off.requests), len(gated.requests))
    assert off.requests[:same] == gated.requests[:same]


def test_without_titles_what_a_search_for_the_fact_shows_is_read() -> None:
    packed = Library((("", f"{PAGES[0][1]} {PAGES[1][1]}"),))
    played = _play("diligent", packed)
    assert played.episode.read_count == 1
    assert played.answer == "14 March 1931"


def test_a_page_whose_name_is_looked_for_is_read_from_the_search_for_the_fact() -> None:
    question = "In which town is the company that was founded by Ada Orr based?"
    pages = (
        ("Ada Orr", f"Ada Orr was born in Oxley. {BEES}"),
        ("Brell", f"{BEES} Brell was founded by Ada Orr. Brell is based in Marn."),
    )

    class Founders(Library):
        def search(self, query: str) -> tuple[Hit, ...]:
            return super().search(f"{query} Brell" if query != question else query)

    played = _play("diligent", Founders(pages), question=question)
    assert played.answer == "Marn"
