"""Gives every entity of a world a name: invented, pronounceable, and borne by no other.

A name is a number written in syllables, and numbers are handed out by ``step * rank + start`` modulo
the count of names, which meets no number twice: so names need no memory, in a world of any size.
"""

import itertools
import math
from collections.abc import Sequence
from hashlib import blake2b


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ONSETS = _words("b bl br d dr f fl g gl gr h j k kl kr l m n p pr r s sk st t tr v z")
_VOWELS = _words("a e i o u")
_CODAS = _words("lk rn sk v x z nd nt ld lm rd rk th mb rv lv sh zd ft gg")
_FIRST_ENDINGS = {
    "m": _words("ren dan vik lor mar tus nek zo bin gar"),
    "f": _words("na lia sette mira ra wen da zelle vy nis"),
}
_LAST_ENDINGS = [
    vowel + coda
    for vowel, coda in itertools.product(
        "aiouy",
        _words("l n r s t k m ck nd sh th v x z ld rn st lt p b d g nn rd ss ft ll nt mm zz kt ln sk ks bb"),
    )
]
_TOWN_ENDINGS = _words(
    "mere holm wick stead ford combe gate haven moor dale fell thorpe march brook cliff strand keep well "
    "barrow shaw grove hurst marsh cross bridge mouth field court lea ness toft worth beck garth mont quay "
    "pool crest side grange port bank den gill"
)
_SECOND_WORDS = {
    "film": (
        _words("ane eph ile ola une yre arth enna imbra oss ullo ys"),
        _words(
            "Lantern Orchard Harbour Glacier Mirror Sparrow Carnival Beacon Garden Thunder Velvet Compass "
            "Horizon Shadow Ember Violin Tempest Labyrinth Mosaic Pendulum Feather Avalanche Serenade "
            "Masquerade Bonfire Meridian Nocturne Parade Tide Rapture Silence Voyage Echo Marble Canyon "
            "Midnight Monsoon Prairie Riddle Twilight"
        ),
    ),
    "company": (
        _words("ac ect ido ogen utex yco apra eda igo omat una yl"),
        _words(
            "Foundry Mills Shipyard Looms Brewery Quarries Tannery Glassworks Bindery Optics Turbines Motors "
            "Ceramics Timber Cables Instruments"
        ),
    ),
    "team": (
        _words("ard eck ing olt uff yde ask erra ill onk ump yrr"),
        _words(
            "Harriers Rovers Falcons Comets Lynxes Wolves Herons Otters Badgers Kestrels Mariners Pioneers "
            "Stallions Griffins Tritons Cobras"
        ),
    ),
    "award": (
        _words("aim ean ier oan uel yon audt erlin issen oberg ulius yst"),
        _words("Laurel Garland Chalice Plaque Sceptre Medallion Wreath Goblet Ribbon Rosette Pennant Torch"),
    ),
}
COUNTRIES = _words(
    "Ostrevia Keldara Vantoria Murnesia Drelland Sorvany Quillar Tharnia Belmoria Ascovar Zhendal Pellaria "
    "Irvonia Norvale Gathmark Uldria"
)
"""The countries of every world; they have no pages."""

_STEMS = [
    (onset + vowel + coda).capitalize() for onset, vowel, coda in itertools.product(_ONSETS, _VOWELS, _CODAS)
]
_FIRSTS = {
    gender: [
        (onset + vowel + ending).capitalize()
        for onset, vowel, ending in itertools.product(_ONSETS, _VOWELS, endings)
    ]
    for gender, endings in _FIRST_ENDINGS.items()
}


class Scatter:
    """A seeded one-to-one map of ``range(size)`` onto itself that sends neighbours far apart."""

    def __init__(self, size: int, *salt: object) -> None:
        self.size = size
        digest = blake2b(repr(salt).encode(), digest_size=16).digest()
        self._start = int.from_bytes(digest[:8]) % size
        step = int.from_bytes(digest[8:]) % size
        while math.gcd(step, size) != 1:
            step += 1
        self._step = step
        self._back = pow(step, -1, size)

    def __call__(self, rank: int) -> int:
        """The number of a rank."""
        return (self._step * rank + self._start) % self.size

    def rank(self, number: int) -> int:
        """The rank of a number."""
        return (number - self._start) * self._back % self.size


class Names:
    """The names of one world: ``rank`` counts the names of a kind from 0; equal ranks, equal names."""

    def __init__(self, seed: int) -> None:
        self._firsts = Scatter(len(_FIRSTS["m"]), seed, "first")
        self._lasts = Scatter(len(_STEMS) * len(_LAST_ENDINGS), seed, "last")
        self._towns = Scatter(len(_STEMS) * len(_TOWN_ENDINGS), seed, "town")
        self._pairs = {
            kind: Scatter(len(_STEMS) * len(endings) * len(nouns), seed, kind)
            for kind, (endings, nouns) in _SECOND_WORDS.items()
        }

    def person(self, rank: int, gender: str) -> str:
        """First and last name; no two ranks share a last name."""
        return f"{_FIRSTS[gender][self._firsts(rank)]} {_word(self._lasts(rank), _LAST_ENDINGS)}"

    def town(self, rank: int) -> str:
        """A single word."""
        return _word(self._towns(rank), _TOWN_ENDINGS)

    def pair(self, kind: str, rank: int) -> str:
        """An invented word and a noun of the kind: film, company, team or award."""
        endings, nouns = _SECOND_WORDS[kind]
        number, noun = divmod(self._pairs[kind](rank), len(nouns))
        return f"{_word(number, endings)} {nouns[noun]}"


def _word(number: int, endings: Sequence[str]) -> str:
    stem, ending = divmod(number, len(endings))
    return _STEMS[stem] + endings[ending]
