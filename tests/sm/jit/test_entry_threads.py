from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import sleep

from gpusim.sm.jit import entry
from gpusim.sm.jit.code_cache import Kept


def test_threads_get_the_same_code(monkeypatch):
    """Threads that ask for the same code get the same, which stays: another would be unloaded while one runs it."""

    def compiled() -> tuple[entry.Code, Kept | None]:
        sleep(0.01)
        return entry.Code(0, "none", object(), cached=False), None

    monkeypatch.setattr(entry.code_cache, "load", lambda *_: None)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(entry.found, test_threads_get_the_same_code, "any", compiled) for _ in range(4)]
        assert len({id(one.result().holder) for one in found}) == 1
    assert (test_threads_get_the_same_code, "any") in entry.FOUND


def test_one_thread_at_a_time_looks_for_code(monkeypatch):
    """Threads that ask for code at once get it one after the other: never are two of them in the cache's files."""
    inside, most = [], []

    def load(function: object, _kinds: str) -> None:
        inside.append(function)
        sleep(0.01)
        most.append(len(inside))
        inside.remove(function)

    def compiled() -> tuple[entry.Code, Kept | None]:
        return entry.Code(0, "none", None, cached=False), None

    monkeypatch.setattr(entry.code_cache, "load", load)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(entry.found, lambda: None, str(number), compiled) for number in range(8)]
        assert all(not one.result().cached for one in found)
    assert most == [1] * 8
