# SPDX-License-Identifier: Apache-2.0
"""Questions about tiles, modes of memories, and buffers that do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _native
from .allocations import Allocation, Problem
from .errors import raise_no_answer
from .inputs import Network, Profile
from .options import fill, integer_or_none, native
from .plans import Plan
from .reports import Explanation, MemoryModes, ModesAnswer, TileAnswer


def make_problem(
    network: Network, profile: Profile, *, operators: str = "", tile: str = "", policy: str = ""
) -> Problem:
    """The buffers of one tile in the tile memory of the profile, as a Problem.

    Args:
        network: the network whose operators form one subgraph.
        operators: "conv1..conv3" or "0..2", both ends included; empty: all.
        tile: of the last operator's output, in elements: "7x56"; empty: all of it.
        policy: "resident, in place"; empty: what the profile prefers.
    """
    problem = _native.make_problem(
        native(network, Network, "network"),
        native(profile, Profile, "profile"),
        operators,
        tile,
        policy,
    )
    return Problem(problem)


def find_candidates(
    problem: Problem,
    *,
    all: bool = False,
    explain: bool = True,
    timeout: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> TileAnswer:
    """The largest tile candidates of a problem that fit.

    Args:
        all: the answer has every candidate that was considered.
        explain: say why the next larger candidate does not fit.
        timeout: seconds; `budget` is of work for each question to an engine.
        seed, threads: as for `plan`.
    """
    options = fill(
        _native.TileOptions(),
        all=all,
        explain=explain,
        timeout_s=timeout,
        budget=budget,
        seed=seed,
        threads=threads,
    )
    return TileAnswer._of(_native.find_candidates(native(problem, Problem, "problem"), options))


def explain(
    problem: Problem,
    *,
    capacity: int | None = None,
    timeout: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Explanation:
    """The few conditions that collide, and changes that would help.

    Args:
        capacity: of the first memory, in bytes; without it the problem's.
        timeout: seconds; `budget` is of work for each question to an engine.
        seed, threads: as for `plan`.
    """
    options = fill(
        _native.AllocateOptions(),
        capacity=integer_or_none(capacity, "capacity"),
        timeout_s=timeout,
        budget=budget,
        seed=seed,
        threads=threads,
    )
    return Explanation(**_native.explain(native(problem, Problem, "problem"), options))


def modes(
    given: Sequence[Plan] | Sequence[Problem],
    *,
    timeout: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> ModesAnswer:
    """The fewest modes of banks with which all these plans, or problems, can still be placed.

    Args:
        given: plans of one profile, or problems with the same memories.
        timeout: seconds; `budget` is of work for each question to an engine.
        seed, threads: as for `plan`.
    """
    options = fill(
        _native.SearchOptions(), timeout_s=timeout, budget=budget, seed=seed, threads=threads
    )
    plans = [one._native for one in given if isinstance(one, Plan)]
    problems = [one._native for one in given if isinstance(one, Problem)]
    answer: dict[str, Any]
    if problems and not plans:
        answer = _native.modes_of_problems(problems, options)
    elif len(plans) == len(given):
        answer = _native.modes_of_plans(plans, options)
    else:
        raise TypeError("modes needs plans, or problems")
    memories = [MemoryModes(**memory) for memory in answer.pop("memories")]
    return ModesAnswer(memories=memories, **answer)


def decode(problem: Problem, formula: str, output: str) -> Allocation:
    """The allocation in the output of a solver for `problem.encode(...)`, checked.

    The solver is not trusted: a model that breaks the formula raises BadInput. A claim that nothing
    fits comes without a proof and raises Unknown.
    """
    answer = _native.decode(native(problem, Problem, "problem"), formula, output)
    if answer["allocation"] is None:
        raise_no_answer(answer)
    return Allocation(problem, answer)
