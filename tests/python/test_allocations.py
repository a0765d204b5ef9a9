# SPDX-License-Identifier: Apache-2.0
"""Allocations on NumPy arrays."""

import json
import os
import pickle
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

import tessera as ts

COMMAND = os.path.join(os.environ.get("TESSERA_BUILD", ""), "bin", "tessera")
LOWER = numpy.array([0, 2, 0])
UPPER = numpy.array([3, 9, 9])
SIZE = numpy.array([4, 8, 16])


def overlaps(lower, upper, size, offsets):
    """Pairs of buffers that share a step and a byte, by definition."""
    count = len(lower)
    return [
        (i, j)
        for i in range(count)
        for j in range(i)
        if lower[i] < upper[j] and lower[j] < upper[i]
        and offsets[i] < offsets[j] + size[j] and offsets[j] < offsets[i] + size[i]
    ]


def test_the_least_peak_is_found():
    answer = ts.allocate(LOWER, UPPER, SIZE)
    assert answer.outcome == "optimal" and answer.peak == answer.lower_bound == 28
    assert answer.peak == max(answer.offsets + SIZE)
    assert overlaps(LOWER, UPPER, SIZE, answer.offsets) == []
    assert answer.check().accepted and not answer.check(27).accepted


def test_drawn_buffers_do_not_overlap():
    draw = numpy.random.default_rng(7)
    lower = draw.integers(0, 40, 150)
    upper = lower + draw.integers(1, 12, 150)
    size = draw.integers(1, 999, 150)
    alignment = 1 << draw.integers(0, 5, 150)
    offsets = ts.allocate(lower, upper, size, alignment=alignment, budget=2000).offsets
    assert overlaps(lower, upper, size, offsets) == []
    assert not (offsets % alignment).any()


def test_offsets_are_a_view_that_nothing_changes():
    answer = ts.allocate(LOWER, UPPER, SIZE)
    view = answer.offsets
    assert view.base is not None and not view.flags.writeable
    assert view.ctypes.data == answer.offsets.ctypes.data
    expected = view.tolist()
    del answer
    assert view.tolist() == expected
    with pytest.raises(ValueError):
        view[0] = 1


@pytest.mark.parametrize("kind", ["int32", "uint8", ">i8"])
def test_other_integers_are_converted(kind):
    expected = ts.allocate(LOWER, UPPER, SIZE).offsets
    given = [column.astype(kind) for column in (LOWER, UPPER, SIZE)]
    assert (ts.allocate(*given).offsets == expected).all()


def test_strides_are_followed():
    table = numpy.column_stack([LOWER, UPPER, SIZE])
    record = numpy.zeros(3, [("pad", "i1"), ("lower", "i8"), ("upper", "i8"), ("size", "i8")])
    for name, column in zip(("lower", "upper", "size"), table.T):
        record[name] = column
    expected = ts.Problem.from_columns(LOWER, UPPER, SIZE).render("csv")
    assert ts.Problem.from_columns(*table.T).render("csv") == expected
    by_name = [record[name] for name in ("lower", "upper", "size")]
    assert ts.Problem.from_columns(*by_name).render("csv") == expected
    backwards = ts.Problem.from_columns(LOWER[::-1], UPPER[::-1], SIZE[::-1])
    assert "b0,0,9,16" in backwards.render("csv")


def test_pinned_buffers_stay():
    answer = ts.allocate(LOWER, UPPER, SIZE, offset=numpy.array([-1, -1, 8]))
    assert answer.offsets[2] == 8 and answer.peak == 28


def test_the_proof_of_a_least_peak_is_checked_and_pickled():
    answer = ts.allocate(LOWER, UPPER, SIZE, minimize=True, certify=True)
    assert answer.certificate.check().accepted
    again = pickle.loads(pickle.dumps(answer))
    assert again.certificate.files == answer.certificate.files


