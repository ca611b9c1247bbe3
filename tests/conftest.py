"""Fixtures that more than one room's tests need."""

from pathlib import Path

import pytest
from hypothesis import settings

# Properties are tried on the same examples everywhere, so that a red check is red for everyone;
# `pytest --hypothesis-profile explore` looks further.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the real dataset samples; tests that need it skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real samples are not at {SHARED_DATA.name}/ beside the checkout")
    return SHARED_DATA
