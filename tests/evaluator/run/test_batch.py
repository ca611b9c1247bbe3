"""A batch is bounded, drains on a stop or an error, and keeps nothing it has written."""

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from evaluator.core.errors import CapReachedError, RunFolderError
from evaluator.run.batch import BatchResult, run_batch


class Shelf:
    """A sink and a progress that remember what they were given."""

    def __init__(self) -> None:
        self.records: list[object] = []
        self.advanced: list[object] = []

    async def append(self, record: object) -> None:
        self.records.append(record)

    def advance(self, result: object) -> None:
        self.advanced.append(result)


async def double(item: int) -> int:
    await asyncio.sleep(0)
    return 2 * item


def test_every_item_is_worked_on_once_written_and_told() -> None:
    shelf = Shelf()

    async def go() -> BatchResult:
        return await run_batch(range(100), double, shelf, in_flight=7, progress=shelf, stop=asyncio.Event())

    assert asyncio.run(go()) == BatchResult(100, interrupted=False)
    assert sorted(map(str, shelf.records)) == sorted(str(2 * n) for n in range(100))
    assert shelf.advanced == shelf.records


def test_a_batch_of_nothing_is_done_at_once() -> None:
    shelf = Shelf()

    async def go() -> BatchResult:
        return await run_batch([], double, shelf, in_flight=3, progress=shelf, stop=asyncio.Event())

    assert asyncio.run(go()) == BatchResult(0, interrupted=False)


@pytest.mark.parametrize("in_flight", [1, 4, 200])
def test_never_more_than_the_given_number_is_in_flight_and_items_are_pulled_as_needed(
    in_flight: int,
) -> None:
    shelf = Shelf()
    now, most, pulled = 0, 0, 0

    def items() -> Iterator[int]:
        nonlocal pulled
        for n in range(50):
            pulled += 1
            yield n

    async def worker(item: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        assert pulled <= len(shelf.records) + in_flight
        await asyncio.sleep(0)
        now -= 1
        return item

    async def go() -> None:
        await run_batch(items(), worker, shelf, in_flight=in_flight, progress=shelf, stop=asyncio.Event())

    asyncio.run(go())
    assert most == min(in_flight, 50)


def test_after_a_request_to_stop_those_in_flight_are_finished_and_no_other_is_begun() -> None:
    shelf = Shelf()
    begun: list[int] = []

    async def go() -> BatchResult:
        stop = asyncio.Event()

        async def worker(item: int) -> int:
            begun.append(item)
            if len(begun) == 3:
                stop.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return item

        return await run_batch(range(100), worker, shelf, in_flight=3, progress=shelf, stop=stop)

    assert asyncio.run(go()) == BatchResult(3, interrupted=True)
    assert begun == [0, 1, 2]
    assert shelf.records == [0, 1, 2]


def test_what_is_still_in_flight_after_the_grace_is_cancelled_and_not_written() -> None:
    shelf = Shelf()
    cancelled: list[int] = []

    async def go() -> BatchResult:
        stop = asyncio.Event()

        async def worker(item: int) -> int:
            if item == 0:
                return item
            stop.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(item)
                raise
            return item

        return await run_batch(
            range(3), worker, shelf, in_flight=2, progress=shelf, stop=stop, grace_seconds=0.01
        )

    assert asyncio.run(go()) == BatchResult(1, interrupted=True)
    assert cancelled == [1]
    assert shelf.records == [0]


def test_a_stop_that_comes_when_all_is_done_interrupts_nothing() -> None:
    shelf = Shelf()

    async def go() -> BatchResult:
        stop = asyncio.Event()

        async def worker(item: int) -> int:
            if item == 2:
                stop.set()
            return item

        return await run_batch(range(3), worker, shelf, in_flight=1, progress=shelf, stop=stop)

    assert asyncio.run(go()) == BatchResult(3, interrupted=False)


def test_the_first_error_is_raised_after_those_in_flight_are_written() -> None:
    shelf = Shelf()
    begun: list[int] = []

    async def worker(item: int) -> int:
        begun.append(item)
        await asyncio.sleep(0)
        if item == 1:
            raise CapReachedError("first")
        for _ in range(5):
            await asyncio.sleep(0)
        if item == 2:
            raise CapReachedError("second")
        return item

    async def go() -> None:
        await run_batch(range(100), worker, shelf, in_flight=4, progress=shelf, stop=asyncio.Event())

    with pytest.raises(CapReachedError, match="first"):
        asyncio.run(go())
    assert begun == [0, 1, 2, 3]
    assert shelf.records == [0, 3]


def test_an_error_of_the_sink_ends_the_batch_and_the_record_does_not_count() -> None:
    class Full(Shelf):
        async def append(self, record: object) -> None:
            if len(self.records) == 5:
                raise RunFolderError("no space left")
            await super().append(record)

    shelf = Full()

    async def go() -> None:
        await run_batch(range(100), double, shelf, in_flight=2, progress=shelf, stop=asyncio.Event())

    with pytest.raises(RunFolderError, match="no space left"):
        asyncio.run(go())
    assert shelf.advanced == shelf.records == [0, 2, 4, 6, 8]


def test_an_error_of_the_items_themselves_is_raised() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise RunFolderError("cannot read")

    shelf = Shelf()

    async def go() -> None:
        await run_batch(items(), double, shelf, in_flight=3, progress=shelf, stop=asyncio.Event())

    with pytest.raises(RunFolderError, match="cannot read"):
        asyncio.run(go())
    assert shelf.records == [2]


def test_cancelling_the_batch_cancels_what_is_in_flight() -> None:
    shelf = Shelf()
    cancelled: list[int] = []

    async def worker(item: int) -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(item)
            raise
        return item

    async def go() -> None:
        batch = asyncio.create_task(
            run_batch(range(9), worker, shelf, in_flight=3, progress=shelf, stop=asyncio.Event())
        )
        for _ in range(5):
            await asyncio.sleep(0)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch

    asyncio.run(go())
    assert cancelled == [0, 1, 2]
    assert shelf.records == []


def test_finished_results_are_not_kept() -> None:
    class Result:
        pass

    class Forgetful:
        def __init__(self) -> None:
            self.alive: list[weakref.ref[object]] = []
            self.most = 0

        async def append(self, record: object) -> None:
            self.alive.append(weakref.ref(record))
            gc.collect(0)
            self.most = max(self.most, sum(each() is not None for each in self.alive))

        def advance(self, result: object) -> None:
            del result

    async def worker(_: int) -> Result:
        await asyncio.sleep(0)
        return Result()

    sink = Forgetful()

    async def go() -> None:
        await run_batch(range(200), worker, sink, in_flight=4, progress=sink, stop=asyncio.Event())

    asyncio.run(go())
    assert len(sink.alive) == 200
    assert sink.most <= 2 * 4
