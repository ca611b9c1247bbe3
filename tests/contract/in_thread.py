"""The scripted programs behind a server that misbehaves, for commands that run in the same process."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from evaluator.controllers.scripted.completions import complete
from evaluator.core.trajectory import Asked, Trajectory
from tests.contract import fault_server as server
from tests.contract.fault_server import Answer, FaultServer, Received


def programs(request: Received) -> Answer:
    """The scripted programs, as any server of chat completions."""
    status, body = complete(request.body)
    return server.response(status, body, name="served")


@contextmanager
def serving(behave: server.Behaviour) -> Iterator[FaultServer]:
    """A fault server in a thread of its own."""
    loop, faulty = asyncio.new_event_loop(), FaultServer(behave)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(faulty.__aenter__(), loop).result()
    try:
        yield faulty
    finally:
        asyncio.run_coroutine_threadsafe(faulty.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def undisturbed(trajectory: Trajectory) -> Trajectory:
    """All of a trajectory that does not depend on when it was run."""
    steps = tuple(
        replace(step, latency_s=0.0) if isinstance(step, Asked) else step for step in trajectory.steps
    )
    return replace(trajectory, steps=steps, started_at="", seconds=0.0)
