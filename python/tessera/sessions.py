# SPDX-License-Identifier: Apache-2.0
"""The calls that search: in a session, which keeps what they find out, or without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, overload

from . import _native
from .allocations import Allocation, Certificate, Problem
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
from .reports import Progress, TileAnswer

if TYPE_CHECKING:
    from .allocations import Integers


class _Calls:
    """The calls, in the session that a subclass has."""

    _session: _native.Session | None = None

    def plan(
        self,
        network: Network,
        profile: Profile,
        *,
        minimize: str | Mapping[str, float] = "latency",
        limits: Mapping[str, float] | None = None,
        max_operators: int | None = None,
        keep_order: bool = False,
        keep_boundaries: bool = True,
        transfers: str = "program",
        off_chip: str = "whole",
        constraints: str = "",
        previous: Plan | None = None,
        explain: bool = False,
        certify: bool = False,
        sensitivity: bool = False,
        lowering: bool = False,
        timeout: float | None = None,
        memory_limit: int | None = None,
        budget: int | None = None,
        engine: str = "",
        switched_off: Sequence[str] = (),
        seed: int = 0,
        threads: int = 1,
        canceller: _native.Canceller | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Plan:
        """The best plan that is found for a network on an accelerator.

        Args:
            minimize: a metric, or weights for a mean of metrics, each divided by its lower bound.
                Metrics are "latency" (cycles), "energy" (pJ), "off_chip_bytes", "peak" (bytes),
                "macs", "power" (mW), "bandwidth_peak" and "bandwidth_average" (bytes per cycle),
                "off_chip_peak" (bytes).
            limits: the greatest allowed value of metrics, in their units.
            max_operators: in one subgraph.
            keep_order: run operators in the order of the network.
            keep_boundaries: tensors may stay on chip between subgraphs.
            transfers: "program", where constants may arrive while earlier subgraphs run, or
                "per-subgraph", where they arrive when their subgraph begins.
            off_chip: how tensors outside the tile memory share addresses: "whole", "tile-aware" or
                "paper" (docs/off-chip.md).
            constraints: YAML (docs/constraints.md).
            previous: of equal plans, the one most like it is taken.
            explain: if there is no plan, say which conditions collide; up to 2 s more.
            certify: if there is no plan, prove it.
            sensitivity: notes say whether the choice survives if an energy is halved or doubled.
            lowering: the plan's JSON has what a code generator needs.
            timeout: seconds; the best plan so far is returned.
            memory_limit: bytes that the process holds.
            budget: of work for each question to an engine.
            engine: this engine alone; `switched_off` are rules of engines.
            seed: of the random choices of engines; the same seed gives the same plan.
            threads: that search at once; no answer depends on them.
            canceller: its `cancel()` ends the call from another thread. Ctrl-C cancels it too.
            progress: receives each Progress, from any thread. An exception that it raises ends the
                call.

        Raises:
            Infeasible: proven that there is no plan. `reason` says why.
            Unknown: a limit came first.
            NoAnswer: the profile cannot run the network.
            BadInput: an option is wrong.
        """
        options = fill(
            _native.PlanOptions(),
            minimize=weights_of(minimize),
            limits=numbers(limits or {}, "limits"),
            max_operators=max_operators,
            keep_order=keep_order,
            keep_boundaries=keep_boundaries,
            transfers=transfers_of(transfers),
            off_chip=off_chip_of(off_chip),
            constraints=constraints,
            explain=explain,
            certify=certify,
            sensitivity=sensitivity,
            lowering=lowering,
            timeout_s=timeout,
            memory_limit=memory_limit,
            budget=budget,
            engine=engine,
            switched_off=list(switched_off),
            seed=seed,
            threads=threads,
            canceller=canceller,
            progress=progress,
        )
        older = None if previous is None else native(previous, Plan, "previous")
        answer = _native.plan(
            self._session,
            native(network, Network, "network"),
            native(profile, Profile, "profile"),
            options,
            older,
        )
        if answer["plan"] is None:
            raise_no_answer(_with_certificate(answer))
        return Plan(answer["plan"])

    @overload
    def allocate(
        self,
        lower: Integers,
        upper: Integers,
        size: Integers,
        *,
        alignment: Integers | None = None,
        offset: Integers | None = None,
        hint: Integers | None = None,
        capacity: int | None = None,
        minimize: bool | str | Mapping[str, float] = False,
        gap_percent: float = 0.0,
        explain: bool = True,
        certify: bool = False,
        timeout: float | None = None,
        memory_limit: int | None = None,
        budget: int | None = None,
        engine: str = "",
        switched_off: Sequence[str] = (),
        seed: int = 0,
        threads: int = 1,
        canceller: _native.Canceller | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Allocation: ...

    @overload
    def allocate(
        self,
        lower: Problem,
        *,
        capacity: int | None = None,
        minimize: bool | str | Mapping[str, float] = False,
        gap_percent: float = 0.0,
        explain: bool = True,
        certify: bool = False,
        timeout: float | None = None,
        memory_limit: int | None = None,
        budget: int | None = None,
        engine: str = "",
        switched_off: Sequence[str] = (),
        seed: int = 0,
        threads: int = 1,
        canceller: _native.Canceller | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Allocation: ...

    def allocate(
        self,
        lower: Integers | Problem,
        upper: Integers | None = None,
        size: Integers | None = None,
        *,
        alignment: Integers | None = None,
        offset: Integers | None = None,
        hint: Integers | None = None,
        capacity: int | None = None,
        minimize: bool | str | Mapping[str, float] = False,
        gap_percent: float = 0.0,
        explain: bool = True,
        certify: bool = False,
        timeout: float | None = None,
        memory_limit: int | None = None,
        budget: int | None = None,
        engine: str = "",
        switched_off: Sequence[str] = (),
        seed: int = 0,
        threads: int = 1,
        canceller: _native.Canceller | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Allocation:
        """Places buffers that live at the same step apart: `allocate(lower, upper, size)`.

        Args:
            lower, upper: integer arrays of shape (n,). Buffer i lives in the steps from lower[i] up
                to, but without, upper[i]. Or `lower` is a Problem, and the other arrays are absent.
            size: array of shape (n,), in bytes.
            alignment, offset, hint: arrays of shape (n,), in bytes: see Problem.from_columns.
            capacity: bytes of the (first) memory. Without it, the least peak is looked for.
            minimize: look for the least peak within the capacity, not for any placement. Of several
                memories: True or "sum" is the least sum of their peaks, "relative" that of each
                peak over its lower bound, the name of a memory its peak, and a mapping of names to
                weights above 0 a weighted sum.
            gap_percent: a peak this much above the lower bound is low enough.
            explain: say which conditions collide if nothing fits, and what would help.
            certify: prove that nothing fits, or nothing below the least peak.

        The rest is as for `plan`. Arrays of 64-bit integers are not copied.

        Raises:
            Infeasible: proven that nothing fits. `explanation` says why.
            Unknown: a limit came first.
            NoAnswer: the engine does not support the question.
            BadInput: a number or an option is wrong.
        """
        if isinstance(lower, Problem):
            if any(each is not None for each in (upper, size, alignment, offset, hint)):
                raise TypeError("a Problem has its own sizes and lives: leave the arrays out")
            problem = lower
        elif upper is None or size is None:
            raise TypeError("allocate needs the arrays lower, upper and size, or a Problem")
        else:
            problem = Problem.from_columns(
                lower, upper, size, alignment=alignment, offset=offset, hint=hint, capacity=capacity
            )
        options = fill(
            _native.AllocateOptions(),
            capacity=integer_or_none(capacity, "capacity"),
            minimize=bool(minimize),
            peaks=_peaks(minimize),
            gap_percent=float(gap_percent),
            explain=explain,
            certify=certify,
            timeout_s=timeout,
            memory_limit=memory_limit,
            budget=budget,
            engine=engine,
            switched_off=list(switched_off),
            seed=seed,
            threads=threads,
            canceller=canceller,
            progress=progress,
        )
        answer = _with_certificate(_native.allocate(self._session, problem._native, options))
        if answer["allocation"] is None:
            raise_no_answer(answer)
        return Allocation(problem, answer)

    def find_tiles(
        self,
        network: Network,
        profile: Profile,
        *,
        operators: str = "",
        tile: str = "",
        all: bool = False,
        explain: bool = True,
        timeout: float | None = None,
        memory_limit: int | None = None,
        budget: int | None = None,
        engine: str = "",
        switched_off: Sequence[str] = (),
        seed: int = 0,
        threads: int = 1,
        canceller: _native.Canceller | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> TileAnswer:
        """The largest tiles of some operators that fit (docs/tile.md).

        Args:
            operators: "conv1..conv3" or "0..2", both ends included; empty: all.
            tile: ask about this tile alone, in elements: "7x56", "rows=7,channels=32".
            all: the answer has every shape that was considered.
            explain: say why the next larger tile does not fit.

        The rest is as for `plan`. Raises BadInput.
        """
        options = fill(
            _native.TileOptions(),
            operators=operators,
            tile=tile,
            all=all,
            explain=explain,
            timeout_s=timeout,
            memory_limit=memory_limit,
            budget=budget,
            engine=engine,
            switched_off=list(switched_off),
            seed=seed,
            threads=threads,
            canceller=canceller,
            progress=progress,
        )
        answer = _native.find_tiles(
            self._session,
            native(network, Network, "network"),
            native(profile, Profile, "profile"),
            options,
        )
        return TileAnswer._of(answer)


@dataclass(frozen=True)
class SessionCounts:
    """What a session knew."""

    hits: int  # calls whose answer was known
    misses: int  # calls that searched
    dropped: int  # answers that were given up for lack of space
    bytes: int  # kept answers of calls, about
    known: int  # questions to engines whose answer was known
    asked: int  # questions to engines that were put to them


class Session(_Calls):
    """Calls that share what they find out.

    The methods `plan`, `allocate` and `find_tiles` give the answers of the functions of the same
    names: a session changes the time they take, never the answer. Threads may share it. It stays in
    its process: pickle refuses it.
    """

    _session: _native.Session

    def __init__(self, most_bytes: int = 256 << 20) -> None:
        """`most_bytes` is about what it keeps between calls."""
        self._session = _native.Session(integer(most_bytes, "most_bytes"))

    def counts(self) -> SessionCounts:
        """What it knew, and what it keeps."""
        return SessionCounts(**self._session.counts())

    def clear(self) -> None:
        """Forgets everything."""
        self._session.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a session stays in its process; make one in each")


def weights_of(minimize: str | Mapping[str, float]) -> list[tuple[str, float]]:
    """The weights of metrics that `minimize` states."""
    if isinstance(minimize, str):
        return [(minimize, 1.0)]
    if not isinstance(minimize, Mapping):
        raise TypeError(f"minimize must be a metric or weights of metrics, not {minimize!r}")
    if not minimize:
        raise bad_option("minimize", "a metric or weights of metrics", minimize)
    return numbers(minimize, "minimize")


def _peaks(minimize: bool | str | Mapping[str, float]) -> list[tuple[str, float]]:
    if isinstance(minimize, (str, Mapping)):
        if not minimize:
            raise bad_option("minimize", "the name of a memory, or weights by name", minimize)
        return numbers({minimize: 1.0} if isinstance(minimize, str) else minimize, "minimize")
    if minimize not in (True, False):
        raise TypeError(f"minimize cannot be {minimize!r}")
    return []


def _with_certificate(answer: dict[str, Any]) -> dict[str, Any]:
    if answer["certificate"] is not None:
        answer["certificate"] = Certificate(answer["certificate"])
    return answer


_without_session = _Calls()
plan = _without_session.plan
allocate = _without_session.allocate
find_tiles = _without_session.find_tiles
