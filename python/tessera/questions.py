# SPDX-License-Identifier: Apache-2.0
"""Questions about tiles, modes of memories, measured cycles, and buffers that do not fit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native
from .allocations import Allocation, Problem
from .errors import raise_no_answer
from .inputs import Network, Path, Profile
from .options import fill, integer_or_none, mapping, native, path_of
from .plans import Plan
from .reports import Explanation, MemoryModes, ModesAnswer, TileAnswer


@dataclass(frozen=True)
class ProfileFit:
    """A profile with fitted constants."""

    profile: Profile  # states its error, if that is known
    constants: list[dict[str, Any]]  # "name", "before", "after", "outcome" of each
    # of "before", "after" and "held_out": "median" and "nine_of_ten", as shares of the cycles
    errors: dict[str, dict[str, float]]
    stopped: bool  # a limit came first: these are the best constants so far
    text: str  # the same as a table

    def __str__(self) -> str:
        return self.text


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


def fit_profile(
    profile: Profile,
    measured: Path,
    networks: Mapping[str, Network] | None = None,
    *,
    timeout: float | None = None,
) -> ProfileFit:
    """The profile whose constants come closest to measured cycles (docs/costs.md).

    Args:
        measured: a CSV with the columns network, operators, rows, weights and cycles; or its text,
            if `networks` is given.
        networks: by the names that the CSV states; without them these are files, found from the
            folder of the CSV.
        timeout: seconds; the best constants so far are returned.
    """
    given = native(profile, Profile, "profile")
    if networks is None:
        measurements = _native.Measurements.load(path_of(measured), given)
    else:
        named = [
            (name, native(each, Network, name))
            for name, each in mapping(networks, "networks").items()
        ]
        measurements = _native.Measurements.parse(str(measured), given, named)
    options = fill(_native.CallOptions(), timeout_s=timeout)
    answer = _native.fit_profile(given, measurements, options)
    found: dict[str, Any] = json.loads(answer["json"])
    return ProfileFit(
        profile=Profile._of(answer["profile"]),
        constants=found["constants"],
        errors=found["errors"],
        stopped=answer["stopped"],
        text=answer["text"],
    )


def decode(problem: Problem, formula: str, output: str) -> Allocation:
    """The allocation in the output of a solver for `problem.encode(...)`, checked.

    The solver is not trusted: a model that breaks the formula raises BadInput. A claim that nothing
    fits comes without a proof and raises Unknown.
    """
    answer = _native.decode(native(problem, Problem, "problem"), formula, output)
    if answer["allocation"] is None:
        raise_no_answer(answer)
    return Allocation(problem, answer)
