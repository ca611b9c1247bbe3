"""The pipeline writes what the embedder makes of each text alone, and makes nothing twice."""

import itertools
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.building_folder import MAKE_ROOM
from index_builder.embedding.embedder import open_embedder
from index_builder.embedding.hashed_words import HashedWords
from index_builder.embedding.pipeline import BLOCK, UNDER_WAY, Embedded, embed_corpus
from index_builder.embedding.vector_cache import VectorCache
from index_builder.errors import EmbeddingError
from tests.index_builder.small_bundles import silent

Vectors = npt.NDArray[np.float32]


class Watched(HashedWords):
    """Keeps what it was asked for, and does something before it answers."""

    def __init__(self, before: Callable[[str], object] = str) -> None:
        self.asked: list[list[str]] = []
        self.threads: set[int] = set()
        self._before = before

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        self.threads.add(threading.get_ident())
        for text in texts:
            self._before(text)
        return super().embed_documents(texts)


def numbered(count: int) -> list[str]:
    """Texts of two to four words, all different."""
    return [f"text {number}" + " more" * (number % 3) for number in range(count)]


def embed(
    texts: Sequence[str],
    path: Path,
    embedder: HashedWords | None = None,
    cache: Path | None = None,
    threads: int = 2,
) -> Embedded:
    run = partial(
        embed_corpus,
        lambda start, stop: list(texts[start:stop]),
        len(texts),
        embedder or HashedWords(),
        path=path,
        progress=silent,
        threads=threads,
    )
    if cache is None:
        return run(cache=None)
    with VectorCache(cache) as opened:
        return run(cache=opened)


def assert_holds(path: Path, texts: Sequence[str]) -> None:
    vectors = np.load(path)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, HashedWords().embed_documents(texts))


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
def test_vectors_stand_in_the_order_of_their_texts(tmp_path: Path, count: int) -> None:
    embed(numbered(count), tmp_path / "v.npy")
    assert_holds(tmp_path / "v.npy", numbered(count))


@given(
    st.lists(st.text(st.characters(exclude_categories=()), max_size=3), max_size=150),
    st.sets(st.integers(0, 149)),
    st.integers(1, 3),
)
def test_whatever_the_cache_holds_the_vectors_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], known: set[int], threads: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    embed([texts[place] for place in known if place < len(texts)], folder / "first.npy", cache=folder / "c")
    done = embed(texts, folder / "v.npy", cache=folder / "c", threads=threads)
    assert_holds(folder / "v.npy", texts)
    before = {texts[place] for place in known if place < len(texts)}
    assert done.n_cached >= sum(text in before for text in texts)
    assert embed(texts, folder / "v.npy", cache=folder / "c") == Embedded(done.n_truncated, len(texts), 0)


def test_each_text_is_embedded_alone_and_equal_ones_once(tmp_path: Path) -> None:
    embedder = Watched()
    embed(["same"] * 20 + ["other"] * 20, tmp_path / "v.npy", embedder)
    assert sorted(embedder.asked) == [["other"], ["same"]]
    assert_holds(tmp_path / "v.npy", ["same"] * 20 + ["other"] * 20)


def test_the_longest_text_of_a_block_is_begun_first(tmp_path: Path) -> None:
    embedder = Watched()
    texts = ["w " * (7 * number % BLOCK + 1) for number in range(BLOCK)]
    embed(texts, tmp_path / "v.npy", embedder, threads=1)
    assert embedder.asked == [[text] for text in sorted(texts, key=len, reverse=True)]


def test_the_same_threads_serve_the_whole_corpus(tmp_path: Path) -> None:
    embedder = Watched()
    embed(numbered(10 * BLOCK), tmp_path / "v.npy", embedder, threads=2)
    assert threading.get_ident() not in embedder.threads
    assert len(embedder.threads) <= 2


def test_no_thread_waits_for_the_last_text_of_a_block(tmp_path: Path) -> None:
    texts = numbered(2 * BLOCK)
    begun = threading.Event()
    in_time: list[bool] = []

    def before(text: str) -> None:
        if text == texts[BLOCK]:
            begun.set()
        if text == texts[0]:
            # The first block cannot end before the second has begun.
            in_time.append(begun.wait(30))

    embed(texts, tmp_path / "v.npy", Watched(before))
    assert in_time == [True]


