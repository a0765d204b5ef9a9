# SPDX-License-Identifier: Apache-2.0
"""The algorithm for ExecuTorch, on specs written by hand after its data structures."""

import itertools
import random
import types

import pytest

import tessera as ts
from tessera.integrations.executorch import MemoryPlanner


class TensorSpec:
    """The fields of executorch.exir.tensor.TensorSpec that planners use; compared by identity."""

    def __init__(self, name, size, first, last, mem_id=None, mem_offset=None):
        self.name = name
        self.allocated_memory = size
        self.lifetime = [first, last]
        self.mem_id = mem_id
        self.mem_offset = mem_offset

    def realign(self, new_alignment):
        self.allocated_memory = -(-self.allocated_memory // new_alignment) * new_alignment
        return self.allocated_memory


def storage(spec, result):
    at = result.spec_dict[spec]
    return at.mem_id, at.mem_offset, at.mem_offset + spec.allocated_memory


def reused(specs, result):
    """Names of pairs that share bytes, after the rules of ExecuTorch's own verifier."""
    pairs = set()
    for a, b in itertools.combinations(specs, 2):
        (pool_a, begin_a, end_a), (pool_b, begin_b, end_b) = storage(a, result), storage(b, result)
        if pool_a != pool_b or begin_a >= end_b or begin_b >= end_a:
            continue
        assert a.lifetime[1] < b.lifetime[0] or b.lifetime[1] < a.lifetime[0], (a.name, b.name)
        assert result.spec_dict[a].mem_obj_id == result.spec_dict[b].mem_obj_id
        pairs.add(a.name + b.name)
    return pairs


def test_a_chain_reuses_every_second_tensor():
    # Node i reads one tensor and writes the next: neighbours live together, others do not.
    specs = [TensorSpec(name, 64, i, i + 1) for i, name in enumerate("abcd")]
    result = MemoryPlanner()(16, set(specs))
    assert result.bufsizes == [0, 128]
    assert reused(specs, result) == {"ac", "bd"}


def test_a_residual_keeps_its_input():
    # a lives until it is added to d: only b and d, of the chain in between, share bytes.
    specs = [TensorSpec("a", 64, 0, 3), TensorSpec("b", 48, 1, 2),
             TensorSpec("c", 32, 2, 3), TensorSpec("d", 48, 3, 4)]
    result = MemoryPlanner()(16, set(specs))
    assert result.bufsizes == [0, 64 + 48 + 32]
    assert reused(specs, result) == {"bd"}


def test_sizes_and_addresses_are_aligned():
    specs = [TensorSpec("a", 10, 0, 1), TensorSpec("b", 17, 1, 2)]
    result = MemoryPlanner()(16, set(specs), extra_padding=4)
    assert result.bufsizes == [0, 16 + 32 + 4]
    assert all(at.mem_offset % 16 == 0 for at in result.spec_dict.values())


def test_memories_have_capacities():
    # 128 bytes hold two of the three that live together; the smallest that makes room moves on.
    specs = [TensorSpec("a", 64, 0, 2), TensorSpec("b", 64, 0, 2), TensorSpec("c", 32, 0, 2),
             TensorSpec("d", 64, 3, 4)]
    result = MemoryPlanner({2: 128, 3: None})(16, set(specs))
    assert [result.spec_dict[spec].mem_id for spec in specs] == [2, 2, 3, 2]
    assert result.bufsizes == [0, 0, 128, 32]
    assert len(reused(specs, result)) == 1


def test_stated_memories_and_addresses_are_kept():
    specs = [TensorSpec("a", 32, 0, 3, mem_id=1, mem_offset=32),
             TensorSpec("b", 32, 0, 3, mem_id=1),
             TensorSpec("c", 64, 0, 3),
             TensorSpec("d", 32, 4, 5, mem_id=1, mem_offset=48)]
    result = MemoryPlanner({1: 96, 2: None})(16, set(specs))
    assert storage(specs[0], result) == (1, 32, 64)
    assert storage(specs[3], result) == (1, 48, 80)
    assert storage(specs[2], result)[0] == 2
    assert reused(specs, result) <= {"ad", "bd"} and "ad" in reused(specs, result)


def test_what_cannot_move_has_a_reason():
    specs = {TensorSpec(name, 64, 0, 1, mem_id=1) for name in "ab"}
    with pytest.raises(ts.Infeasible, match="128 bytes"):
        MemoryPlanner({1: 100, 2: None})(16, specs)
    with pytest.raises(ValueError, match="constants"):
        MemoryPlanner({0: None})
    with pytest.raises(ValueError, match="memory id"):
        MemoryPlanner()(16, {TensorSpec("a", 64, 0, 1, mem_offset=0)})


def test_nothing_is_proven_where_specs_may_move():
    # Found by hand: with c in memory 1 all fit, but the choice of memories looks no further.
    specs = [TensorSpec("a", 2, 2, 6, 1, 0), TensorSpec("b", 5, 5, 8), TensorSpec("c", 6, 4, 6),
             TensorSpec("d", 6, 4, 4, 1, 2), TensorSpec("e", 3, 4, 5), TensorSpec("f", 0, 6, 8)]
    with pytest.raises(ts.Unknown, match="no pools were found"):
        MemoryPlanner({2: 8, 1: 12})(1, set(specs))


def test_what_does_not_fit_is_named():
    specs = {TensorSpec("a", 100, 0, 1), TensorSpec("b", 90, 1, 2)}
    with pytest.raises(ts.Infeasible) as caught:
        MemoryPlanner({3: 150})(16, specs)
    assert caught.value.reason.startswith("memory id 3: ")
    assert "spec of 112 bytes in nodes 0 to 1" in caught.value.reason


def test_a_memory_without_an_end_has_none():
    spec = TensorSpec("a", 2**50 + 16, 0, 1)
    assert MemoryPlanner()(16, {spec}).bufsizes == [0, 2**50 + 16]


def test_padding_is_within_the_capacity():
    with pytest.raises(ts.Infeasible):
        MemoryPlanner({1: 64})(16, {TensorSpec("a", 64, 0, 1)}, extra_padding=8)


def test_specs_of_no_bytes_have_the_memory_that_they_state():
    stated, free = TensorSpec("a", 0, 0, 1, mem_id=5, mem_offset=64), TensorSpec("b", 0, 0, 1)
    result = MemoryPlanner({2: 64, 3: 64})(16, {stated, free})
    assert storage(stated, result) == (5, 64, 64) and storage(free, result)[0] == 2
    assert len(result.bufsizes) == 6


def test_wrong_arguments_are_named():
    for capacities, match in [({1: -1}, "found -1"), ({1: "100"}, "found '100'"),
                              ({"sram": 100}, "memory id: .* found 'sram'"),
                              ({-1: 100}, "memory id: .* found -1"), ({0: 1}, "holds constants")]:
        with pytest.raises(ValueError, match=match):
            MemoryPlanner(capacities)
    with pytest.raises(ValueError, match="alignment: expected 1 byte or more"):
        MemoryPlanner()(0, {TensorSpec("a", 16, 0, 1)})
    for stated in [{"mem_id": -1}, {"mem_id": 0}, {"mem_id": 1, "mem_offset": -5}]:
        with pytest.raises(ValueError, match="expected"):
            MemoryPlanner()(16, {TensorSpec("a", 64, 0, 1, **stated)})
    with pytest.raises(ValueError, match="allocated_memory of .* found -64"):
        MemoryPlanner()(16, {TensorSpec("a", -64, 0, 1)})
    with pytest.raises(ValueError, match="lifetime"):
        MemoryPlanner()(16, {TensorSpec("a", 16, None, None)})
    module = types.SimpleNamespace(input_mem_buffer_sizes=[0, 40])
    with pytest.raises(ValueError, match="caller"):
        MemoryPlanner()(16, {TensorSpec("a", 16, 0, 1, mem_id=1, mem_offset=32)}, module)


def test_submodules_begin_after_their_caller():
    module = types.SimpleNamespace(input_mem_buffer_sizes=[0, 40])
    spec = TensorSpec("a", 16, 0, 1)
    result = MemoryPlanner()(16, {spec}, module)
    assert storage(spec, result) == (1, 48, 64) and result.bufsizes == [0, 64]


def test_no_specs_need_no_bytes():
    assert MemoryPlanner()(16, set()).bufsizes == [0, 0]
    empty = TensorSpec("a", 0, 0, 1)
    assert MemoryPlanner()(16, {empty}).spec_dict[empty].mem_id == 1


def test_drawn_graphs_keep_all_rules():
    draw = random.Random(5)
    for _ in range(20):
        specs = []
        for i in range(draw.randint(1, 30)):
            first = draw.randint(0, 20)
            last = first + draw.randint(0, 8)
            mem_id = draw.choice([None, None, 1, 2])
            specs.append(TensorSpec(f"<{i}>", draw.randint(1, 300), first, last, mem_id))
        planner = MemoryPlanner({2: 4096, 1: None})
        result = planner(16, set(specs))
        reused(specs, result)
        assert result.bufsizes[2:3] <= [4096]
        assert all(spec.mem_id in (None, result.spec_dict[spec].mem_id) for spec in specs)
        assert planner(16, set(reversed(specs))).bufsizes == result.bufsizes
