"""A report of a run folder: its tables, what kind of evidence they are, and what is still to do."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from evaluator.core.errors import InputError
from evaluator.core.settings import Experiment, nearest
from evaluator.evidence.entities.by_rule import entities
from evaluator.store.run_folder import EXPERIMENT, RunFolder
from reports.frame import Frame, read_frame
from reports.tables.cells import CellRow, cell_rows
from reports.tables.funnel import FunnelRow, funnel_rows
from reports.tables.pairs import POOLED, PairRow, pair_rows

EvidenceKind: TypeAlias = Literal["scripted", "rehearsal", "replication"]

BANNER = (
    "SCRIPTED PROGRAMS, NOT LANGUAGE MODELS, IN AN INVENTED WORLD. The size of every effect was set by the "
    "world's settings (snippet length; decisive fact beyond the snippet in {share}). This shows that the "
    "instrument works, not that Read-Gate does."
)
BANNER_ON_REAL_SETS = (
    "SCRIPTED PROGRAMS, NOT LANGUAGE MODELS. The size of every effect was set by how the programs are made "
    "and what snippets show (decisive fact beyond the snippet in {share}). This shows that the instrument "
    "works, not that Read-Gate does."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What was run, for the head of a report."""

    path: str
    experiment: str
    seed: int
    datasets: tuple[str, ...]
    conditions: tuple[str, ...]
    models: Mapping[str, str]
    judge: str | None
    judge_model: str | None
    snippet: str
    n_expected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisiveFact:
    """How often the decisive fact lies beyond the snippet, as measured in this very run.

    Over gold chunks, counted per question, that were shown as a result, were read in full by some arm,
    and hold a gold answer in title or text: the share whose title and snippet, as shown, do not hold it.
    """

    beyond_snippet: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All figures of a report.

    Attributes:
        evidence: ``scripted`` when any controller is a program; its figures carry ``banner``.
        to_do: What is not finished, each as one sentence with the command that goes on.
        cells, pairs, funnel: The tables, as filtered.
    """

    evidence: EvidenceKind
    banner: str | None
    run: Setting
    decisive_fact: DecisiveFact
    to_do: tuple[str, ...]
    cells: tuple[CellRow, ...]
    pairs: tuple[PairRow, ...]
    funnel: tuple[FunnelRow, ...]


def build_report(
    run_path: Path, *, datasets: Sequence[str] | None = None, conditions: Sequence[str] | None = None
) -> Report:
    """Read a run folder and compute its report; nothing in the folder is touched.

    Args:
        run_path: The folder.
        datasets: Show only these; None shows all. Filters choose rows and change no figure: families are
            corrected as a whole, and a pooled row is shown only when all of its datasets are.
        conditions: Show only these cells, and pairs with both arms among them.

    Raises:
        RunFolderError: No run folder, or one that cannot be read.
        InputError: A filter that names nothing in the run.
    """
    frame = read_frame(RunFolder.open(run_path), entities)
    cells = cell_rows(frame)
    kept_datasets = _chosen("dataset", datasets, frame.datasets)
    kept_conditions = _chosen("condition", conditions, frame.conditions)
    pooled = {POOLED} if set(kept_datasets) == set(frame.datasets) else set()
    evidence = evidence_kind(frame.experiment)
    return Report(
        evidence=evidence,
        banner=_banner(frame) if evidence == "scripted" else None,
        run=_setting(frame),
        decisive_fact=DecisiveFact(beyond_snippet=frame.reach.share, n=frame.reach.n),
        to_do=_to_do(frame, cells),
        cells=tuple(row for row in cells if _is_kept(row, kept_datasets, kept_conditions)),
        pairs=tuple(
            row
            for row in pair_rows(frame)
            if row.dataset in {*kept_datasets, *pooled}
            and {row.baseline, row.treatment} <= set(kept_conditions)
        ),
        funnel=tuple(row for row in funnel_rows(frame) if _is_kept(row, kept_datasets, kept_conditions)),
    )


def evidence_kind(experiment: Experiment) -> EvidenceKind:
    """What a run can be evidence of: one program among the controllers makes all of it scripted."""
    providers = {controller.provider for controller in experiment.controller.values()}
    return "scripted" if "scripted" in providers else "replication"


def _banner(frame: Frame) -> str:
    is_real = all(dataset.real for dataset in frame.experiment.dataset)
    return (BANNER_ON_REAL_SETS if is_real else BANNER).format(share=_percent(frame.reach.share))


def _is_kept(row: CellRow | FunnelRow, datasets: Collection[str], conditions: Collection[str]) -> bool:
    return row.dataset in datasets and row.condition in conditions


def _chosen(what: str, wanted: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    for name in wanted or ():
        if name not in known:
            raise InputError(f"the run has no {what} {name!r}; {nearest(name, list(known))}")
    return tuple(name for name in known if name in wanted) if wanted else known


def _percent(share: float | None) -> str:
    return "a share that this run does not tell" if share is None else f"{100 * share:.0f} %"


def _setting(frame: Frame) -> Setting:
    experiment = frame.experiment
    used = {condition.controller for condition in experiment.condition}
    return Setting(
        path=str(frame.path),
        experiment=experiment.name,
        seed=experiment.seed,
        datasets=frame.datasets,
        conditions=frame.conditions,
        models={
            name: f"{settings.model} ({settings.provider})"
            for name, settings in experiment.controller.items()
            if name in used
        },
        judge=frame.judge.name if frame.judge else None,
        judge_model=frame.judge.model if frame.judge else None,
        snippet=experiment.protocol.snippet,
        n_expected=sum(frame.expected.values()),
    )


def _to_do(frame: Frame, cells: Sequence[CellRow]) -> tuple[str, ...]:
    missing, failed, unjudged = (
        sum(getattr(row, name) for row in cells) for name in ("n_missing", "n_failed", "n_unjudged")
    )
    sentences = []
    if missing or failed:
        sentences.append(
            f"{missing:,} trajectories are missing and {failed:,} failed; "
            f"`readgate run {frame.path / EXPERIMENT} --out {frame.path}` resumes the run."
        )
    if unjudged and frame.judge is None:
        sentences.append(f"{unjudged:,} answers have no verdict, and the experiment names no judge.")
    elif unjudged:
        sentences.append(f"{unjudged:,} answers have no verdict; `readgate judge {frame.path}` judges them.")
    return tuple(sentences)
