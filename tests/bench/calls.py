"""What a model call costs the client: the whole path of ``readgate run`` on a real bundle.

Trajectories of 4 calls against a provider of zero latency in another process, on the real 2WikiMultiHopQA
bundle: 3,000 of them, or 300 in a quick run.
"""

import asyncio
import resource
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import aiohttp
import orjson

from evaluator.cli import run, wiring
from evaluator.cli.session import Work
from evaluator.core.settings import experiment_of
from evaluator.run.grid import plan_grid
from evaluator.store.run_folder import open_for_run
from index_builder.hybrid import HybridSearch
from tests.bench.canned_server import REPLIES_PER_EPISODE, canned_server
from tests.bench.places import QUICK_QUESTIONS, real_bundle
from tests.bench.rows import Row, at_most, report

REPEATS = 3
IN_FLIGHT = 64
BARE_CALLS = 4000
BARE_BODY_BYTES = 6000


def rows(*, quick: bool) -> list[Row]:
    """Processor time of the client a call, and the memory of a run."""
    figures = measure(str(real_bundle("two_wiki", quick=quick)), QUICK_QUESTIONS if quick else None)
    cpu, bare, grown = figures["cpu_ms_a_call"], figures["bare_ms_a_call"], figures["grown_mib"]
    bound = (
        f"Python (theirs: bare aiohttp + orjson); embedding apart: {figures['embedding_ms_a_call']:.2f} ms"
    )
    return [
        Row("client CPU a call", cpu, bare, "ms", cpu / bare, 1.5, cpu <= 1.5, bound),
        at_most("memory above the open bundle", grown, "MiB", 400, "caches of queries"),
    ]


def experiment(bundle: str, base_url: str, questions: int | None) -> dict[str, object]:
    """So many questions of a bundle, three times, against one server, with the default protocol."""
    return {
        "name": "bench",
        "questions": questions,
        "dataset": [{"name": "two_wiki", "bundle": bundle}],
        "condition": [
            {"name": f"repeat {repeat}", "controller": "canned", "repeat": repeat}
            for repeat in range(1, REPEATS + 1)
        ],
        "controller": {"canned": {"provider": "openai_chat", "model": "canned", "base_url": base_url}},
        "rate": {"trajectories": IN_FLIGHT},
    }


def measure(bundle: str, questions: int | None) -> dict[str, float]:
    """Run the experiment and report seconds of processor time a call, and mebibytes of memory."""
    with ExitStack() as stack:
        base_url = stack.enter_context(canned_server())
        settings = experiment_of(experiment(bundle, base_url, questions), "the bench")
        bundles = wiring.open_bundles(settings)
        hashes = {name: each.manifest.bundle_hash for name, each in bundles.items()}
        grid = plan_grid(
            settings,
            {name: each.questions for name, each in bundles.items()},
            hashes,
            wiring.wording_sha256(),
        )
        libraries = stack.enter_context(wiring.open_libraries(settings, bundles))
        library = libraries["two_wiki", "hybrid"]
        assert isinstance(library, HybridSearch)
        library.search_batch(["a first query loads the model"])
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "run"
        opened = stack.enter_context(open_for_run(folder, run._manifest(settings, grid, hashes)))
        before = _resident_mib()
        embedding, started, wall = library.embed_seconds, time.process_time(), time.perf_counter()
        assert (
            asyncio.run(run.run_owed(Work(opened[0], grid, settings.controller, libraries, *opened[1:]))) == 0
        )
        spent, wall = time.process_time() - started, time.perf_counter() - wall
        embedding = library.embed_seconds - embedding
        calls = len(grid.plans) * REPLIES_PER_EPISODE
        return {
            "calls": calls,
            "cpu_ms_a_call": 1000 * (spent - embedding) / calls,
            "embedding_ms_a_call": 1000 * embedding / calls,
            "bare_ms_a_call": 1000 * asyncio.run(bare(base_url)),
            "grown_mib": _peak_mib() - before,
            "wall_s": wall,
        }


async def bare(base_url: str) -> float:
    """Seconds of processor time of one call in a loop of aiohttp and orjson and nothing else."""
    filler = {"role": "user", "content": "x" * BARE_BODY_BYTES}
    body = {"model": "bare", "messages": [filler, filler, *[{"role": "assistant"}] * 3]}
    queue = iter(range(BARE_CALLS))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:

        async def work() -> None:
            for _ in queue:
                async with session.post(f"{base_url}/chat/completions", data=orjson.dumps(body)) as response:
                    orjson.loads(await response.read())

        started = time.process_time()
        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
        return (time.process_time() - started) / BARE_CALLS


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    report(rows)
