"""What tasks ask one by one goes out in few calls; errors, cancelling and closing leave nobody waiting."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.coalescer import Coalescer


class Doubling:
    """Twice each number; records its calls and threads, can be held up, and can fail."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.threads: set[int] = set()
        self.called = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.error: Exception | None = None
        self.fails_on: int | None = None

    def __call__(self, items: list[int]) -> Sequence[int]:
        self.calls.append(items)
        self.threads.add(threading.get_ident())
        self.called.set()
        self.may_go_on.wait(30)
        if self.error is not None and (self.fails_on is None or self.fails_on in items):
            raise self.error
        return [2 * item for item in items]

    async def hold(self, coalescer: Coalescer[int, int], item: int) -> "asyncio.Task[int]":
        """Ask for an item and return while its call is under way."""
        self.called.clear()
        self.may_go_on.clear()
        task = asyncio.create_task(coalescer.ask(item))
        await asyncio.to_thread(self.called.wait, 30)
        return task


async def together(coalescer: Coalescer[int, int], items: Sequence[int]) -> list[Any]:
    return await asyncio.gather(*map(coalescer.ask, items), return_exceptions=True)


def later(coalescer: Coalescer[int, int], items: Sequence[int]) -> "list[asyncio.Task[int]]":
    return [asyncio.create_task(coalescer.ask(item)) for item in items]


def test_64_that_ask_at_once_are_one_call_outside_the_loops_thread() -> None:
    call = Doubling()
    assert asyncio.run(together(Coalescer(call), range(64))) == list(range(0, 128, 2))
    assert call.calls == [list(range(64))]
    assert threading.get_ident() not in call.threads


def test_equal_items_are_in_a_call_once_and_all_are_answered() -> None:
    call = Doubling()
    assert asyncio.run(together(Coalescer(call), [3, 1, 3, 3])) == [6, 2, 6, 6]
    assert call.calls == [[3, 1]]


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=5))
def test_everyone_gets_the_answer_to_what_they_asked(turns: list[list[int]]) -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def program() -> list[int]:
        tasks = []
        for turn in turns:
            tasks += later(coalescer, turn)
            await asyncio.sleep(0)
        return await asyncio.gather(*tasks)

    assert asyncio.run(program()) == [2 * item for turn in turns for item in turn]
    assert all(len(set(items)) == len(items) for items in call.calls)
    coalescer.close()


def test_what_is_asked_during_a_call_goes_out_together_after_it() -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def program() -> None:
        first = await call.hold(coalescer, 1)
        others = later(coalescer, [2, 3])
        await asyncio.sleep(0)
        others += later(coalescer, [4, 1])
        await asyncio.sleep(0)
        assert call.calls == [[1]]
        call.may_go_on.set()
        assert await asyncio.gather(first, *others) == [2, 4, 6, 8, 2]

    asyncio.run(program())
    assert call.calls == [[1], [2, 3, 4, 1]]


def test_those_who_ask_again_at_once_stay_together() -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def worker(item: int) -> None:
        for step in range(3):
            assert await coalescer.ask(10 * step + item) == 2 * (10 * step + item)

    async def program() -> None:
        await asyncio.gather(worker(0), worker(1), worker(2))

    asyncio.run(program())
    assert call.calls == [[0, 1, 2], [10, 11, 12], [20, 21, 22]]


def test_an_error_reaches_those_alone_whose_item_it_is_about() -> None:
    call = Doubling()
    call.error, call.fails_on = ValueError("no"), 2
    found = asyncio.run(together(Coalescer(call), [1, 2, 3, 2]))
    assert found == [2, call.error, 6, call.error]
    assert call.calls == [[1, 2, 3], [1], [2], [3]]


def test_an_error_of_every_item_reaches_all_and_the_next_call_works() -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def program() -> None:
        call.error = ValueError("no")
        assert await together(coalescer, [1, 2, 1]) == [call.error] * 3
        call.error = None
        assert await coalescer.ask(1) == 2

    asyncio.run(program())


@pytest.mark.parametrize("answers", [[], [1, 2, 3]])
def test_a_call_with_too_few_or_too_many_answers_is_an_error_for_all(answers: list[int]) -> None:
    found = asyncio.run(together(Coalescer(lambda _: answers), [1, 2]))
    assert [type(error) for error in found] == [ValueError, ValueError]


def test_one_who_gives_up_during_a_call_disturbs_nobody() -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def program() -> None:
        impatient = await call.hold(coalescer, 1)
        patient, same = later(coalescer, [2, 2])
        await asyncio.sleep(0)
        impatient.cancel()
        same.cancel()
        call.may_go_on.set()
        assert await patient == 4
        assert (impatient.cancelled(), same.cancelled()) == (True, True)

    asyncio.run(program())
    assert call.calls == [[1], [2]]


def test_what_nobody_waits_for_any_more_is_not_looked_for() -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def program() -> None:
        first = await call.hold(coalescer, 1)
        given_up, kept = later(coalescer, [2, 3])
        await asyncio.sleep(0)
        given_up.cancel()
        call.may_go_on.set()
        assert await asyncio.gather(*[first, kept]) == [2, 6]
        (alone,) = later(coalescer, [4])
        await asyncio.sleep(0)
        alone.cancel()
        await asyncio.wait([alone])
        assert await coalescer.ask(5) == 10

    asyncio.run(program())
    assert call.calls == [[1], [3], [5]]


def test_closing_lets_the_call_under_way_end_and_refuses_what_waits() -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def program() -> None:
        first = await call.hold(coalescer, 1)
        waiting, given_up = later(coalescer, [2, 3])
        await asyncio.sleep(0)
        given_up.cancel()
        call.may_go_on.set()
        coalescer.close()
        assert await first == 2
        with pytest.raises(RuntimeError, match="closed"):
            await waiting
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(program())
    assert call.calls == [[1]]
    assert not [thread for thread in threading.enumerate() if thread.ident in call.threads]


def test_a_closed_one_refuses_and_may_be_closed_again() -> None:
    coalescer = Coalescer(Doubling())
    coalescer.close()
    coalescer.close()
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(coalescer.ask(1))


def test_what_was_asked_in_the_turn_of_closing_is_refused() -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def program() -> None:
        tasks = later(coalescer, [1, 2])
        await asyncio.sleep(0)
        coalescer.close()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [str(error) for error in found] == ["this search is closed"] * 2

    asyncio.run(program())
    assert call.calls == []


def test_a_loop_that_ends_during_a_call_leaves_nothing_behind_for_the_next() -> None:
    call = Doubling()
    coalescer = Coalescer(call)

    async def left() -> None:
        await call.hold(coalescer, 1)
        later(coalescer, [2])
        await asyncio.sleep(0)

    asyncio.run(left())
    call.may_go_on.set()
    assert asyncio.run(coalescer.ask(3)) == 6
    assert call.calls == [[1], [3]]


def test_two_loops_at_a_time_are_refused() -> None:
    coalescer = Coalescer(Doubling())

    async def program() -> None:
        assert await coalescer.ask(1) == 2
        with pytest.raises(RuntimeError, match="another event loop"):
            await asyncio.to_thread(lambda: asyncio.run(coalescer.ask(2)))

    asyncio.run(program())
