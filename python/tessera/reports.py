# SPDX-License-Identifier: Apache-2.0
"""Answers that are plain values: they can be compared, pickled and printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Progress(str):
    """A report of long work: a line for people, with the same for programs.

    phase: what is counted ("intervals", "pairs", "peak", ..)
    done, total: of the phase; a total of 0 is not known
    incumbent: the score of the best answer so far, or None
    bound: proven, no answer has a lower score, for the network in the form that is searched at
        that time; or None
    """

    phase: str
    done: int
    total: int
    incumbent: float | None
    bound: float | None

    def __new__(
        cls,
        line: str,
        phase: str = "",
        done: int = 0,
        total: int = 0,
        incumbent: float | None = None,
        bound: float | None = None,
    ) -> Progress:
        progress = super().__new__(cls, line)
        progress.phase = phase
        progress.done = done
        progress.total = total
        progress.incumbent = incumbent
        progress.bound = bound
        return progress


@dataclass(frozen=True)
class CheckReport:
    """The result of a check by code that shares nothing with the search."""

    accepted: bool  # checked in full, and nothing is wrong
    findings: list[str]  # what is wrong
    open: str  # why it is neither accepted nor refused


@dataclass(frozen=True)
class ExecuteReport(CheckReport):
    """The same for a plan that ran on memories whose bytes know their contents."""

    tiles: int
    steps: int
    operators: int  # executions
    transfers: int
    bytes_moved: int
    cells_checked: int


@dataclass(frozen=True)
class CertificateReport(CheckReport):
    """The same for a proof."""

    claim: str  # what is proven: "nothing fits into 11 bytes"; empty unless accepted


@dataclass(frozen=True)
class Explanation:
    """Why buffers do not fit (docs/reasons.md)."""

    outcome: str  # "infeasible": the rest explains it; "feasible": all fits; "unknown"
    summary: str  # in one sentence
    conditions: list[str]  # that cannot hold together
    minimal: bool  # without any one of them the others can
    changes: list[str]  # single changes that make everything fit; each was tried
    all_tried: bool  # other changes of these kinds are proven not to help


@dataclass(frozen=True)
class Tile:
    """One tile shape under one policy, or one tile candidate of a problem."""

    shape: str  # "1x24x7x56" elements, or the name of the candidate
    policy: str  # empty for a candidate
    outcome: str  # "optimal", "feasible": it fits; "infeasible": proven not to; "unknown"
    is_corner: bool  # it fits, and no known shape that contains it does
    is_proven_corner: bool  # no such shape exists
    tiles: int  # that cover the output; 0 for a candidate
    lower_bound: int  # bytes; no placement has a lower peak
    peak: int | None  # bytes, of the placement that was found
    latency_cycles: int | None  # of all tiles, where it fits; not of candidates
    energy_pj: float | None
    off_chip_bytes: int | None
    reason: str  # why it does not fit, or is not known to


@dataclass(frozen=True)
class TileAnswer:
    """The largest tiles that fit."""

    outcome: str  # "feasible": some tile fits; "infeasible": proven that none does; "unknown"
    tiles: list[Tile]  # the corners; the one tile asked about; or all
    largest: str  # the shape with most elements that fits; empty: none
    largest_is_proven: bool  # no larger one fits
    explanation: list[str]  # why the smallest of the larger tiles does not fit
    text: str  # the answer as `tessera tile` prints it
    json: str  # the same with --format json
    stopped: bool  # a deadline, a memory limit or a cancellation cut it off

    @classmethod
    def _of(cls, answer: dict[str, Any]) -> TileAnswer:
        tiles = [Tile(**tile) for tile in answer.pop("tiles")]
        return cls(tiles=tiles, **answer)


@dataclass(frozen=True)
class MemoryModes:
    """The modes of one memory."""

    memory: str
    keep: list[str]
    remove: list[str]
    frees: list[str]  # accesses that only removed modes allow: "dma.read of bank 1"


@dataclass(frozen=True)
class ModesAnswer:
    """The modes of its banks that a chip does not need (docs/modes.md)."""

    # "optimal": fewer are proven not to be enough; "feasible"; "infeasible"; "unknown"
    outcome: str
    memories: list[MemoryModes]
    reduced: str  # the profile, or the last problem, without the removed modes, as JSON
    text: str  # the answer as `tessera modes` prints it
    json: str  # the same with --format json
    stopped: bool  # a deadline, a memory limit or a cancellation cut it off
