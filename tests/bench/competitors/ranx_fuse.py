"""ranx, reciprocal rank fusion: ``fuse`` over runs that are already built, compiled and warm.

The folder holds ``rankings.npy``, ids [rankings, queries, depth]. Option: ``threads`` (of numba). Turning
ids into ranx's runs of string keys, and reading and sorting its result, are not counted.
"""

import warnings
from pathlib import Path

import numba
import numpy as np
from ranx import Run, fuse

from tests.bench.apart import Options, Work, take_turns


def prepare(folder: Path, options: Options) -> Work:
    """Build the runs."""
    numba.set_num_threads(int(options["threads"]))
    warnings.simplefilter("ignore", numba.NumbaTypeSafetyWarning)
    rankings = np.load(folder / "rankings.npy")
    runs = [_run(ranking) for ranking in rankings.tolist()]
    return Work(
        lambda: fuse(runs, norm=None, method="rrf", params={"k": 60}),
        rankings.shape[1],
        {"threads": options["threads"]},
    )


def _run(ranking: list[list[int]]) -> Run:
    return Run(
        {
            f"q{query}": {f"d{document}": 1 / (rank + 1) for rank, document in enumerate(documents)}
            for query, documents in enumerate(ranking)
        }
    )


if __name__ == "__main__":
    take_turns(prepare)
