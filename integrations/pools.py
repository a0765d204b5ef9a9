# SPDX-License-Identifier: Apache-2.0
"""Places buffers into several memories, each with its own capacity.

A buffer names the pools that it may use, the best first, as ExecuTorch's memory ids and TVM's pool
candidates do. The allocator answers for one memory: whether these buffers fit, and where. Above it
stands a greedy choice of pools that only ever moves buffers on:

    fast  [a b c d]      does not fit: at the fullest step, c suffices to make room
    slow  [e]            c moves on
    fast  [a b d]        fits
    slow  [c e]          asked again, because it changed

A pool gives up one buffer at a time, if more bytes live at one step than it has, or if it does not
fit: of the buffers that live at its fullest step and have a pool left, the smallest that removes
the excess there, else the largest. Each buffer moves forward in its own list only, so the choice ends
after at most as many moves as there are entries in these lists. Each answer about one pool is
proven or checked as always. The choice of pools is a heuristic: only where the buffers that must
lie in one pool do not fit there, it is proven that there is no placement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import tessera as ts

Pool = TypeVar("Pool", bound=Hashable)

_NO_END = 2**62  # bytes

Range = tuple[int, int]  # half-open, in steps


@dataclass(frozen=True)
class Request(Generic[Pool]):
    """A buffer that needs an address."""

    size: int  # bytes, 1 or more
    lifespans: Sequence[Range]  # ascending, with gaps between them
    pools: Sequence[Pool]  # that it may use, the best first
    alignment: int = 1  # bytes
    offset: int | None = None  # fixed, in its first pool, in bytes
    name: str = ""  # for messages


@dataclass(frozen=True)
class Place(Generic[Pool]):
    """Where a buffer lies."""

    pool: Pool
    offset: int  # bytes


def place(
    requests: Sequence[Request[Pool]],
    capacities: Mapping[Pool, int | None],
    *,
    budget: int = 20_000,
    kind: str = "pool",
) -> list[Place[Pool]]:
    """The place of each request, in their order.

    Args:
        capacities: bytes of each pool; None, or a pool that is not listed: without an end.
        budget: of work for the least peak of one pool; the same budget gives the same places.
        kind: what a pool is, for messages.

    Raises Infeasible if buffers that have one pool do not fit there, and Unknown if no place was
    found for others, or the budget ended before. Raises ValueError for a request without a pool.
    """
    for request in requests:
        if not request.pools:
            raise ValueError(f"{request.name or 'a buffer'} has no pool that it may use")
    rank = [0] * len(requests)  # of the pool in use, in the list of the request
    placed: dict[int, Place[Pool]] = {}
    waiting = list(dict.fromkeys(pool for request in requests for pool in request.pools))
    while waiting:
        pool = waiting.pop(0)
        members = [i for i, request in enumerate(requests) if request.pools[rank[i]] == pool]
        capacity = capacities.get(pool)
        name = f"{kind} {pool}"
        movable = [i for i in members if _can_move(requests[i], rank[i])]
        moved = _choose(requests, members, movable, capacity)
        try:
            if moved is None:
                offsets = _offsets([requests[i] for i in members], capacity, budget, name)
        except ts.NoAnswer as refusal:
            moved = _choose(requests, members, movable, capacity, always=True)
            if moved is None:
                bound = [requests[i] for i in members if len(requests[i].pools) == 1]
                if len(bound) < len(members):
                    _offsets(bound, capacity, budget, name)
                    reason = "no pools were found in which all buffers fit"
                    raise ts.Unknown(
                        f"{reason}; in the last choice: {refusal}", reason=reason
                    ) from refusal
                raise
        if moved is not None:
            rank[moved] += 1
            waiting = [pool, *(other for other in waiting if other != pool)]
            target = requests[moved].pools[rank[moved]]
            if target not in waiting:
                waiting.append(target)
            continue
        placed.update((i, Place(pool, offset)) for i, offset in zip(members, offsets))
    return [placed[i] for i in range(len(requests))]


def whole(value: Any, name: str) -> int:
    """A number of bytes, or another number of 0 or more, as an integer. Raises ValueError."""
    try:
        number = int(value)
    except (OverflowError, TypeError, ValueError):
        number = -1
    if isinstance(value, str) or number < 0 or float(number) != float(value):
        raise ValueError(f"{name}: expected an integer, 0 or more, found {value!r}")
    return number


def _can_move(request: Request[Pool], rank: int) -> bool:
    return request.offset is None and rank + 1 < len(request.pools)


def _offsets(
    members: Sequence[Request[Pool]], capacity: int | None, budget: int, name: str
) -> Sequence[int]:
    if not members:
        return ()
    buffers = [
        {
            "id": identifier,
            "size": request.size,
            "lifespans": [list(lifespan) for lifespan in request.lifespans],
            "alignment": request.alignment,
            **({} if request.offset is None else {"offset": request.offset}),
        }
        for identifier, request in zip(_identifiers(members), members)
    ]
    memory = {"name": name, "capacity": _NO_END if capacity is None else capacity}
    problem = {"format": "tessera-problem", "version": 1, "memories": [memory], "buffers": buffers}
    try:
        answer = ts.allocate(ts.Problem.parse(problem), minimize=True, explain=False, budget=budget)
    except ts.NoAnswer as refusal:
        reason = f"{name}: {refusal.reason}"
        raise type(refusal)(reason, reason=reason, stopped=refusal.stopped) from None
    return [int(offset) for offset in answer.offsets]


def _identifiers(members: Sequence[Request[Pool]]) -> list[str]:
    """The names of the requests; numbers tell equal ones apart."""
    counts = Counter(request.name for request in members)
    taken = set(counts)
    identifiers = []
    for i, request in enumerate(members):
        identifier = request.name
        if not identifier or counts[identifier] > 1:
            identifier = f"{identifier or 'buffer'} {i}"
            while identifier in taken:
                identifier += "'"
            taken.add(identifier)
        identifiers.append(identifier)
    return identifiers


def _choose(
    requests: Sequence[Request[Pool]],
    members: Sequence[int],
    movable: Sequence[int],
    capacity: int | None,
    always: bool = False,
) -> int | None:
    """The request of `movable` that leaves the pool; none if its load fits, unless `always`."""
    if not movable or (capacity is None and not always):
        return None
    room = capacity or 0
    load: Counter[int] = Counter()
    for i in members:
        for lower, upper in requests[i].lifespans:
            load[lower] += requests[i].size
            load[upper] -= requests[i].size
    total, most, fullest = 0, -1, 0
    for step in sorted(load):
        total += load[step]
        if total > most and any(_lives(requests[i], step) for i in movable):
            most, fullest = total, step
    if most <= room and not always:
        return None
    there = [i for i in movable if _lives(requests[i], fullest)]
    enough = [i for i in there if requests[i].size >= most - room]
    if enough:
        return min(enough, key=lambda i: (requests[i].size, i))
    return max(there, key=lambda i: (requests[i].size, -i))


def _lives(request: Request[Pool], step: int) -> bool:
    return any(lower <= step < upper for lower, upper in request.lifespans)
