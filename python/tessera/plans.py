# SPDX-License-Identifier: Apache-2.0
"""Plans: subgraphs, tiles, and the address of every buffer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from . import _native
from .errors import raise_no_answer
from .inputs import Path, Profile
from .options import fill, native, path_of
from .reports import CheckReport, ExecuteReport, Progress
from .tables import Table, shown

if TYPE_CHECKING:
    import pandas


class Total(NamedTuple):
    """A metric of a plan."""

    metric: str
    unit: str
    value: float
    lower_bound: float  # no plan for this network and profile is below it


class Subgraph(NamedTuple):
    """Operators that run together on tiles of their last output."""

    operators: tuple[str, ...]  # in the order in which they run
    tile: tuple[int, ...]  # extents of that output, in elements
    tiles: int  # that cover it
    policy: str  # how weights, halo rows and transfers are held: "resident, in place"
    latency_cycles: int
    energy_pj: float
    off_chip_bytes: int
    peak_bytes: int  # in the tile memory
    macs: int
    bound_by: str  # "compute", the link that takes longest, or "several"


class Buffer(NamedTuple):
    """A buffer in the tile memory."""

    name: str
    offset: int  # bytes
    size: int  # bytes
    steps: tuple[tuple[int, int], ...]  # half-open ranges in which it lives


class Totals(Mapping[str, float]):
    """The value of each metric of a plan, by name, in the units of `table`."""

    __slots__ = ("table", "_values")

    def __init__(self, rows: list[Total]) -> None:
        self.table = Table(Total, rows)
        self._values = {row.metric: row.value for row in rows}

    def __getitem__(self, metric: str) -> float:
        return self._values[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Totals({self._values})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Totals, (list(self.table),)

    def to_pandas(self) -> pandas.DataFrame:
        """Values, units and lower bounds, with a row for each metric; needs pandas."""
        return self.table.to_pandas().set_index("metric")

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


class Plan:
    """A plan that independent code has accepted. It never changes."""

    def __init__(self, native: _native.Plan) -> None:
        """For this package; others call `tessera.plan`, `load` or `parse`."""
        self._native = native

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Reads a plan in JSON as `save` writes it. It is not checked: see `check`."""
        return cls(_native.Plan.load(path_of(path)))

    @classmethod
    def parse(cls, json: str, name: str = "plan.json") -> Plan:
        """The same from a text. `name` is for messages."""
        return cls(_native.Plan.parse(json, name))

    @property
    def outcome(self) -> str:
        """"optimal": no plan has a better score, within what `proof` states; else "feasible"."""
        return "optimal" if self._native.is_optimal else "feasible"

    @property
    def stopped(self) -> bool:
        """Whether a deadline, a memory limit or a cancellation cut its search off."""
        return self._native.is_cut_off

    @property
    def score(self) -> float:
        """The value of the one metric that was minimised; of a mean, 1.0 is ideal."""
        return self._native.score

    @property
    def bound(self) -> float:
        """No plan has a lower score."""
        return self._native.bound

    @cached_property
    def totals(self) -> Totals:
        """The metrics of the whole plan: `totals["latency"]` is in cycles."""
        return Totals([Total(*row) for row in self._native.metrics()])

    @cached_property
    def subgraphs(self) -> Table[Subgraph]:
        """The subgraphs, in the order in which they run."""
        return Table(Subgraph, (Subgraph(*row) for row in self._native.subgraphs()))

    @cached_property
    def buffers(self) -> Table[Buffer]:
        """The buffers in the tile memory, with addresses in bytes."""
        return Table(Buffer, (Buffer(*row) for row in self._native.buffers()))

    @property
    def notes(self) -> list[str]:
        """What a reader should know: caps of the search, and what the import left out."""
        return self._native.notes

    @property
    def proof(self) -> list[str]:
        """What is proven of a plan that is not optimal, and what the proof leaves out."""
        return self._native.proof

    def render(self, format: str) -> str:
        """The plan as "json", "html", "svg", "h", "trace", "csv" (its tiles) or "txt"."""
        return self._native.render(format)

    def save(self, path: Path) -> None:
        """Writes it in the format of the suffix: .json, .html, .svg, .csv, .trace, .h or .txt.

        The file is replaced in one step. Raises BadInput for another suffix.
        """
        self._native.save(path_of(path))

    def difference(self, other: Plan) -> dict[str, Any]:
        """What changes from this plan to the other one, and what it costs.

        It is the document of `tessera diff --format json`. The plans are not checked.
        """
        texts = _native.difference(self._native, native(other, Plan, "other"))
        changes: dict[str, Any] = json.loads(texts[1])
        return changes

    def check(
        self,
        *,
        execute: bool = False,
        search: bool = True,
        timeout: float | None = None,
        threads: int = 1,
    ) -> CheckReport:
        """Checks everything that the plan states, by code that shares nothing with the search.

        Args:
            execute: run the plan too, on memories whose bytes know their contents.
            search: make the plan again, to compare status, bound and baseline.
            timeout: seconds.
        """
        options = fill(
            _native.CheckOptions(),
            execute=execute,
            search=search,
            timeout_s=timeout,
            threads=threads,
        )
        return CheckReport(**self._native.check(options))

    def execute(self, *, timeout: float | None = None, threads: int = 1) -> ExecuteReport:
        """Runs the plan on memories whose bytes know their contents. `timeout` is in seconds."""
        options = fill(_native.CallOptions(), timeout_s=timeout, threads=threads)
        return ExecuteReport(**self._native.execute(options))

    def __repr__(self) -> str:
        score = shown(self.score)
        return f"<Plan: {self.outcome}, {len(self.subgraphs)} subgraphs, score {score}>"

    def _repr_html_(self) -> str:
        return (
            f"<p>{escape(self.outcome)} plan, score {shown(self.score)}, "
            f"lower bound {shown(self.bound)}</p>{self.totals._repr_html_()}"
            f"<details><summary>{len(self.subgraphs)} subgraphs</summary>"
            f"{self.subgraphs._repr_html_()}</details>"
            f"<details><summary>memory map</summary>{self.render('svg')}</details>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan.parse, (self.render("json"),)


def evaluate(
    plan: str | Plan,
    *,
    profile: Profile | None = None,
    costs: str = "",
    move: bool = False,
    explain: bool = True,
    name: str = "plan.json",
    timeout: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> Plan:
    """Completes, prices and checks a plan in JSON that was edited.

    Of the text count network, profile, objective, and of each subgraph its operators, tile and
    policies; a buffer with an "offset" stays there. The rest may be left out.

    Args:
        plan: the JSON text, or a plan, whose partition counts.
        profile: the profile, instead of that of the plan.
        costs: CSV of measured tiles, as for `Network.with_costs`.
        move: offsets in the text, in bytes, are tried first, but may change.
        explain: if there is no plan, say which conditions collide.
        timeout: seconds; `budget` is in units of work.
        seed, threads, progress: as for `plan`.

    Raises Infeasible, Unknown or another NoAnswer with `findings`, or BadInput.
    """
    options = fill(
        _native.EvaluateOptions(),
        costs=costs,
        move=move,
        explain=explain,
        timeout_s=timeout,
        budget=budget,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    text = plan.render("json") if isinstance(plan, Plan) else plan
    if not isinstance(text, str):
        raise TypeError(f"plan must be JSON or a tessera.Plan, not {plan!r:.60}")
    other = None if profile is None else native(profile, Profile, "profile")
    answer = _native.evaluate(text, options, other, name)
    if answer["plan"] is None or answer["findings"]:
        raise_no_answer(answer)
    return Plan(answer["plan"])
