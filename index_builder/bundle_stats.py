"""What a bundle holds, in figures: how many of what, how long, how large on disk."""

from collections import Counter
from dataclasses import asdict
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from index_builder.bundle import Bundle
from index_builder.chunking import BYTES_PER_TOKEN

Stats: TypeAlias = dict[str, object]


def bundle_stats(bundle: Bundle) -> Stats:
    """Figures of an open bundle, as a JSON object.

    Token counts are ``bytes4``: four bytes of UTF-8 each, rounded up over the chunk's text.
    """
    manifest = bundle.manifest
    sizes = [len(chunk.text.encode()) for chunk in bundle.chunks]
    return {
        "dataset": manifest.dataset,
        "chunking": manifest.chunking,
        "analyser": manifest.analyser,
        "embedder": manifest.embedder,
        "dimensions": manifest.dimensions,
        "vectors": manifest.vectors and asdict(manifest.vectors),
        "bundle_hash": manifest.bundle_hash,
        "n_chunks": manifest.n_chunks,
        "n_questions": manifest.n_questions,
        "n_known_gold": manifest.n_known_gold,
        "n_truncated": manifest.n_truncated,
        "chunk_tokens": _spread(-(-np.array(sizes) // BYTES_PER_TOKEN)),
        "questions_by_kind": dict(sorted(Counter(question.kind for question in bundle.questions).items())),
        "questions_by_hops": {
            str(hops): count for hops, count in sorted(Counter(q.hops for q in bundle.questions).items())
        },
        "notes": dict(manifest.notes),
        "unmatched_gold": [asdict(passage) for passage in manifest.unmatched_gold],
        "bytes": sum(facts.size for facts in manifest.files.values()),
    }


def _spread(values: npt.NDArray[np.integer]) -> dict[str, float]:
    """Least, median, mean, 95th percentile and most."""
    return {
        "min": float(values.min()),
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "p95": float(np.percentile(values, 95)),
        "max": float(values.max()),
    }
