"""What this process remembers of its spends, for all its clients."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Generic, Literal, TypeVar

V = TypeVar("V")

#: How many names are remembered; the oldest are forgotten.
MAX_REMEMBERED = 10_000


class Remembered(Generic[V]):
    """Values by name. Use it only under `lock`."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, V] = OrderedDict()

    def get(self, name: str) -> V | None:
        return self._values.get(name)

    def pop(self, name: str) -> V | None:
        return self._values.pop(name, None)

    def set(self, name: str, value: V) -> None:
        """Sets an entry and forgets the oldest when there are too many."""
        self._values[name] = value
        self._values.move_to_end(name)
        if len(self._values) > MAX_REMEMBERED:
            self._values.popitem(last=False)


class SpendCall:
    """One call of `spend`: the id that its requests carry, and whether the decision is known to be its own."""

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.made_decision = False


class Memory:
    """Everything that is remembered. To look and to set is one step under `lock`."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        #: Names under which this process began to pay, and whether Purser had been asked.
        self.begun: Remembered[Literal["guarded", "unguarded"]] = Remembered()
        #: Calls that ended before anything was paid and that the next call with the same name continues.
        self.resumable: Remembered[SpendCall] = Remembered()
        #: Agents as they were last seen, by service, key and agent: in SHADOW, and when.
        self.seen: Remembered[tuple[bool, float]] = Remembered()


MEMORY = Memory()


def _after_fork() -> None:
    MEMORY.lock = threading.Lock()
    # The ids of calls that may go on are the parent's: of two processes with one id both would pay.
    MEMORY.resumable = Remembered()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