def test_what_does_not_fit_has_a_reason():
    with pytest.raises(ts.Infeasible) as caught:
        ts.allocate(LOWER, UPPER, SIZE, capacity=20, certify=True)
    error = caught.value
    assert "'b1' and 'b2' live together at step 2" in error.reason and error.reason in str(error)
    assert any("8 bytes more" in line for line in error.explanation)
    assert error.certificate.check().claim == "nothing fits into 20 bytes"
    why = ts.explain(ts.Problem.from_columns(LOWER, UPPER, SIZE, capacity=20))
    assert why.minimal and len(why.conditions) == 3 and why.all_tried


@pytest.mark.parametrize(
    "columns, kind",
    [
        ((LOWER, UPPER, SIZE[:2]), ValueError),
        ((LOWER.reshape(3, 1), UPPER, SIZE), ValueError),
        ((LOWER, UPPER, SIZE * 1.5), TypeError),
        ((LOWER, UPPER, -SIZE), ts.BadInput),
        ((UPPER, LOWER, SIZE), ts.BadInput),
        ((LOWER,), TypeError),
        ((numpy.array([2**64 - 3, 0, 0], dtype=numpy.uint64), UPPER, SIZE), ts.BadInput),
        ((LOWER, UPPER, numpy.array([2**63, 1, 1], dtype=numpy.uint64)), ts.BadInput),
        ((LOWER, UPPER, numpy.ma.masked_equal(SIZE, SIZE[1])), ts.BadInput),
        ((ts.Problem.from_columns(LOWER, UPPER, SIZE), UPPER), TypeError),
    ],
)
def test_bad_columns_are_refused(columns, kind):
    with pytest.raises(kind):
        ts.allocate(*columns)


def test_a_problem_comes_without_columns():
    problem = ts.Problem.from_columns(LOWER, UPPER, SIZE)
    for name in ("size", "alignment", "offset", "hint"):
        with pytest.raises(TypeError):
            ts.allocate(problem, **{name: SIZE})


@pytest.mark.parametrize(
    "options, kind",
    [
        ({"timeout": -1}, ts.BadInput),
        ({"timeout": float("nan")}, ts.BadInput),
        ({"minimize": {}}, ts.BadInput),
        ({"minimize": ""}, ts.BadInput),
        ({"minimize": None}, TypeError),
    ],
)
def test_bad_options_are_refused(options, kind):
    with pytest.raises(kind):
        ts.allocate(LOWER, UPPER, SIZE, **options)
    assert ts.allocate(LOWER, UPPER, SIZE, minimize=numpy.bool_(True)).peak == 28


def test_unknown_engines_and_rules_have_lists_of_their_own():
    for option, known, other in [
        ({"engine": "foo"}, "greedy", "gap-fill"),
        ({"switched_off": ["foo"]}, "gap-fill", "greedy"),
    ]:
        with pytest.raises(ts.BadInput) as fault:
            ts.allocate(LOWER, UPPER, SIZE, **option)
        assert known in fault.value.expected and other not in fault.value.expected


def test_no_buffers_need_no_bytes():
    nothing = numpy.array([], dtype=int)
    assert ts.allocate(nothing, nothing, nothing).peak == 0


def test_problems_of_files_are_placed(tmp_path):
    path = tmp_path / "buffers.csv"
    path.write_text("id,lower,upper,size\na,0,3,4\nb,2,9,8\n")
    answer = ts.allocate(ts.Problem.load(path))
    assert answer.peak == 12
    answer.save(tmp_path / "answer.json")
    assert (tmp_path / "answer.json").read_text() == answer.render("json")
    assert "<svg" in answer._repr_html_()


TWO_MEMORIES = {
    "format": "tessera-problem",
    "version": 1,
    "memories": [{"name": "sram", "capacity": 1000}, {"name": "tcm", "capacity": 500}],
    "buffers": [
        {"id": "a", "size": 100, "lifespans": [[0, 4]], "memory": "sram"},
        {"id": "b", "size": 60, "lifespans": [[2, 6]], "memory": "sram"},
        {"id": "c", "size": 50, "lifespans": [[0, 4]], "memory": "tcm"},
        {"id": "d", "size": 60, "lifespans": [[5, 6]], "memory": "tcm"},
    ],
}


