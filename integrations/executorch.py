# SPDX-License-Identifier: Apache-2.0
"""A memory planning algorithm with the interface of ExecuTorch's.

ExecuTorch calls an algorithm with the tensor specs of a graph, whose lifetimes are known, and takes
from it a memory id, an offset and a shared object for each, and the size of every memory. This
module needs nothing of ExecuTorch: it reads and writes the published fields by name.

    from executorch.exir.passes import MemoryPlanningPass
    from tessera.integrations.executorch import MemoryPlanner

    MemoryPlanningPass(memory_planning_algo=MemoryPlanner({1: 64 * 1024, 2: None}))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .pools import Place, Request, place, whole

_CONSTANTS = 0  # the memory id that ExecuTorch keeps for constants
_DEFAULT = 1


class TensorSpec(Protocol):
    """What is read of executorch.exir.tensor.TensorSpec."""

    lifetime: list[int]  # the first and the last node that refers to it, both included
    mem_id: int | None  # stated: this memory
    mem_offset: int | None  # stated: at this address of it, in bytes

    @property
    def allocated_memory(self) -> int:
        """Bytes, after `realign`."""

    def realign(self, new_alignment: int) -> int:
        """Rounds `allocated_memory` up to a multiple."""


@dataclass
class SpecAllocResult:
    """What an algorithm assigns to a spec."""

    mem_id: int
    mem_obj_id: int  # specs of one memory that share bytes have one
    mem_offset: int  # bytes


@dataclass
class MemoryAlgoResult:
    """What an algorithm returns."""

    spec_dict: dict[Any, SpecAllocResult] = field(default_factory=dict)
    bufsizes: list[int] = field(default_factory=list)  # bytes of each memory, by id


class MemoryPlanner:
    """An algorithm for MemoryPlanningPass.

    A spec with a memory id stays in that memory, and one with an offset too at that address. Others
    use the first memory of `capacities` in which they find room.
    """

    def __init__(
        self, capacities: Mapping[int, int | None] | None = None, *, budget: int = 20_000
    ) -> None:
        """States the memories.

        Args:
            capacities: bytes of each memory id, the best memory first; None: without an end.
                Without it, there is the memory 1, without an end.
            budget: of work for each memory.
        """
        self.capacities = {
            _memory(mem_id): None if size is None else whole(size, f"capacity of memory {mem_id}")
            for mem_id, size in dict(capacities or {_DEFAULT: None}).items()
        }
        self.budget = budget
        self.__name__ = "tessera"  # by which the pass reports the algorithm

    def __call__(
        self,
        alignment: int,
        specs: Iterable[Any],
        graph_module: Any = None,
        graph_signature: Any = None,
        extra_padding: int = 0,
    ) -> MemoryAlgoResult:
        """Places the specs.

        Args:
            alignment: of addresses and sizes, in bytes.
            specs: a set of TensorSpec. Their order decides only which of two specs that are equal
                in size, lifetime, memory and offset has which place.
            graph_module: its `input_mem_buffer_sizes`, if it has them, are bytes at the begin of
                each memory that the caller of this graph uses.
            graph_signature: not used.
            extra_padding: bytes that are added to each memory that is used; its capacity includes
                them.

        Raises tessera.Infeasible if specs that must stay in a memory do not fit there,
        tessera.Unknown if no place was found for others, and ValueError for wrong arguments.
        """
        if whole(alignment, "alignment") < 1:
            raise ValueError("alignment: expected 1 byte or more, found 0")
        specs = list(specs)
        for spec in specs:
            _check(spec)
        ordered = sorted(specs, key=_order)
        for spec in ordered:
            spec.realign(alignment)
        begins = _begins(graph_module, alignment)
        capacities = {
            mem_id: None
            if capacity is None
            else max(capacity - begins.get(mem_id, 0) - extra_padding, 0)
            for mem_id, capacity in self.capacities.items()
        }
        used = [spec for spec in ordered if spec.allocated_memory > 0]
        requests = [self._request(spec, alignment, begins) for spec in used]
        places = place(requests, capacities, budget=self.budget, kind="memory id")
        return _result(ordered, used, places, begins, extra_padding, next(iter(self.capacities)))

    def _request(self, spec: TensorSpec, alignment: int, begins: Mapping[int, int]) -> Request[int]:
        first, last = spec.lifetime
        offset = spec.mem_offset
        if offset is not None:
            if spec.mem_id is None:
                raise ValueError(f"{spec} has an offset but no memory id")
            offset -= begins.get(spec.mem_id, 0)
            if offset < 0:
                raise ValueError(f"{spec} lies in the bytes that the caller of the graph uses")
        return Request(
            size=spec.allocated_memory,
            lifespans=[(first, last + 1)],
            pools=list(self.capacities) if spec.mem_id is None else [spec.mem_id],
            alignment=1 if offset is not None else alignment,
            offset=offset,
            name=f"spec of {spec.allocated_memory} bytes in nodes {first} to {last}",
        )


def _memory(mem_id: Any) -> int:
    if whole(mem_id, "memory id") == _CONSTANTS:
        raise ValueError("memory id: expected 1 or more, because 0 holds constants, found 0")
    return int(mem_id)


def _check(spec: Any) -> None:
    if spec.lifetime is None or None in spec.lifetime:
        raise ValueError(f"{spec} has no lifetime")
    whole(spec.allocated_memory, f"allocated_memory of {spec}")
    if spec.mem_id is not None:
        _memory(spec.mem_id)
    if spec.mem_offset is not None:
        whole(spec.mem_offset, f"mem_offset of {spec}")


def _order(spec: TensorSpec) -> tuple[Any, ...]:
    """Sets have no order; equal sets must get equal answers."""
    offset = -1 if spec.mem_offset is None else spec.mem_offset
    return (*spec.lifetime, -spec.allocated_memory, spec.mem_id or 0, offset)


def _begins(graph_module: Any, alignment: int) -> dict[int, int]:
    """The bytes of each memory that the caller of the graph uses, rounded up."""
    sizes = getattr(graph_module, "input_mem_buffer_sizes", None) or []
    return {mem_id: -(-size // alignment) * alignment for mem_id, size in enumerate(sizes)}


def _result(
    ordered: list[Any],
    used: list[Any],
    places: list[Place[int]],
    begins: Mapping[int, int],
    extra_padding: int,
    first: int,
) -> MemoryAlgoResult:
    objects = _shared_objects(used, places)
    stated = [spec.mem_id for spec in ordered if spec.mem_id is not None]
    count = max([_DEFAULT, first, *begins, *stated, *(at.pool for at in places)]) + 1
    result = MemoryAlgoResult({}, [begins.get(mem_id, 0) for mem_id in range(count)])
    for spec, at, shared in zip(used, places, objects):
        offset = at.offset + begins.get(at.pool, 0)
        result.spec_dict[spec] = SpecAllocResult(at.pool, shared, offset)
        end = offset + spec.allocated_memory
        result.bufsizes[at.pool] = max(result.bufsizes[at.pool], end)
    for mem_id in {at.pool for at in places}:
        result.bufsizes[mem_id] += extra_padding
    for spec in ordered:
        if spec not in result.spec_dict:  # of no bytes: any address
            mem_id = first if spec.mem_id is None else spec.mem_id
            offset = begins.get(mem_id, 0) if spec.mem_offset is None else spec.mem_offset
            result.spec_dict[spec] = SpecAllocResult(mem_id, len(ordered), offset)
    return result


def _shared_objects(used: list[Any], places: list[Place[int]]) -> list[int]:
    """A number for each spec. Specs that share a byte, directly or through others, have one."""
    owner: dict[int, int] = {}
    count = 0
    previous: tuple[int, int] | None = None  # memory, and the end of the bytes of one object
    for i in sorted(range(len(used)), key=lambda i: (places[i].pool, places[i].offset)):
        begin, end = places[i].offset, places[i].offset + used[i].allocated_memory
        if previous is not None and previous[0] == places[i].pool and begin < previous[1]:
            previous = (places[i].pool, max(previous[1], end))
        else:
            count += 1
            previous = (places[i].pool, end)
        owner[i] = count - 1
    return [owner[i] for i in range(len(used))]
