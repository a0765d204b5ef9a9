# SPDX-License-Identifier: Apache-2.0
"""Metrics of many similar networks on the same profiles, for search loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

from . import _native
from .inputs import Network, Profile
from .options import fill, numbers, transfers_of
from .sessions import SessionCounts, weights_of

Limits = Union[Mapping[str, float], Sequence[Mapping[str, float]]]


@dataclass(frozen=True)
class Evaluation:
    """What is known of the plans of a network on one profile."""

    outcome: str  # "optimal", "feasible", "infeasible" (proven), "unknown" or "unsupported"
    metrics: dict[str, float] = field(default_factory=dict)  # of the plan; empty: there is none
    bounds: dict[str, float] = field(default_factory=dict)  # no plan has lower metrics
    reason: str = ""  # why there is no plan
    searched: bool = False  # False: bounds decided, or another profile did
    stopped: bool = False  # a deadline, a memory limit or a cancellation cut the search off

    def __bool__(self) -> bool:
        """Whether there is a plan."""
        return bool(self.metrics)


class Evaluator:
    """Evaluates networks that a search loop proposes (docs/library.md, "Evaluators").

    The answers are those of `plan` and of lower bounds. What it keeps between calls changes their
    time only. Threads may share it. It stays in its process: pickle refuses it.
    """

    def __init__(
        self,
        profiles: Profile | Sequence[Profile],
        *,
        minimize: str | Mapping[str, float] = "latency",
        limits: Mapping[str, float] | None = None,
        max_operators: int | None = None,
        keep_order: bool = False,
        keep_boundaries: bool = True,
        transfers: str = "program",
        budget: int | None = None,
        seed: int = 0,
        threads: int = 1,
        most_bytes: int = 512 << 20,
    ) -> None:
        """The options are those of `plan`, for every network.

        `most_bytes` is about what it keeps between calls. Raises BadInput.
        """
        options = fill(
            _native.PlanOptions(),
            minimize=weights_of(minimize),
            limits=numbers(limits or {}, "limits"),
            max_operators=max_operators,
            keep_order=keep_order,
            keep_boundaries=keep_boundaries,
            transfers=transfers_of(transfers),
            budget=budget,
            seed=seed,
        )
        some = [profiles] if isinstance(profiles, Profile) else list(profiles)
        self._threads = threads
        self._native = _native.Evaluator([each._native for each in some], options, most_bytes)

    def evaluate(
        self,
        network: Network,
        *,
        timeout: float | None = None,
        memory_limit: int | None = None,
        canceller: _native.Canceller | None = None,
    ) -> list[Evaluation]:
        """The metrics of the plans that `plan` gives, in the order of the profiles.

        An evaluation without a plan is no exception. Raises BadInput.
        """
        call = self._call(timeout, memory_limit, canceller)
        return [Evaluation(*row) for row in self._native.evaluate(network._native, call)]

    def evaluate_at_most(
        self,
        network: Network,
        limits: Limits,
        *,
        timeout: float | None = None,
        memory_limit: int | None = None,
        canceller: _native.Canceller | None = None,
    ) -> list[Evaluation]:
        """The same for plans that keep limits: for all profiles, or a mapping for each of them.

        A limit that a lower bound exceeds ends the call without a search, and a profile without a
        plan ends it too: the evaluations of the profiles behind it are "unknown". Raises BadInput.
        """
        each = [limits] if isinstance(limits, Mapping) else limits
        call = self._call(timeout, memory_limit, canceller)
        rows = self._native.evaluate_at_most(
            network._native, [numbers(some, "limits") for some in each], call
        )
        return [Evaluation(*row) for row in rows]

    def counts(self) -> SessionCounts:
        """What it knew, and what it keeps."""
        return SessionCounts(**self._native.counts())

    def _call(
        self,
        timeout: float | None,
        memory_limit: int | None,
        canceller: _native.Canceller | None,
    ) -> _native.CallOptions:
        call = _native.CallOptions()
        call.threads = self._threads
        fill(call, timeout_s=timeout, memory_limit=memory_limit, canceller=canceller)
        return call

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("an evaluator stays in its process; make one in each")
