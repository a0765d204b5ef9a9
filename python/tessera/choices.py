# SPDX-License-Identifier: Apache-2.0
"""Fronts of plans, and the buffers of greatest value that fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

from . import _native
from .allocations import Problem
from .errors import raise_no_answer
from .inputs import Network, Profile
from .options import (
    bad_option,
    fill,
    integer,
    integer_or_none,
    native,
    numbers,
    off_chip_of,
    transfers_of,
)
from .plans import Plan
from .reports import Progress


class FrontPoint(NamedTuple):
    """A plan of a front; `plan(minimize=metric, limits=limits)` finds it again."""

    metric: str
    limits: dict[str, float]
    plan: Plan


@dataclass(frozen=True)
class Front:
    """Plans of which none is better than another in latency, energy, off-chip bytes and peak."""

    points: list[FrontPoint]  # by latency, ascending
    searches: int
    complete: bool  # no remaining search could find a plan far from these
    stopped: bool  # a deadline, a memory limit or a cancellation cut it off
    text: str  # a table

    def __str__(self) -> str:
        return self.text


def find_front(
    network: Network,
    profile: Profile,
    *,
    limits: Mapping[str, float] | None = None,
    most_searches: int = 24,
    max_operators: int | None = None,
    keep_order: bool = False,
    keep_boundaries: bool = True,
    transfers: str = "program",
    off_chip: str = "whole",
    constraints: str = "",
    timeout: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> Front:
    """Plans of which none is better than another in latency, energy, off-chip bytes and peak.

    Args:
        limits: the greatest allowed values of metrics, for all plans.
        most_searches: that look for plans between the best of each metric.

    The rest is as for `plan`. Raises Infeasible, Unknown or another NoAnswer if there is no plan.
    """
    options = fill(
        _native.PlanOptions(),
        limits=numbers(limits or {}, "limits"),
        max_operators=max_operators,
        keep_order=keep_order,
        keep_boundaries=keep_boundaries,
        transfers=transfers_of(transfers),
        off_chip=off_chip_of(off_chip),
        constraints=constraints,
        timeout_s=timeout,
        budget=budget,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    searches = integer(most_searches, "most_searches")
    if not 1 <= searches < 2**31:
        raise bad_option("most_searches", "1 to 2^31 - 1", searches)
    answer = _native.find_front(
        native(network, Network, "network"),
        native(profile, Profile, "profile"),
        options,
        searches,
    )
    if not answer["points"]:
        raise_no_answer(answer)
    points = [FrontPoint(metric, dict(most), Plan(plan)) for metric, most, plan in answer["points"]]
    return Front(
        points, answer["searches"], answer["complete"], answer["stopped"], answer["text"]
    )


@dataclass(frozen=True)
class Choice:
    """The buffers of greatest value that fit."""

    outcome: str  # "optimal": none is worth more; "feasible": one may be, up to `bound`
    value: int  # of what is placed
    bound: int  # no choice that fits is worth more
    offsets: dict[str, int]  # bytes, of the buffers that are placed
    fallbacks: dict[str, dict[str, Any]]  # "memory", "size" and "offset" of what replaces buffers
    left_out: list[str]
    engine: str  # that placed them
    stopped: bool
    text: str  # in a few lines

    def __str__(self) -> str:
        return self.text


def choose(
    problem: Problem,
    *,
    capacity: int | None = None,
    timeout: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> Choice:
    """The buffers of greatest `value` that fit, and all that state none (docs/choose.md).

    Args:
        capacity: of the first memory, in bytes; without it the problem's.

    The rest is as for `allocate`. Raises Infeasible if the buffers without a value do not fit,
    Unknown or another NoAnswer, or BadInput.
    """
    options = fill(
        _native.ChooseOptions(),
        capacity=integer_or_none(capacity, "capacity"),
        timeout_s=timeout,
        budget=budget,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    answer = _native.choose(native(problem, Problem, "problem"), options)
    if answer["outcome"] not in ("optimal", "feasible"):
        raise_no_answer(answer)
    document: dict[str, Any] = json.loads(answer["json"])
    return Choice(
        answer["outcome"],
        answer["value"],
        answer["bound"],
        document["offsets"],
        document.get("fallbacks", {}),
        document["left_out"],
        answer["engine"],
        answer["stopped"],
        answer["text"],
    )
