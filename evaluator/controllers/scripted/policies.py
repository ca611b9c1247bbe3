"""The scripted programs that play the agent: hasty, diligent and stubborn.

Each decides its next move from one request alone. Chance comes from the request's ``seed`` and its
content, so equal requests get equal moves, and arms that share a seed part only where what they
were told parts them. The constants are habits of the programs, the same in every world and arm.

- *hasty* searches and takes what snippets state. What they do not state it mostly guesses and
  seldom reads. Told to read, it obeys nine times in ten and goes on as diligent, else it insists.
- *diligent* reads the page of every hop before it answers.
- *stubborn* is hasty up to its first final, and then repeats that whatever it is told.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator

from evaluator.controllers.scripted.conversation import Conversation, Move, Source
from evaluator.controllers.scripted.extract import Need, find, is_about
from evaluator.controllers.scripted.world_language import wordings

OBEDIENCE = 0.9
"""How often hasty does as it is told when a final is refused with a demand to read."""
CURIOSITY = 0.25
"""How often hasty reads, rather than guesses, when the snippets lack a fact it needs."""
PAGES_ENOUGH = 2
"""How many pages are read in search of one fact, and how many diligent reads at the least."""
UNKNOWN = "unknown"

DEMANDS_READING = re.compile(r"\bread\b", re.IGNORECASE)


def hasty(seen: Conversation) -> Move:
    """Answer from snippets where they seem to suffice."""
    if not seen.results and seen.may_act:
        return Move("search", seen.question)
    demands = [at for at, told in enumerate(seen.refusals) if DEMANDS_READING.search(told)]
    if any(_chance(seen, "obey", str(at)) < OBEDIENCE for at in demands):
        return diligent(seen)
    if demands and seen.may_act:
        return Move("final", seen.finals[-1])
    for need in _missing(seen, seen.sources) if seen.may_act else ():
        pages = _pages(need, seen)
        query = _query(need, seen)
        if not pages and query not in seen.results:
            return Move("search", query)
        page = _next_page(pages, seen)
        if page and _chance(seen, "curious", need.entity, need.relation) < CURIOSITY:
            return Move("read", page)
    return _answer(seen)


def diligent(seen: Conversation) -> Move:
    """Read before answering, hop by hop."""
    if not seen.results and seen.may_act:
        return Move("search", seen.question)
    full_texts = [source for source in seen.sources if source.kind != "snippet"]
    for need in _missing(seen, full_texts) if seen.may_act else ():
        page = _next_page(_pages(need, seen), seen)
        if page:
            return Move("read", page)
        query = _query(need, seen)
        if query not in seen.results:
            return Move("search", query)
    page = _next_page([hit.chunk_id for hits in seen.results.values() for hit in hits], seen)
    return Move("read", page) if page and seen.may_act else _answer(seen)


def stubborn(seen: Conversation) -> Move:
    """Repeat the first final for ever."""
    if seen.finals:
        return Move("final" if seen.may_act else "", seen.finals[0])
    return hasty(seen)


def _answer(seen: Conversation) -> Move:
    """The best answer that all shown text allows: as a final, or in words when no tool may be called."""
    finding = find(seen.question, seen.sources, set(_missing(seen, seen.sources)))
    return Move("final" if seen.may_act else "", finding.answer or UNKNOWN)


def _missing(seen: Conversation, believed: list[Source]) -> Iterator[Need]:
    """The facts that no believed text states, one after the other.

    Once the next is asked for, each is taken from any text shown, or guessed.
    """
    guessed: set[Need] = set()
    while True:
        needs = find(seen.question, believed, guessed, seen.sources).needs
        need = next((need for need in needs if need not in guessed), None)
        if need is None:
            return
        yield need
        guessed.add(need)


def _pages(need: Need, seen: Conversation) -> list[str]:
    """The chunks among the results in which a fact may stand, most promising first.

    These are the pages that bear the entity's name, a namesake's among them, in the order in which
    they were shown. Where the page's name is what is looked for, or pages have no names, these are
    what a search for the fact showed, those that mention the entity first.
    """
    shown = [hit for hits in seen.results.values() for hit in hits]
    pages = [] if need.is_backwards else [hit for hit in shown if is_about(hit, need.entity)]
    if not pages:
        hits = [h for h in seen.results.get(_query(need, seen), ()) if need.is_backwards or not h.title]
        pages = sorted(hits, key=lambda hit: need.entity not in hit.text)
    return [page.chunk_id for page in pages]


def _next_page(pages: Iterable[str], seen: Conversation) -> str | None:
    """The first of these chunks that was not asked for yet; None once enough of them were."""
    distinct = list(dict.fromkeys(pages))
    unread = [page for page in distinct if page not in seen.asked_to_read]
    return unread[0] if unread and len(distinct) - len(unread) < PAGES_ENOUGH else None


def _query(need: Need, seen: Conversation) -> str:
    """The words to search for a fact with: one of the ways to state it, the value left out."""
    queries = wordings(need.relation, need.entity)
    return queries[int(_chance(seen, "wording", need.entity, need.relation) * len(queries))]


def _chance(seen: Conversation, *occasion: str) -> float:
    """A number in [0, 1) for one occasion of one question under one seed."""
    key = "\x1f".join((str(seen.seed), seen.question, *occasion))
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "replace")).digest()[:6]) / 2**48
