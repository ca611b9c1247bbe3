"""Cells and the identity of trajectories."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.core.cell import Cell, content_hash, trajectory_id

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)

IDENTITY: dict[str, object] = {
    "dataset": "hotpotqa", "condition": "minimal", "question_id": "5a8b", "bundle": "ab12",
    "controller": {"provider": "openai_chat", "model": "gpt-5-mini"}, "gate": {"mode": "off"},
    "protocol": {"k": 5}, "repeat": 1, "turns": 10, "tokens": 128_000, "seed": 7,
}  # fmt: skip


def test_the_id_is_the_first_32_hex_digits_of_sha256_over_key_sorted_json() -> None:
    canonical = json.dumps(IDENTITY, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert trajectory_id(IDENTITY) == hashlib.sha256(canonical.encode()).hexdigest()[:32]


def test_the_order_of_keys_does_not_matter_at_any_depth() -> None:
    turned = dict(reversed(IDENTITY.items()))
    turned["controller"] = {"model": "gpt-5-mini", "provider": "openai_chat"}
    assert list(turned) != list(IDENTITY)
    assert trajectory_id(turned) == trajectory_id(IDENTITY)


@pytest.mark.parametrize("key", list(IDENTITY))
def test_every_part_of_the_identity_matters(key: str) -> None:
    assert trajectory_id({**IDENTITY, key: "other"}) != trajectory_id(IDENTITY)
    assert trajectory_id({k: v for k, v in IDENTITY.items() if k != key}) != trajectory_id(IDENTITY)


@given(JSON)
def test_the_content_hash_is_that_of_canonical_json(tree: object) -> None:
    canonical = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert content_hash(tree) == hashlib.sha256(canonical.encode()).hexdigest()


def test_cells_sort_by_dataset_then_condition() -> None:
    cells = [Cell("b", "a"), Cell("a", "b"), Cell("a", "a")]
    assert sorted(cells) == [Cell("a", "a"), Cell("a", "b"), Cell("b", "a")]
