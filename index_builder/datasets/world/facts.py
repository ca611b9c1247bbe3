"""The typed graph: which entities there are and which facts hold of them, from a seed."""

from collections.abc import Mapping

KINDS: tuple[str, ...] = ("person", "film", "town", "company", "team", "award")
"""The kinds of entity; each entity has a page, titled with its full name."""

LITERALS: tuple[str, ...] = ("date", "year", "number", "country")
"""The kinds of value without a page: ``14 March 1931``, ``1931``, ``12,480``, a country's name."""

SIGNATURES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "date_of_birth": (("person",), "date"),
    "place_of_birth": (("person",), "town"),
    "father": (("person",), "person"),
    "mother": (("person",), "person"),
    "spouse": (("person",), "person"),
    "employer": (("person",), "company"),
    "team": (("person",), "team"),
    "director": (("film",), "person"),
    "publication_year": (("film",), "year"),
    "production_company": (("film",), "company"),
    "award_received": (("film",), "award"),
    "country": (("town",), "country"),
    "mayor": (("town",), "person"),
    "population": (("town",), "number"),
    "inception": (("town", "company", "team", "award"), "year"),
    "founder": (("company",), "person"),
    "headquarters": (("company",), "town"),
    "chief_executive": (("company",), "person"),
    "home_town": (("team",), "town"),
    "coach": (("team",), "person"),
    "sponsor": (("team",), "company"),
    "named_after": (("award",), "person"),
    "presented_in": (("award",), "town"),
    "funder": (("award",), "company"),
}
"""Relation to the kinds of its subject and the kind of its object; a subject has at most one object."""
