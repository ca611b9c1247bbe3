"""Drives the agent loop through one episode: performs each effect, sends the result or throws the error in.

Searching, reading and asking exist only here. An ``EpisodeError`` ends the episode as failed with the
steps so far; every other error is the run's and passes through.
"""

import asyncio

from evaluator.agent.effects import AskModel, Effect, Read, Result, Search
from evaluator.agent.loop import run_agent
from evaluator.core.cell import CallTag
from evaluator.core.errors import DeadlineError, EmbeddingError, EpisodeError, RetrievalError
from evaluator.core.ports import Clock, EntityExtractor, Library, Model
from evaluator.core.trajectory import Episode, Trajectory
from evaluator.run.clocks import timestamp
from evaluator.run.grid import Plan


async def run_episode(
    plan: Plan, model: Model, library: Library, clock: Clock, extract: EntityExtractor
) -> Trajectory:
    """Run one trajectory of the grid to its outcome.

    Raises:
        InputError: The run cannot go on: a refused key, a full disk.
        CapReachedError: The budget cannot hold the next call.
    """
    started_at, started = clock.now(), clock.monotonic()
    episode = await _drive(plan, model, library, extract)
    return Trajectory(
        trajectory_id=plan.trajectory_id,
        cell=plan.cell,
        question_id=plan.question.question_id,
        question=plan.question.question,
        answers=plan.question.answers,
        gold_chunks=plan.question.gold_chunks,
        steps=episode.steps,
        outcome=episode.outcome,
        search_count=episode.search_count,
        read_count=episode.read_count,
        turns=episode.turns,
        corrections=episode.corrections,
        retrieved_tokens=episode.retrieved_tokens,
        usage=episode.usage,
        cost_usd=episode.cost_usd,
        started_at=timestamp(started_at),
        seconds=clock.monotonic() - started,
    )


async def _drive(plan: Plan, model: Model, library: Library, extract: EntityExtractor) -> Episode:
    limit = plan.limits.trajectory_seconds
    deadline = asyncio.get_running_loop().time() + limit
    loop = run_agent(
        plan.question,
        protocol=plan.protocol,
        limits=plan.limits,
        gate=plan.gate,
        seed=plan.seed,
        extract=extract,
        reply_tokens=plan.reply_tokens,
    )
    try:
        effect = next(loop)
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    result = await _perform(effect, plan, model, library)
            except EpisodeError as error:
                effect = loop.throw(error)
            except TimeoutError:
                effect = loop.throw(DeadlineError(f"the trajectory took longer than {limit:g} s"))
            else:
                effect = loop.send(result)
    except StopIteration as end:
        episode: Episode = end.value
        return episode
    finally:
        loop.close()


async def _perform(effect: Effect, plan: Plan, model: Model, library: Library) -> Result:
    match effect:
        case AskModel(request, turn):
            tag = CallTag("agent", plan.cell, plan.trajectory_id, judge="", turn=turn)
            return await model.ask(request, tag)
        case Search(query):
            try:
                return await library.search(query)
            except EmbeddingError as error:  # of this query; another one may do
                raise RetrievalError(f"a query could not be embedded: {error}") from error
        case Read(chunk_id):
            return library.read(chunk_id)