@pytest.mark.parametrize(
    "option, goal, score",
    [
        ("", True, 220),
        ("=sum", "sum", 220),
        ("=relative", "relative", 2),
        ("=tcm", "tcm", 60),
        ("=sram=2,tcm=1", {"sram": 2, "tcm": 1}, 380),
    ],
)
def test_several_memories_have_the_answers_of_the_command(tmp_path, option, goal, score):
    (tmp_path / "two.json").write_text(json.dumps(TWO_MEMORIES))
    placed = tmp_path / "placed.json"
    arguments = [f"--minimize{option}", "--capacity", "sram=200,tcm=60", "--output", placed]
    subprocess.run([COMMAND, "alloc", tmp_path / "two.json", *arguments], check=True)
    problem = ts.Problem.parse(TWO_MEMORIES).with_capacities({"tcm": 60})
    answer = ts.allocate(problem, capacity=200, minimize=goal)
    assert answer.render("json") == placed.read_text()
    assert answer.outcome == "optimal" and answer.score == answer.score_bound == score
    assert answer.peaks == {"sram": ts.MemoryPeak(160, 160), "tcm": ts.MemoryPeak(60, 60)}
    again = pickle.loads(pickle.dumps(answer))
    assert again.peaks == answer.peaks and again.score == score


def test_memories_that_do_not_exist_are_named():
    problem = ts.Problem.parse(TWO_MEMORIES)
    with pytest.raises(ts.BadInput, match="'tcn'") as fault:
        problem.with_capacities({"tcn": 64})
    assert fault.value.hint == "did you mean 'tcm'?"
    with pytest.raises(ts.BadInput, match="'tcn'"):
        ts.allocate(problem, minimize="tcn")
    with pytest.raises(ts.Infeasible):
        ts.allocate(problem.with_capacities({"tcm": 59}))


def test_the_reason_is_not_a_capacity_that_is_not_stated():
    problem = ts.Problem.from_columns([0, 0], [2, 2], [16, 16], offset=[0, 8], capacity=64)
    with pytest.raises(ts.Infeasible, match="offsets and windows leave them 24"):
        ts.allocate(problem, minimize=True, explain=False)


def apart(distance):
    """Judges whether two offsets are that far apart."""

    def judge(at):
        (least_a, most_a), (least_b, most_b) = at
        if least_b - most_a >= distance or least_a - most_b >= distance:
            return True
        return False if max(most_b - least_a, most_a - least_b) < distance else None

    return judge


def test_constraints_of_the_caller():
    problem = ts.Problem.parse("id,lower,upper,size\na,0,4,4\nb,6,9,4\n")
    constrained = problem.with_constraint("apart", ["a", "b"], apart(10), version="1")
    answer = ts.allocate(constrained)
    assert answer.outcome == "optimal" and answer.peak == 14 and answer.check().accepted
    assert ts.allocate(problem).peak == 4
    with pytest.raises(ts.Unsupported, match="apart"):
        constrained.render("json")
    with pytest.raises(ts.BadInput, match="'c'"):
        problem.with_constraint("apart", ["a", "c"], apart(10), version="1")
    with pytest.raises(TypeError):
        problem.with_constraint("apart", ["a", "b"], 7, version="1")

    def fails(at):
        raise ValueError("no such distance")

    with pytest.raises(ts.InternalError, match="no such distance"):
        ts.allocate(problem.with_constraint("fails", ["a"], fails, version="1"))
    with pytest.raises(ts.InternalError, match="True, False or None"):
        ts.allocate(problem.with_constraint("seven", ["a"], lambda at: 7, version="1"))


def test_constraints_may_outlive_their_problem_in_threads():
    problem = ts.Problem.parse("id,lower,upper,size\na,0,4,4\nb,6,9,4\n")
    with ThreadPoolExecutor(4) as pool:
        calls = [
            pool.submit(
                lambda distance: ts.allocate(
                    problem.with_constraint("apart", ["a", "b"], apart(distance), version="1")
                ).peak,
                distance,
            )
            for distance in range(4, 24)
        ]
        assert [call.result() for call in calls] == [distance + 4 for distance in range(4, 24)]
