"""The cache of compiled trees: bounded, and loaded once."""

from threading import Barrier, Event, Thread

import numpy as np

from service.actions.cache import TreeCache
from service.tree.attribute import Attribute, Kind
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.dataset import Dataset
from service.tree.learn import learn
from service.tree.params import Params


def a_compiled() -> CompiledTree:
    attributes, classes = (Attribute("x", Kind.NUMERIC),), ("no", "yes")
    values = np.array([[1.0], [2.0]])
    data = Dataset(attributes, classes, values, np.array([0, 1]), np.ones(2))
    return compile_tree(learn(data, Params()), attributes, classes)


class Loader:
    """Loads trees and remembers how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> CompiledTree:
        self.asked += 1
        return a_compiled()


def test_a_version_is_loaded_once() -> None:
    cache, load = TreeCache(max_bytes=1_000_000), Loader()

    assert cache.get(1, load) is cache.get(1, load)
    assert load.asked == 1


def test_the_tree_that_was_not_used_for_longest_goes() -> None:
    size = a_compiled().n_bytes
    cache, load = TreeCache(max_bytes=2 * size), Loader()
    for version in (1, 2, 1, 3, 1):
        cache.get(version, load)

    assert load.asked == 3
    assert cache.n_bytes == 2 * size
    cache.get(2, load)
    assert load.asked == 4


def test_a_tree_too_large_for_the_cache_is_kept_alone() -> None:
    cache, load = TreeCache(max_bytes=1), Loader()
    cache.get(1, load)
    cache.get(2, load)
    cache.get(2, load)

    assert load.asked == 2
    assert cache.n_bytes == a_compiled().n_bytes


def test_of_many_who_want_a_tree_one_loads_it_and_the_others_wait() -> None:
    cache: TreeCache[CompiledTree] = TreeCache(max_bytes=1_000_000)
    load, ready, at_work, most = Loader(), Barrier(8), [0], [0]

    def slowly() -> CompiledTree:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        Event().wait(0.01)
        at_work[0] -= 1
        return load()

    def want(version: int) -> None:
        ready.wait(timeout=20)
        cache.get(version, slowly)

    threads = [Thread(target=want, args=(number % 2,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)

    assert load.asked == 2
    assert most == [1]


def test_who_finds_his_tree_does_not_wait_for_the_loads_of_others() -> None:
    cache: TreeCache[CompiledTree] = TreeCache(max_bytes=1_000_000)
    begun, go_on = Event(), Event()
    tree = cache.get(1, a_compiled)

    def slowly() -> CompiledTree:
        begun.set()
        go_on.wait(timeout=20)
        return a_compiled()

    loading = Thread(target=lambda: cache.get(2, slowly))
    loading.start()
    begun.wait(timeout=20)
    assert cache.get(1, a_compiled) is tree
    assert cache.peek(2) is None
    go_on.set()
    loading.join(timeout=20)

    assert cache.peek(2) is not None
