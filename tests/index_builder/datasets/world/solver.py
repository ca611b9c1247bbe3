"""Answers questions about a written world from its passages alone, by patterns of its own.

It shares no table and no code with the package under test: it is the independent reading of what the
files say. Every step of it works on sets, so that a second answer, a second page of a name or a
second value of a fact shows as a set that does not have one member.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

STANDS_FOR_THE_SUBJECT = (
    "He",
    "She",
    "The film",
    "This picture",
    "The town",
    "This place",
    "The company",
    "The firm",
    "The team",
    "The club",
    "The award",
    "This honour",
)

# The page's own entity is written § here.
SENTENCES = {
    "born on": r"§ was born on (.+)|§ came into the world on (.+)|The birth of § was recorded on (.+)",
    "born in": r"§ was born in (.+)|§ was a native of (.+)|The birthplace of § was (.+)",
    "father": r"The father of § was (.+)|(.+) was the father of §|§ had (.+) for a father",
    "mother": r"The mother of § was (.+)|(.+) was the mother of §|§ had (.+) for a mother",
    "spouse": r"§ was married to (.+)|(.+) was the spouse of §|A quiet wedding joined § and (.+)",
    "employer": r"§ worked for (.+)|§ drew a salary from (.+)|(.+) was the employer of §",
    "team": r"§ competed for (.+)|§ wore the colours of (.+)|(.+) had § on its roster",
    "director": r"§ was directed by (.+)|(.+) was the director of §|The director of § was (.+)",
    "released": r"§ was released in (.+)|§ reached cinemas in (.+)|Audiences first saw § in (.+)",
    "producer": (
        r"§ was produced by (.+)|(.+) was the producer of §|The production of § was in the hands of (.+)"
    ),
    "award": r"§ won the (.+)|§ was honoured with the (.+)|A jury gave the (.+) to §",
    "country": r"§ lies in (.+)|§ belongs to (.+)|The country around § is (.+)",
    "mayor": r"The mayor of § is (.+)|§ has (.+) as its mayor|(.+) serves as mayor of §",
    "inhabitants": r"§ has (.+) inhabitants|The population of § is (.+)|A total of (.+) people live in §",
    "established": r"§ was established in (.+)|§ came into being in (.+)|The history of § begins in (.+)",
    "founder": r"§ was founded by (.+)|(.+) was the founder of §|The founder of § was (.+)",
    "seat": r"§ is based in (.+)|§ has its headquarters in (.+)|The head office of § is in (.+)",
    "head": r"§ is run by (.+)|The chief executive of § is (.+)|(.+) leads § as chief executive",
    "home": r"§ plays its home matches in (.+)|§ represents (.+)|The home ground of § is in (.+)",
    "coach": r"§ is coached by (.+)|The coach of § is (.+)|(.+) trains § as head coach",
    "sponsor": (r"§ is sponsored by (.+)|The sponsor of § is (.+)|(.+) pays for the kit of § as sponsor"),
    "namesake": r"§ is named after (.+)|§ takes its name from (.+)|The name of § honours (.+)",
    "venue": (
        r"§ is presented in (.+)|§ is handed out each spring in (.+)|The ceremony of § is held in (.+)"
    ),
    "funder": r"§ is funded by (.+)|The funds of § come from (.+)|(.+) pays the prize money of §",
}

QUESTIONS = {
    "born on": r"When was (.+) born|What is the date of birth of (.+)",
    "born in": r"In which town was (.+) born|What is the birthplace of (.+)",
    "father": r"Who (?:is|was) the father of (.+)",
    "mother": r"Who (?:is|was) the mother of (.+)",
    "spouse": r"Who is the spouse of (.+)|To whom was (.+) married",
    "employer": r"Which company employed (.+)|For which company did (.+) work",
    "team": r"For which team did (.+) compete|Which team had (.+) on its roster",
    "director": r"Who directed (.+)|Who is the director of (.+)",
    "released": r"(?:In what year|When) was (.+) released",
    "producer": r"Which company produced (.+)|By which company was (.+) produced",
    "award": r"Which award did (.+) win|Which award was given to (.+)",
    "country": r"In which country does (.+) lie|To which country does (.+) belong",
    "mayor": r"Who is the mayor of (.+)|Who serves as mayor of (.+)",
    "inhabitants": r"How many inhabitants does (.+) have|What is the population of (.+)",
    "established": r"(?:In what year|When) was (.+) established",
    "founder": r"Who founded (.+)|Who is the founder of (.+)",
    "seat": r"In which town is (.+) based|In which town are the headquarters of (.+)",
    "head": r"Who is the chief executive of (.+)|Who runs (.+)",
    "home": r"In which town does (.+) play its home matches|Which town does (.+) represent",
    "coach": r"Who coaches (.+)|Who is the coach of (.+)",
    "sponsor": r"Which company sponsors (.+)|Which company is the sponsor of (.+)",
    "namesake": r"After whom is (.+) named|From whom does (.+) take its name",
    "venue": r"In which town is (.+) presented|In which town is the ceremony of (.+) held",
    "funder": r"Which company funds (.+)|From which company do the funds of (.+) come",
    "father father": r"Who is the paternal grandfather of (.+)|Who was (.+)'s paternal grandfather",
    "father mother": r"Who is the paternal grandmother of (.+)|Who was (.+)'s paternal grandmother",
    "mother father": r"Who is the maternal grandfather of (.+)|Who was (.+)'s maternal grandfather",
    "mother mother": r"Who is the maternal grandmother of (.+)|Who was (.+)'s maternal grandmother",
    "spouse father": r"Who is the father-in-law of (.+)|Who was (.+)'s father-in-law",
    "spouse mother": r"Who is the mother-in-law of (.+)|Who was (.+)'s mother-in-law",
}

PHRASES = {
    "born in": r"the town where (.+) was born|the birthplace of (.+)",
    "father": r"the father of (.+)",
    "mother": r"the mother of (.+)",
    "spouse": r"the spouse of (.+)",
    "employer": r"the company that employed (.+)|the employer of (.+)",
    "team": r"the team for which (.+) competed",
    "director": r"the director of (.+)|the person who directed (.+)",
    "producer": r"the company that produced (.+)|the producer of (.+)",
    "award": r"the award that was given to (.+)|the award won by (.+)",
    "mayor": r"the mayor of (.+)",
    "founder": r"the founder of (.+)|the person who founded (.+)",
    "founder backwards": r"the company that was founded by (.+)|the company whose founder was (.+)",
    "seat": r"the town where (.+) is based|the town with the head office of (.+)",
    "head": r"the chief executive of (.+)|the person who runs (.+)",
    "home": r"the town where (.+) plays its home matches|the town represented by (.+)",
    "coach": r"the coach of (.+)",
    "sponsor": r"the sponsor of (.+)|the company that sponsors (.+)",
    "namesake": r"the person after whom (.+) is named",
    "venue": r"the town where (.+) is presented",
    "funder": r"the company that funds (.+)",
}

# What is followed from each side, and which of the two answers: "<" the smaller, ">" the greater.
COMPARISONS = {
    r"Who was born (?:first|earlier), (.+) or (.+)": ("born on", "<"),
    r"Who was born later, (.+) or (.+)": ("born on", ">"),
    r"Were (.+) and (.+) born in the same town": ("born in", "="),
    r"Which film was released first, (.+) or (.+)": ("released", "<"),
    r"Which film was released later, (.+) or (.+)": ("released", ">"),
    r"Were (.+) and (.+) directed by the same person": ("director", "="),
    r"Which town has more inhabitants, (.+) or (.+)": ("inhabitants", ">"),
    r"Which town has fewer inhabitants, (.+) or (.+)": ("inhabitants", "<"),
    r"Do (.+) and (.+) lie in the same country": ("country", "="),
    r"Which (?:company|team) was established first, (.+) or (.+)": ("established", "<"),
    r"Which award was established later, (.+) or (.+)": ("established", ">"),
    r"Which film has the director who was born (?:first|earlier), (.+) or (.+)": ("director born on", "<"),
    r"Which film has the director who was born later, (.+) or (.+)": ("director born on", ">"),
    r"Were the directors of (.+) and (.+) born in the same town": ("director born in", "="),
    r"Which film was produced by the company that was established first, (.+) or (.+)": (
        "producer established",
        "<",
    ),
    r"Which team has the coach who was born first, (.+) or (.+)": ("coach born on", "<"),
    r"Do (.+) and (.+) play their home matches in the same country": ("home country", "="),
    r"Are (.+) and (.+) based in the same country": ("seat country", "="),
    r"Which company is based in the town with more inhabitants, (.+) or (.+)": ("seat inhabitants", ">"),
}


def name_of(title: str) -> str:
    """A title without its parenthesis."""
    return re.sub(r" \([a-z ]+\)$", "", title)


class Reader:
    """Everything that some passages say."""

    def __init__(self, passages: Iterable[tuple[str, str]]) -> None:
        self.said: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.objects: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.by_name: dict[str, set[str]] = defaultdict(set)
        self.titles: list[str] = []
        for title, text in passages:
            self.titles.append(title)
            self.by_name[name_of(title)].add(title)
            for relation, value in facts_in(title, text):
                self.said[title, relation].add(value)
                self.objects[relation, value].add(title)

    def answers(self, question: str) -> set[str]:
        """All right answers that the passages allow; empty when they do not say."""
        found: list[set[str]] = []
        body = question.removesuffix("?")
        for pattern, (path, sign) in COMPARISONS.items():
            sides = re.fullmatch(pattern, body)
            if sides:
                found.append(self._compare(sides[1], sides[2], path, sign))
        for path, pattern in QUESTIONS.items():
            inner = _inside(pattern, body)
            if inner:
                found += [self._follow(thing, path) for thing in self._things(inner)]
        return set().union(*found)

    def _things(self, phrase: str) -> list[set[str]]:
        """What a noun phrase may mean, one set a reading."""
        readings = []
        for path, pattern in PHRASES.items():
            inner = _inside(pattern, phrase)
            if inner:
                readings += [self._follow(thing, path) for thing in self._things(inner)]
        return readings or [self._named(re.sub(r"^the (?:film|town|company|team|award) ", "", phrase))]

    def _named(self, name: str) -> set[str]:
        """All pages that a name may mean, or just the name when no page bears it."""
        pages = self.by_name.get(name_of(name), {name})
        return set(pages) if name_of(name) == name else pages & {name}

    def _follow(self, things: set[str], path: str) -> set[str]:
        if path == "founder backwards":
            return set().union(*(self.objects["founder", thing] for thing in things))
        for relation in _relations(path):
            things = set().union(*(self.said[thing, relation] for thing in things))
        return things

    def _compare(self, first: str, second: str, path: str, sign: str) -> set[str]:
        names = [self._named(first), self._named(second)]
        ends = [self._follow(named, path) for named in names]
        if any(len(each) != 1 for each in (*names, *ends)):
            return set()
        (one,), (other,) = ends
        if sign == "=":
            return {"yes" if one == other else "no"}
        if _size(one) == _size(other):
            return {first, second}
        return {first if (_size(one) < _size(other)) == (sign == "<") else second}


def facts_in(title: str, text: str) -> list[tuple[str, str]]:
    """The relations and objects that a passage states of what its title names."""
    found = []
    for sentence in re.findall(r"[^.]+(?=\.)", text):
        plain = re.sub(rf"\b{re.escape(name_of(title))}\b(?! \()", "§", sentence.strip())
        for pronoun in STANDS_FOR_THE_SUBJECT:
            plain = re.sub(rf"^{pronoun}(?= )", "§", plain)
        found += [
            (relation, value)
            for relation, pattern in SENTENCES.items()
            if (value := _inside(pattern, plain)) is not None
        ]
    return found


def _relations(path: str) -> list[str]:
    """``director born on`` is ``director``, ``born on``."""
    return re.findall("born (?:on|in)|[a-z]+", path)


def _inside(pattern: str, text: str) -> str | None:
    found = re.fullmatch(pattern, text)
    return next((group for group in found.groups() if group), None) if found else None


def _size(literal: str) -> int:
    if literal[-5:-4] == " ":
        return datetime.strptime(literal, "%d %B %Y").replace(tzinfo=UTC).toordinal()
    return int(literal.replace(",", ""))