def test_no_more_texts_are_held_than_are_under_way(tmp_path: Path) -> None:
    texts, written = numbered(6 * BLOCK), [0]
    asked: list[tuple[int, int]] = []

    def give(start: int, stop: int) -> list[str]:
        asked.append((start, stop - written[-1]))
        return texts[start:stop]

    embed_corpus(
        give, len(texts), HashedWords(), None, tmp_path / "v.npy", lambda *step: written.append(step[1])
    )
    assert [start for start, _ in asked] == list(range(0, len(texts), BLOCK))
    assert max(held for _, held in asked) == UNDER_WAY * BLOCK


def test_progress_tells_tokens_a_second_and_what_the_cache_held(tmp_path: Path) -> None:
    with VectorCache(tmp_path / "c") as cache:
        old, new = ["three words each"] * BLOCK, ["four words for each"] * BLOCK
        told: list[tuple[str, int, int, str]] = []

        def run(texts: list[str]) -> Embedded:
            told.clear()
            # Two seconds pass between any two looks at the clock.
            clock = map(float, itertools.count(0, 2)).__next__
            return embed_corpus(
                lambda start, stop: texts[start:stop],
                len(texts),
                HashedWords(),
                cache,
                tmp_path / "v.npy",
                lambda *step: told.append(step),
                clock=clock,
            )

        assert run(old) == Embedded(0, 0, 3)
        assert told == [("vectors", 64, 64, "2 tokens/s")]  # 3 tokens in 2 seconds
        assert run(old + new + old) == Embedded(0, 128, 4)
        assert told == [
            ("vectors", 64, 192, "64 of 192 from the cache"),
            ("vectors", 128, 192, "2 tokens/s · 64 of 192 from the cache"),  # 4 tokens in 2 seconds
            ("vectors", 192, 192, "2 tokens/s · 128 of 192 from the cache"),
        ]


def test_tokens_beyond_the_cut_are_not_counted_as_embedded_and_cached_texts_still_as_cut(
    tmp_path: Path,
) -> None:
    texts = ["w " * 200, "w " * 201, "w " * 1000, "w"]
    assert embed(texts, tmp_path / "v.npy", cache=tmp_path / "c") == Embedded(2, 0, 200 + 200 + 200 + 1)
    assert embed(texts, tmp_path / "v.npy", cache=tmp_path / "c") == Embedded(2, 4, 0)


def test_after_a_change_of_chunking_only_new_texts_are_embedded(tmp_path: Path) -> None:
    embed(numbered(500), tmp_path / "v.npy", cache=tmp_path / "c")
    changed = [*numbered(500)[250:], "joined one", "joined two", *numbered(500)[:250:2]]
    embedder = Watched()
    done = embed(changed, tmp_path / "v.npy", embedder, tmp_path / "c")
    assert sorted(embedder.asked) == [["joined one"], ["joined two"]]
    assert (done.n_cached, done.n_tokens) == (375, 4)
    assert_holds(tmp_path / "v.npy", changed)


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.index_builder.embedding.test_pipeline import Watched, embed, numbered

def fatal(text):
    if text.startswith(f"text {sys.argv[2]}"):
        os.kill(os.getpid(), signal.SIGKILL)

embed(numbered(1000), Path(sys.argv[1], "v.npy"), Watched(fatal), Path(sys.argv[1], "c"))
"""


def test_a_killed_build_goes_on_with_all_blocks_it_had_finished(tmp_path: Path) -> None:
    finished = 0
    for fatal in (5 * BLOCK, 11 * BLOCK, 12 * BLOCK):
        command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path), str(fatal)]
        assert subprocess.run(command, check=False).returncode == -9
        embedder = Watched()
        finished = embed(numbered(fatal), tmp_path / "v.npy", embedder, tmp_path / "c").n_cached
        # The block of the fatal text was begun when the one two before it was finished.
        assert fatal - (UNDER_WAY - 1) * BLOCK <= finished <= fatal
        assert len(embedder.asked) == fatal - finished
    assert embed(numbered(1000), tmp_path / "v.npy", cache=tmp_path / "c").n_cached == 12 * BLOCK
    assert_holds(tmp_path / "v.npy", numbered(1000))


WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
from index_builder.errors import StorageError
from tests.index_builder.embedding.test_pipeline import embed, numbered

for size in map(int, sys.argv[2:]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        print(embed(numbered(1000), Path(sys.argv[1], "v.npy"), cache=Path(sys.argv[1], "c")).n_cached)
    except StorageError as error:
        print(error)
"""


