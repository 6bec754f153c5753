"""Turns: of those who compute for long in a process, one does at a time.

Arrays are computed without the interpreter, which is taken and given back at every step. Several
at once would spend more time on that than on their work, and those who ask about a row would have
to wait for all of them.
"""

from collections.abc import Iterator
from threading import Lock
from typing import TypeVar

Item = TypeVar("Item")


class Turns:
    """Who has the turn computes."""

    def __init__(self) -> None:
        self._turn = Lock()

    def within(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items, each made while we have the turn."""
        while True:
            with self._turn:
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    def without(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items, each waited for while others have the turn that is ours otherwise."""
        while True:
            self._turn.release()
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                self._turn.acquire()
            yield item
