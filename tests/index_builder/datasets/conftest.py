"""The listed oddities of the real files, and the files themselves, parsed once."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Quirks: TypeAlias = dict[str, list[str]]

LISTED = re.compile(r"- (?P<kind>.+?): \d+ questions(?: \(\d+ occurrences\))?; e\.g\. (?P<examples>.+)")
AN_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{24}|\dhop\d?(?:__\d+(?:_\d+)*)")


@pytest.fixture(scope="session")
def quirks(shared_data: Path) -> Callable[[str], Quirks]:
    """Kind of oddity to example ids, for a section of QUIRKS.txt."""
    text = (shared_data / "QUIRKS.txt").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in text.split("## main ")[1:]}

    def listed(section: str) -> Quirks:
        found = {each["kind"]: AN_ID.findall(each["examples"]) for each in LISTED.finditer(sections[section])}
        assert all(found.values())
        return found

    return listed