def test_without_room_the_cache_says_so_and_keeps_all_it_had(tmp_path: Path) -> None:
    # The system refuses files above a size, as it refuses any on a full disk; the last build has room.
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_ROOM, str(tmp_path), "200000", str(10**9)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    assert said[0].startswith(f"the cache of vectors {tmp_path / 'c'} cannot be used: ")
    assert said[0].endswith(MAKE_ROOM)
    # A row is 64 x 4 bytes of vector, 8 more, and its key twice: some 340 bytes of the 200,000.
    assert 200_000 / 340 / 2 < int(said[1]) < 200_000 / 340
    assert_holds(tmp_path / "v.npy", numbered(1000))


def test_a_file_that_cannot_be_written_takes_nothing_of_what_was_cached(tmp_path: Path) -> None:
    (tmp_path / "v.npy").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device"):
        embed(numbered(1000), tmp_path / "v.npy", cache=tmp_path / "c")
    (tmp_path / "v.npy").unlink()
    assert embed(numbered(1000), tmp_path / "v.npy", cache=tmp_path / "c").n_cached >= BLOCK
    assert_holds(tmp_path / "v.npy", numbered(1000))


class Wrong(HashedWords):
    """Returns something else for one text."""

    def __init__(self, text: str, returned: Vectors) -> None:
        self._text, self._returned = text, returned

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._returned if self._text in texts else super().embed_documents(texts)


@pytest.mark.parametrize(
    "returned",
    [
        np.full((1, 64), np.nan, np.float32),
        np.zeros((1, 64), np.float32),
        np.full((1, 64), 3, np.float32),
        np.full((1, 32), 32**-0.5, np.float32),
        np.full((2, 64), 64**-0.5, np.float32),
    ],
    ids=["NaN", "zero", "too long", "other dimensions", "two rows"],
)
def test_what_is_no_unit_vector_is_told_by_its_text_and_never_cached(
    tmp_path: Path, returned: Vectors
) -> None:
    texts = numbered(4 * BLOCK)
    with pytest.raises(EmbeddingError, match=r"text 143: .* no vector of 64 dimensions and length one"):
        embed(texts, tmp_path / "v.npy", Wrong(texts[142], returned), tmp_path / "c")
    embedder = Watched()
    assert embed(texts, tmp_path / "v.npy", embedder, tmp_path / "c").n_cached == 2 * BLOCK
    assert [texts[142]] in embedder.asked
    assert_holds(tmp_path / "v.npy", texts)


def test_what_an_embedder_refuses_itself_is_told_by_its_text_and_no_later_block_is_begun(
    tmp_path: Path,
) -> None:
    texts = numbered(10 * BLOCK)

    def refuse(text: str) -> None:
        if text == texts[0]:
            raise EmbeddingError("NaN from the model")

    embedder = Watched(refuse)
    with pytest.raises(EmbeddingError, match=r"^text 1: NaN from the model$"):
        embed(texts, tmp_path / "v.npy", embedder)
    assert len(embedder.asked) <= UNDER_WAY * BLOCK


def test_texts_of_any_length_become_vectors_of_the_real_model(tmp_path: Path) -> None:
    model = open_embedder("minilm")
    texts = ["", "a", "word " * 100_000, "same", "same"]
    done = embed_corpus(
        lambda start, stop: texts[start:stop], len(texts), model, None, tmp_path / "v.npy", silent
    )
    # [CLS] and [SEP] beside no, one, many (cut at 256) and one word, which is embedded once.
    assert done == Embedded(n_truncated=1, n_cached=0, n_tokens=2 + 3 + 256 + 3)
    assert np.array_equal(np.load(tmp_path / "v.npy"), model.embed_documents(texts))
