"""The scripted judge: grades one answer by the form of its words, as a careful reader would.

It reads question, gold answers and prediction out of the judge's prompt, a JSON object in the
first user message. Beyond looking for a gold answer in the prediction it knows aliases, forms of
dates and numbers, dropped middle names, negation, alternatives, and answers that give only a part.
It knows nothing of the world: two names of one thing are the same only if both are gold.
"""

import calendar
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import orjson

from evaluator.controllers.scripted.conversation import Conversation, Move

ARTICLES = frozenset({"a", "an", "the"})
NEGATIONS = frozenset(
    {"not", "no", "never", "neither", "nor", "isnt", "wasnt", "arent", "werent", "doesnt", "didnt"}
    | {"cannot", "without", "except", "unlike", "than"}
)
TURNS_BACK = frozenset({"but", "rather", "it", "instead"})
REACH_OF_NEGATION = 4
DECLINES = re.compile(r"\b(?:unknown|unclear|unsure|unable|cannot (?:say|tell|determine|answer)|dont know)\b")
ALTERNATIVES = re.compile(r"\bor\b|\beither\b|[/;|]", re.IGNORECASE)
MONTHS = {
    form: f"{number:02}"
    for number, name in enumerate(calendar.month_name)
    for form in (name.lower(), name[:3].lower())
    if form
} | {"sept": "09"}
UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBERS = {word: value for value, word in enumerate(UNITS)} | {
    word: 10 * value for value, word in enumerate(TENS, start=2)
}
DAY = re.compile(r"(0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?")
YEAR = re.compile(r"[12][0-9]{3}")
ISO_DATE = re.compile(r"\b([12][0-9]{3})-([01][0-9])-([0-3][0-9])\b")
DATE = re.compile(r"[0-9]{4}(?:_[0-9]{2}){0,2}")


def judge(conversation: Conversation) -> Move:
    """Answer a judge's prompt with ``correct`` or ``incorrect``.

    A prompt in another form gets a reply that holds no verdict.
    """
    try:
        form = orjson.loads(conversation.question)
        golds, prediction = [str(gold) for gold in form["gold_answers"]], str(form["prediction"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return Move("", "There is no answer here that could be graded.")
    return Move("", "correct" if is_correct(golds, prediction) else "incorrect")


def is_correct(golds: Sequence[str], prediction: str) -> bool:
    """Whether the prediction means the same as one of the gold answers."""
    whole = words(prediction)
    if any(whole == words(gold) for gold in golds):
        return bool(whole)
    if DECLINES.search(" ".join(whole)):
        return False
    splits = not any(ALTERNATIVES.search(gold) for gold in golds)
    parts = [part for part in map(words, ALTERNATIVES.split(prediction) if splits else [prediction]) if part]
    return bool(parts) and all(any(_says(part, words(gold)) for gold in golds) for part in parts)


def _says(said: tuple[str, ...], gold: tuple[str, ...]) -> bool:
    """Whether the words assert the gold answer, perhaps among others."""
    if gold in {("yes",), ("no",)}:
        return next((word for word in said if word in {"yes", "no"}), "") == gold[0]
    if _is_same_name(said, gold):
        return True
    places = range(len(said) - len(gold) + 1)
    return any(
        all(_covers(said[place + offset], word) for offset, word in enumerate(gold))
        and not _is_negated(said, place)
        for place in places
    )


def _covers(said: str, gold: str) -> bool:
    """Whether a word is the gold word, or a date that lies in the gold date."""
    return said == gold or (DATE.fullmatch(gold) is not None and said.startswith(f"{gold}_"))


def _is_same_name(said: tuple[str, ...], gold: tuple[str, ...]) -> bool:
    """Whether a name is given in full save for its middle: ``Ada Lovelace`` for ``Ada King Lovelace``."""
    shorter, longer = sorted((said, gold), key=len)
    return len(shorter) == 2 and len(longer) == 3 and (longer[0], longer[-1]) == shorter


def _is_negated(said: tuple[str, ...], place: int) -> bool:
    for word in reversed(said[max(0, place - REACH_OF_NEGATION) : place]):
        if word in NEGATIONS:
            return True
        if word in TURNS_BACK:
            return False
    return False


@lru_cache(maxsize=20_000)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in one form: no case, accents, punctuation or articles; numbers as digits."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    folded = "".join(letter for letter in folded if not unicodedata.combining(letter))
    folded = re.sub(r"(?<=\d),(?=\d{3})|['’]", "", ISO_DATE.sub(r"\1_\2_\3", folded))
    tokens = re.findall(r"\w+", folded)
    kept = [token for token in tokens if token not in ARTICLES] or tokens
    return tuple(_with_dates(_with_digits(kept)))


def _with_digits(tokens: list[str]) -> list[str]:
    digits: list[str] = []
    previous = ""
    for token in tokens:
        value = NUMBERS.get(token)
        if value is None:
            digits.append(token)
        elif previous in TENS and 1 <= value <= 9:
            digits[-1] = str(NUMBERS[previous] + value)
        else:
            digits.append(str(value))
        previous = token
    return digits


def _with_dates(tokens: list[str]) -> list[str]:
    """Replace ``12 march 1987``, ``march 12 1987`` and ``march 1987`` by one sortable word each."""
    dates: list[str] = []
    rest = tokens
    while rest:
        width, date = _leading_date(rest)
        dates.append(date or rest[0])
        rest = rest[width:]
    return dates


def _leading_date(tokens: list[str]) -> tuple[int, str]:
    for width, day, month, year in ((4, 0, 2, 3), (3, 0, 1, 2), (3, 1, 0, 2)):
        if len(tokens) < width or (width == 4 and tokens[1] != "of"):
            continue
        matched = DAY.fullmatch(tokens[day])
        if matched and tokens[month] in MONTHS and YEAR.fullmatch(tokens[year]):
            return width, f"{tokens[year]}_{MONTHS[tokens[month]]}_{int(matched[1]):02}"
    if len(tokens) > 1 and tokens[0] in MONTHS and YEAR.fullmatch(tokens[1]):
        return 2, f"{tokens[1]}_{MONTHS[tokens[0]]}"
    return 1, ""
