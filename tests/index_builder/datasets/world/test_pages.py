"""The public tables of sentences: whole, and without two readings."""

import re
from collections.abc import Iterator

import pytest

from index_builder.datasets.world.facts import KINDS, SIGNATURES
from index_builder.datasets.world.pages import DECOYS, FILLERS, INTROS, PRONOUNS, RELATIONS

SAMPLES = {
    "date": "14 March 1931",
    "year": "1931",
    "number": "12,480",
    "country": "Ostrevia",
    "person": "Bruzo Beskuth (printer)",
    "film": "Skethys Tempest",
    "town": "Mondpool (forest)",
    "company": "Kolkogen Timber",
    "team": "Jishard Cobras",
    "award": "Saldoberg Garland",
}


def _filled() -> Iterator[tuple[str, str, str, str]]:
    """Table, relation, object and sentence, for every template, subject kind and way to say the subject."""
    for table, templates in (("fact", RELATIONS), ("decoy", DECOYS)):
        for relation, (kinds, value_kind) in SIGNATURES.items():
            for template in templates[relation]:
                for kind in kinds:
                    for subject in ("Gotho Drambel", *PRONOUNS[kind]):
                        value = SAMPLES[value_kind]
                        yield table, relation, value, template.format(subject=subject, object=value)


def _regex(template: str) -> str:
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(template))


def test_every_relation_is_worded_in_several_ways_and_has_decoys() -> None:
    assert set(RELATIONS) == set(DECOYS) == set(SIGNATURES)
    assert all(len(templates) >= 3 for templates in RELATIONS.values())
    assert all(len(templates) >= 2 for templates in DECOYS.values())


@pytest.mark.parametrize("relation", RELATIONS)
def test_templates_have_each_slot_once_and_end_with_the_only_full_stop(relation: str) -> None:
    for template in RELATIONS[relation]:
        assert sorted(re.findall(r"\{(\w+)\}", template)) == ["object", "subject"]
    for template in (*RELATIONS[relation], *DECOYS[relation]):
        assert re.findall(r"\{(\w+)\}", template).count("object") == 1
        assert template.index(".") == len(template) - 1


def test_every_kind_has_introductions_fillers_and_pronouns() -> None:
    assert set(INTROS) == set(FILLERS) == set(PRONOUNS) == set(KINDS)
    assert all(len(INTROS[kind]) >= 4 for kind in KINDS)
    # Enough to carry the shortest introduction beyond a snippet without repeating a sentence.
    assert all(sum(map(len, FILLERS[kind])) > 250 for kind in KINDS)


def test_a_sentence_can_be_read_as_its_own_relation_only() -> None:
    for table, relation, value, sentence in _filled():
        readings = {
            (other, match["object"])
            for other, templates in RELATIONS.items()
            for template in templates
            if (match := re.fullmatch(_regex(template), sentence))
        }
        assert readings == ({(relation, value)} if table == "fact" else set()), sentence


def test_introductions_and_fillers_state_nothing() -> None:
    patterns = [_regex(template) for templates in RELATIONS.values() for template in templates]
    for kind in KINDS:
        for template in (*INTROS[kind], *FILLERS[kind]):
            sentence = template.format(subject="Gotho Drambel", detail="an architect")
            assert not any(re.fullmatch(pattern, sentence) for pattern in patterns), sentence
