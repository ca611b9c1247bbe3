"""No cut falls inside a character as a reader sees it, and cuts fall between any two such characters."""

import pytest

from index_builder.graphemes import may_cut

WHOLE = [
    "e\u0301",
    "👨\u200d👩\u200d👧",
    "👋🏽",
    "🇩🇪",
    "각",
    "क्ष",
    "\u2764\ufe0f",
    "🏴\U000e0067\U000e0062\U000e007f",
    "\r\n",
]


def cuts(text: str) -> list[int]:
    return [at for at in range(1, len(text)) if may_cut(text, at)]


@pytest.mark.parametrize("whole", WHOLE)
def test_characters_of_several_code_points_are_kept_together(whole: str) -> None:
    assert cuts(f"x{whole}y") == [1, 1 + len(whole)]


@pytest.mark.parametrize("text", ["abc", "東京都", "대한민국", "a b\n"])
def test_characters_of_one_code_point_can_be_parted_everywhere(text: str) -> None:
    assert cuts(text) == list(range(1, len(text)))


def test_flags_next_to_each_other_are_parted_in_pairs() -> None:
    assert cuts("🇩🇪🇫🇷🇮🇹") == [2, 4]
    assert cuts("🇩🇪🇫") == [2]
