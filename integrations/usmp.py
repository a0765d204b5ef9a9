# SPDX-License-Identifier: Apache-2.0
"""A memory planning algorithm with the interface of TVM's unified static memory planner.

USMP calls an algorithm with buffers. Each has a size, the pools that it may use, the best first,
and the buffers with which it conflicts. It takes back a pool and an offset for each. This module
needs nothing of TVM: it reads the published fields by name.

    import tvm
    from tvm.tir.usmp.utils import PoolAllocation
    from tessera.integrations.usmp import plan_buffers

    @tvm.register_func("tir.usmp.algo.tessera")
    def algorithm(buffers, memory_pressure):
        return plan_buffers(buffers, memory_pressure, PoolAllocation)

    with tvm.transform.PassContext(config={"tir.usmp.custom_algorithm": "tessera"}):
        ...

Conflicts are a graph, and lifespans are ranges of steps. Every graph is one of lifespans with gaps:
each set of buffers that conflict with each other gets a step, in which these live, and no other:

    conflicts      a-b  a-c  b-c  c-d
    steps          0: a, b, c         1: c, d
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from .pools import Range, Request, place, whole

Allocation = TypeVar("Allocation")


class PoolInfo(Protocol):
    """What is read of tvm.ir.memory_pools.PoolInfo."""

    pool_name: str
    size_hint_bytes: int | None  # -1 or None: without an end


class BufferInfo(Protocol):
    """What is read of tvm.tir.usmp.utils.BufferInfo."""

    name_hint: str
    size_bytes: int
    alignment: int
    pool_candidates: Sequence[Any]  # PoolInfo, the best first
    conflicts: Sequence[Any]  # BufferInfo


def plan_buffers(
    buffers: Iterable[Any],
    memory_pressure: int,
    make: Callable[[Any, int], Allocation],
    *,
    budget: int = 20_000,
) -> dict[Any, Allocation]:
    """Places the buffers.

    Args:
        buffers: BufferInfo; no two that conflict share a byte of a pool.
        memory_pressure: the most bytes that live at once; not used.
        make: makes the result for a buffer from its PoolInfo and its offset in bytes.
        budget: of work for each pool.

    Raises tessera.Infeasible if buffers that have one pool do not fit there, tessera.Unknown if no
    place was found for others, and ValueError for a buffer without a pool, or for two pools of one
    name and different sizes.
    """
    every = list(buffers)
    ordered = [buffer for buffer in every if buffer.size_bytes != 0 or not buffer.pool_candidates]
    pools: dict[str, Any] = {}
    for buffer in every:
        for pool in buffer.pool_candidates:
            if _capacity(pools.setdefault(pool.pool_name, pool)) != _capacity(pool):
                raise ValueError(f"two pools of different sizes have the name {pool.pool_name!r}")
    requests = [
        Request(
            size=whole(buffer.size_bytes, f"size_bytes of {buffer.name_hint!r}"),
            lifespans=lifespans,
            pools=[str(pool.pool_name) for pool in buffer.pool_candidates],
            alignment=whole(buffer.alignment or 1, f"alignment of {buffer.name_hint!r}"),
            name=str(buffer.name_hint),
        )
        for buffer, lifespans in zip(ordered, _lifespans(_conflicts(ordered)))
    ]
    capacities = {str(name): _capacity(pool) for name, pool in pools.items()}
    places = place(requests, capacities, budget=budget)
    found = {buffer: make(pools[at.pool], at.offset) for buffer, at in zip(ordered, places)}
    # A buffer of no bytes may have any address.
    return {
        buffer: found[buffer] if buffer in found else make(buffer.pool_candidates[0], 0)
        for buffer in every
    }


def _capacity(pool: PoolInfo) -> int | None:
    size = pool.size_hint_bytes
    return None if size is None or int(size) < 0 else int(size)


def _conflicts(buffers: Sequence[BufferInfo]) -> list[set[int]]:
    """The neighbours of each buffer in the graph of conflicts, by index."""
    index = {buffer: i for i, buffer in enumerate(buffers)}
    neighbours: list[set[int]] = [set() for _ in buffers]
    for i, buffer in enumerate(buffers):
        for other in buffer.conflicts:
            j = index.get(other)
            if j is not None and j != i:
                neighbours[i].add(j)
                neighbours[j].add(i)
    return neighbours


def _lifespans(neighbours: Sequence[set[int]]) -> list[list[Range]]:
    """Ranges of steps such that two buffers share a step exactly if they are neighbours.

    Each edge that no step has yet becomes a step with both ends, which takes in further buffers
    while all in it are neighbours. A buffer without neighbours gets a step of its own.
    """
    steps: list[set[int]] = []
    done: set[Range] = set()
    for i, others in enumerate(neighbours):
        if not others:
            steps.append({i})
        for j in sorted(others):
            if j < i or (i, j) in done:
                continue
            clique = {i, j}
            for k in sorted(others & neighbours[j]):
                if clique <= neighbours[k]:
                    clique.add(k)
            done.update((a, b) for a in clique for b in clique if a < b)
            steps.append(clique)
    lifespans: list[list[Range]] = [[] for _ in neighbours]
    for step, clique in enumerate(steps):
        for i in clique:
            if lifespans[i] and lifespans[i][-1][1] == step:
                lifespans[i][-1] = (lifespans[i][-1][0], step + 1)
            else:
                lifespans[i].append((step, step + 1))
    return lifespans
