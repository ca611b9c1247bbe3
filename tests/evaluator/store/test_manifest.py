"""The manifest: written whole, read back, compared key by key."""

from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.core.errors import RunFolderError
from evaluator.core.settings import parse_experiment
from evaluator.store.manifest import (
    ExpectedCell,
    Manifest,
    ModelsSeen,
    read_manifest,
    require_same_experiment,
    write_manifest,
)

EXPERIMENT = """
name = "t"
[[dataset]]
name = "d"
bundle = "b"
[[condition]]
name = "c"
controller = "m"
[[condition]]
name = "e"
controller = "m"
[controller.m]
provider = "scripted"
model = "hasty"
[judge.j]
provider = "scripted"
model = "judge"
[judge.k]
provider = "scripted"
model = "judge"
"""


def manifest(*changes: tuple[str, str], text: str = EXPERIMENT) -> Manifest:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return Manifest(
        code_version="1",
        expected=(ExpectedCell("d", "c", 3),),
        settings=parse_experiment(text, "t.toml").model_dump(mode="json"),
        bundle_hashes={"d": "abc"},
        wording_sha256="w",
        prices={"m": {"input": 1.0, "cached_input": 0.5, "output": 2.0}},
        models={"m": ModelsSeen("hasty", ())},
        deviations={"m": {"temperature": "not supported"}},
        started_at="2026-01-01T00:00:00Z",
        ended_at=None,
    )


def test_a_manifest_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    assert read_manifest(tmp_path) == manifest()
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    "change",
    [
        ('name = "t"', 'name = "t"\nrate = { trajectories = 3, requests_per_minute = 60 }'),
        ('name = "t"', 'name = "t"\nbudget = { usd = 5 }'),
        ('name = "t"', 'name = "t"\nmodels.x = { aliases = ["y"], dated_snapshots = true }'),
        ('name = "t"', 'name = "t"\nlimits = { call_seconds = 5, trajectory_seconds = 6 }'),
        ('model = "hasty"', 'model = "hasty"\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "K"'),
        ('model = "judge"', 'model = "judge"\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "K"'),
    ],
)
def test_rates_budget_deadlines_and_addresses_may_change(change: tuple[str, str]) -> None:
    require_same_experiment(Path("run"), manifest(), manifest(change))


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (('name = "t"', 'name = "t"\nmodels.x.refuses = ["seed"]'), "models.x.refuses.0"),
        (('name = "t"', 'name = "u"'), "name"),
        (('name = "t"', 'name = "t"\nseed = 8'), "seed is 0 there and 8 here"),
        (('name = "t"', 'name = "t"\nquestions = 5'), "questions is null there and 5 here"),
        (('name = "t"', 'name = "t"\nlimits = { turns = 5 }'), "limits.turns is 10 there and 5 here"),
        (('name = "t"', 'name = "t"\nlimits = { tokens = 5000 }'), "limits.tokens"),
        (('name = "t"', 'name = "t"\nprotocol = { k = 3 }'), "protocol.k"),
        (('controller = "m"', 'controller = "m"\nrepeat = 2'), "condition.c.repeat"),
        (('controller = "m"', 'controller = "m"\ngate = { mode = "shadow" }'), "condition.c.gate.mode"),
        (
            ('controller = "m"', 'controller = "m"\ngate = { rules = ["read", "snippet"] }'),
            "condition.c.gate.rules.1 is absent there",
        ),
        (('model = "hasty"', 'model = "diligent"'), "controller.m.model"),
        (('model = "hasty"', 'model = "hasty"\nreasoning_effort = "low"'), "controller.m.reasoning_effort"),
        (('bundle = "b"', 'bundle = "b2"'), "dataset.d.bundle"),
        (("[judge.k]", "[judge.l]"), "judge.k."),
        (("[[condition]]", '[[pair]]\nbaseline = "c"\ntreatment = "e"\n[[condition]]'), "pair.0.baseline"),
    ],
)
def test_any_other_change_is_refused_and_named(change: tuple[str, str], key: str) -> None:
    with pytest.raises(RunFolderError) as caught:
        require_same_experiment(Path("run"), manifest(), manifest(change))
    assert str(caught.value).startswith("run belongs to another experiment: ")
    assert key in str(caught.value)


def test_another_primary_judge_is_another_experiment() -> None:
    swapped = manifest(("[judge.j]", "[judge.x]"), ("[judge.k]", "[judge.j]"), ("[judge.x]", "[judge.k]"))
    with pytest.raises(RunFolderError, match="the order of the judges"):
        require_same_experiment(Path("run"), manifest(), swapped)


THIRD = ('model = "judge"\n', 'model = "judge"\n[judge.third]\nprovider = "scripted"\nmodel = "judge"\n')


def test_a_judge_may_be_added_after_the_others_and_stays_then() -> None:
    last = manifest(text=EXPERIMENT + '[judge.third]\nprovider = "scripted"\nmodel = "judge"\n')
    require_same_experiment(Path("run"), manifest(), last)
    none = manifest(text=EXPERIMENT[: EXPERIMENT.index("[judge.j]")])
    require_same_experiment(Path("run"), none, manifest())
    with pytest.raises(RunFolderError, match=r"judge\.third\."):
        require_same_experiment(Path("run"), last, manifest())


def test_a_judge_that_is_added_before_another_would_take_its_place() -> None:
    order = r'the order of the judges is \["j","k"\] there and \["j","third"\]'
    with pytest.raises(RunFolderError, match=order):
        require_same_experiment(Path("run"), manifest(), manifest(THIRD))


def test_an_altered_bundle_or_wording_is_another_experiment() -> None:
    with pytest.raises(RunFolderError, match=r'the bundle hash of d is "abc" there and "xyz" here'):
        require_same_experiment(Path("run"), manifest(), replace(manifest(), bundle_hashes={"d": "xyz"}))
    with pytest.raises(RunFolderError, match="the wording of the protocol"):
        require_same_experiment(Path("run"), manifest(), replace(manifest(), wording_sha256="v"))


def test_a_folder_without_manifest_and_a_missing_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="is not a run folder: it has no manifest"):
        read_manifest(tmp_path)
    with pytest.raises(RunFolderError, match=r"nowhere does not exist"):
        read_manifest(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"code_version": 1}'])
def test_a_broken_manifest_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(RunFolderError, match="is not a manifest of this version"):
        read_manifest(tmp_path)


def test_a_manifest_that_cannot_be_read_or_written_says_why(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(RunFolderError, match="cannot read"):
        read_manifest(tmp_path)
    with pytest.raises(RunFolderError, match="cannot write"):
        write_manifest(tmp_path, manifest())


def test_a_write_that_fails_leaves_the_old_manifest_whole(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    (tmp_path / "manifest.json.new").mkdir()
    with pytest.raises(RunFolderError, match="cannot write"):
        write_manifest(tmp_path, replace(manifest(), code_version="2"))
    assert read_manifest(tmp_path).code_version == "1"
