# SPDX-License-Identifier: Apache-2.0
"""The algorithm for TVM's USMP, on buffers written by hand after its data structures."""

import itertools
import random
from collections import Counter

import pytest

import tessera as ts
from tessera.integrations import usmp


class PoolInfo:
    def __init__(self, pool_name, size_hint_bytes=-1):
        self.pool_name = pool_name
        self.size_hint_bytes = size_hint_bytes


class BufferInfo:
    """The fields of tvm.tir.usmp.utils.BufferInfo; compared by identity."""

    def __init__(self, name_hint, size_bytes, pool_candidates, alignment=1):
        self.name_hint = name_hint
        self.size_bytes = size_bytes
        self.pool_candidates = pool_candidates
        self.alignment = alignment
        self.conflicts = []


def conflict(*pairs):
    for a, b in pairs:
        a.conflicts.append(b)
        b.conflicts.append(a)


def plan(buffers):
    """Pool names and offsets, after a check of the rules by definition."""
    result = usmp.plan_buffers(buffers, 0, lambda pool, offset: (pool, offset))
    for buffer in buffers:
        pool, offset = result[buffer]
        assert pool in buffer.pool_candidates and offset % buffer.alignment == 0
        assert pool.size_hint_bytes < 0 or offset + buffer.size_bytes <= pool.size_hint_bytes
    for a, b in itertools.combinations(buffers, 2):
        (pool_a, begin_a), (pool_b, begin_b) = result[a], result[b]
        if pool_a is pool_b and (a in b.conflicts or b in a.conflicts):
            assert begin_a + a.size_bytes <= begin_b or begin_b + b.size_bytes <= begin_a
    return [(result[buffer][0].pool_name, result[buffer][1]) for buffer in buffers]


def peak(buffers, places, pool):
    return max(at + b.size_bytes for b, (name, at) in zip(buffers, places) if name == pool)


def test_buffers_without_conflicts_share_bytes():
    sram = PoolInfo("sram")
    a, b, c = (BufferInfo(name, 64, [sram]) for name in "abc")
    conflict((a, b), (b, c))
    places = plan([a, b, c])
    assert places[0] == places[2] and peak([a, b, c], places, "sram") == 128


def test_conflicts_need_not_be_intervals():
    # A cycle of four is no graph of intervals: both pairs of opposite buffers share bytes.
    sram = PoolInfo("sram")
    a, b, c, d = (BufferInfo(name, 10, [sram]) for name in "abcd")
    conflict((a, b), (b, c), (c, d), (d, a))
    places = plan([a, b, c, d])
    assert places[0] == places[2] and places[1] == places[3]
    assert peak([a, b, c, d], places, "sram") == 20


def test_pools_are_used_in_order():
    fast, slow = PoolInfo("fast", 100), PoolInfo("slow")
    sizes = {"a": 60, "b": 50, "c": 40}
    a, b, c = (BufferInfo(name, size, [fast, slow]) for name, size in sizes.items())
    conflict((a, b), (b, c), (c, a))
    # 150 bytes live together. b is the smallest whose move leaves at most 100.
    assert [pool for pool, _ in plan([a, b, c])] == ["fast", "slow", "fast"]


def test_a_full_pool_passes_buffers_on_again():
    first, second, third = PoolInfo("first", 64), PoolInfo("second", 64), PoolInfo("third")
    buffers = [BufferInfo(name, 64, [first, second, third]) for name in "abc"]
    conflict(*itertools.combinations(buffers, 2))
    assert sorted(pool for pool, _ in plan(buffers)) == ["first", "second", "third"]


def test_what_fits_nowhere_has_a_reason():
    tiny = PoolInfo("tiny", 100)
    a, b = BufferInfo("a", 64, [tiny]), BufferInfo("b", 64, [tiny])
    conflict((a, b))
    with pytest.raises(ts.Infeasible, match="^pool tiny: .*128 bytes"):
        plan([a, b])


def test_wrong_buffers_are_named():
    with pytest.raises(ValueError, match="lonely has no pool"):
        plan([BufferInfo("lonely", 64, [])])
    with pytest.raises(ValueError, match="two pools of different sizes"):
        plan([BufferInfo("a", 64, [PoolInfo("one", 64)]), BufferInfo("b", 64, [PoolInfo("one")])])


def test_names_that_are_equal_or_missing_are_told_apart():
    for names in ["b1 x x", "x x b0", "_ _ b1", "buffer0 buffer buffer", "x x x"]:
        pool = PoolInfo("one")
        buffers = [BufferInfo(name.strip("_"), 64, [pool]) for name in names.split()]
        conflict(*itertools.combinations(buffers, 2))
        assert sorted(offset for _, offset in plan(buffers)) == [0, 64, 128]


def test_sizes_are_numbers_of_bytes():
    for size in (5.7, -5, "x", float("inf")):
        with pytest.raises(ValueError, match="size_bytes of 'a': expected an integer"):
            plan([BufferInfo("a", size, [PoolInfo("one")])])


def test_a_hundred_moves_take_no_allocations():
    # Asking for an allocation after each move would take minutes.
    pools = [PoolInfo("a", 4000), PoolInfo("b", 4000), PoolInfo("c")]
    buffers = [BufferInfo(f"b{i}", 100, pools) for i in range(400)]
    conflict(*itertools.combinations(buffers, 2))
    assert Counter(pool for pool, _ in plan(buffers)) == {"a": 40, "b": 40, "c": 320}


def test_buffers_of_no_bytes_take_no_room():
    full = PoolInfo("one", 64)
    a, empty = BufferInfo("a", 64, [full]), BufferInfo("empty", 0, [full])
    conflict((a, empty))
    assert plan([a, empty]) == [("one", 0), ("one", 0)]


def test_steps_are_shared_by_neighbours_alone():
    draw = random.Random(11)
    for _ in range(200):
        count = draw.randint(1, 9)
        edges = {pair for pair in itertools.combinations(range(count), 2) if draw.random() < 0.4}
        neighbours = [{b if a == i else a for a, b in edges if i in (a, b)} for i in range(count)]
        steps = [
            {step for lower, upper in lifespans for step in range(lower, upper)}
            for lifespans in usmp._lifespans(neighbours)
        ]
        assert all(steps)
        shared = {(a, b) for a, b in itertools.combinations(range(count), 2) if steps[a] & steps[b]}
        assert shared == edges


def test_drawn_graphs_keep_all_rules():
    draw = random.Random(3)
    for _ in range(20):
        pools = [PoolInfo("a", 600), PoolInfo("b", 900), PoolInfo("c")]
        buffers = []
        for i in range(draw.randint(1, 20)):
            candidates = draw.sample(pools[:2], draw.randint(0, 2)) + [pools[2]]
            size, alignment = draw.randint(1, 400), 1 << draw.randint(0, 5)
            buffers.append(BufferInfo(f"b{i}", size, candidates, alignment))
        conflict(*(pair for pair in itertools.combinations(buffers, 2) if draw.random() < 0.3))
        assert plan(buffers) == plan(buffers)
