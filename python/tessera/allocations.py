# SPDX-License-Identifier: Apache-2.0
"""Addresses for buffers with lifespans, without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from . import _native
from .inputs import Path, Profile
from .options import bad_option, fill, integer, integer_or_none, json_of, mapping, native, path_of
from .reports import CertificateReport, CheckReport

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    Integers = numpy.typing.NDArray[numpy.integer[Any]]


class Problem:
    """Buffers, memories, and what placements must keep (docs/problem-format.md)."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Problem) -> None:
        """For this package; others call `load`, `parse` or `from_columns`."""
        self._native = native

    @classmethod
    def load(cls, path: Path, *, format: str = "", lifetimes: str = "") -> Problem:
        """Reads a problem from a file. Raises BadInput.

        Args:
            format: "json", "csv", "trace", "dsa-solver", "executorch" or "tvm" (docs/convert.md);
                empty: the text tells JSON and CSV apart.
            lifetimes: of a CSV: "half-open" (also empty), "inclusive" or "exclusive".
        """
        return cls(_native.Problem.load(path_of(path), format, lifetimes))

    @classmethod
    def parse(
        cls,
        document: str | Mapping[str, Any],
        name: str = "problem",
        *,
        format: str = "",
        lifetimes: str = "",
    ) -> Problem:
        """The same from a text, or from a dictionary. `name` is for messages."""
        text = document if isinstance(document, str) else json_of(document)
        return cls(_native.Problem.parse(text, name, format, lifetimes))

    @classmethod
    def from_columns(
        cls,
        lower: Integers,
        upper: Integers,
        size: Integers,
        *,
        alignment: Integers | None = None,
        offset: Integers | None = None,
        hint: Integers | None = None,
        capacity: int | None = None,
    ) -> Problem:
        """Buffers "b0", "b1", ... in one memory, from integer arrays of shape (n,).

        Args:
            lower, upper: each buffer lives in the steps from lower up to, but without, upper.
            size: bytes, 1 or more.
            alignment: bytes; without it 1.
            offset: fixed addresses in bytes; -1 leaves one free.
            hint: addresses in bytes that are tried first; -1 for none.
            capacity: of the memory, in bytes; without it the memory has no end.

        Arrays of 64-bit integers are read in place if their strides are multiples of 8 bytes;
        others are converted.
        """
        names = ("lower", "upper", "size", "alignment", "offset", "hint")
        for name, column in zip(names, (lower, upper, size, alignment, offset, hint)):
            _refuse_beyond_int64(name, column)
        problem = _native.Problem.from_columns(
            lower, upper, size, alignment, offset, hint, integer_or_none(capacity, "capacity")
        )
        return cls(problem)

    def in_memory_of(self, profile: Profile) -> Problem:
        """The same buffers in the tile memory of the profile, under its rules."""
        return Problem(self._native.in_memory_of(native(profile, Profile, "profile")))

    def with_capacities(self, capacities: Mapping[str, int]) -> Problem:
        """The same buffers in memories of these capacities in bytes; the others keep theirs."""
        named = mapping(capacities, "capacities")
        pairs = [(name, integer(value, name)) for name, value in named.items()]
        return Problem(self._native.with_capacities(pairs))

    def with_constraint(
        self,
        name: str,
        buffers: Sequence[str],
        judge: Callable[[list[tuple[int, int]]], bool | None],
        *,
        version: str,
        unit: int = 1,
    ) -> Problem:
        """The same problem with a restriction on offsets that no rule states.

        Args:
            name: for messages.
            buffers: the ids of those that it judges, each once.
            judge: receives a range (least, greatest) of offsets in bytes for each of them, from
                other threads. It returns True if all offsets in the ranges keep the restriction,
                False if all break it, and None if neither is known, which is only allowed if some
                range has several offsets. It must be pure.
            version: of `judge`, part of the keys of caches.
            unit: offsets that round down to the same multiple are judged alike.

        Only `allocate` and checks of allocations take such a problem (docs/library.md). An
        exception of `judge` ends the call with InternalError.
        """
        if not callable(judge):
            raise TypeError(f"judge must be a function, not {judge!r:.60}")
        constrained = self._native.with_constraint(
            name, version, list(buffers), integer(unit, "unit"), judge
        )
        return Problem(constrained)

    @property
    def candidates(self) -> list[str]:
        """The tile candidates of the file; one must be chosen before buffers are placed."""
        return self._native.candidates

    def at_candidate(self, candidate: str) -> Problem:
        """The problem with the sizes of that tile candidate."""
        return Problem(self._native.at_candidate(candidate))

    @property
    def notes(self) -> list[str]:
        """What the reader of a file left out."""
        return self._native.notes

    def render(self, format: str, *, lifetimes: str = "") -> str:
        """The problem in a format of `load`, or as "tflite-micro". Raises Unsupported.

        `lifetimes` is of a CSV, as for `load`. The text is read back and compared.
        """
        return _native.write_list(self._native, format, lifetimes)

    def statistics(self) -> list[dict[str, Any]]:
        """Figures of each memory: how large, tight and hard the problem is, without a search.

        They are those of `tessera stats --format json`: "load", "density", "hardness", ...
        """
        figures: list[dict[str, Any]] = json.loads(_native.statistics(self._native))["memories"]
        return figures

    def vary(
        self,
        *,
        seed: int = 1,
        fixed: float = 0,
        separated: int = 0,
        penalties: int = 0,
        values: bool = False,
    ) -> Problem:
        """The same buffers with drawn restrictions, as `generate_problem` adds them.

        For `fixed` and `separated` every buffer needs an offset: these are the solution that the
        restrictions agree with, and are freed first.
        """
        wanted = _variations(_native.ListVariations(), seed, fixed, separated, penalties, values)
        return Problem(_native.vary_list(self._native, wanted))

    def encode(
        self,
        format: str = "dimacs",
        *,
        capacity: int | None = None,
        candidate: str = "",
        integers: str = "auto",
    ) -> str:
        """The formula that is satisfiable exactly if everything fits (docs/encode.md).

        Args:
            format: "dimacs", "smtlib" or "text".
            capacity: of the first memory, in bytes; without it the problem's.
            integers: how DIMACS states addresses: "order", "bits" or "auto".
        """
        of_memory = integer_or_none(capacity, "capacity")
        return _native.encode(self._native, format, of_memory, candidate, integers)[0]

    def __len__(self) -> int:
        return self._native.buffer_count

    def __repr__(self) -> str:
        return f"<Problem: {len(self)} buffers>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem.parse, (self._native.render("json"),)


def generate_problem(
    family: str,
    buffers: int = 100,
    *,
    seed: int = 1,
    fixed: float = 0,
    separated: int = 0,
    penalties: int = 0,
    values: bool = False,
    **parameters: int,
) -> Problem:
    """A drawn problem of a family (docs/generate.md). Equal arguments give equal problems.

    Args:
        family: "perfect", "random", "compiler-like", ...
        fixed: the share of the offsets that are fixed to those of a known solution, 0 to 1.
        separated: pairs that must not share addresses, and do not in the known solution.
        penalties: pairs that never live together, for which sharing addresses costs 1.
        values: each buffer has a value, its bytes times 1 to 8.
        parameters: of the family: alive=300, steps=50, ...
    """
    request = _variations(_native.ListRequest(), seed, fixed, separated, penalties, values)
    given = [(name, integer(value, name)) for name, value in parameters.items()]
    fill(request, family=family, buffers=integer(buffers, "buffers"), parameters=given)
    return Problem(_native.generate_list(request))


Variations = TypeVar("Variations", bound="_native.ListVariations")


def _variations(
    request: Variations, seed: int, fixed: float, separated: int, penalties: int, values: bool
) -> Variations:
    return fill(
        request,
        seed=seed,
        fixed_share=fixed,
        separated=integer(separated, "separated"),
        penalties=integer(penalties, "penalties"),
        values=values,
    )


def _refuse_beyond_int64(name: str, column: Any) -> None:
    # The conversion to 64-bit integers with a sign would wrap, and it knows no masks.
    import numpy

    if isinstance(column, numpy.ma.MaskedArray) and bool(numpy.any(column.mask)):
        raise bad_option(name, "an array without masked entries", column)
    array = numpy.asarray(column)
    if array.dtype.kind == "u" and array.size > 0 and int(array.max()) > 2**63 - 1:
        raise bad_option(name, "numbers below 2^63", int(array.max()))


@dataclass(frozen=True)
class MemoryPeak:
    """The peak of one of several memories, in bytes; no placement is below `lower_bound`."""

    peak: int
    lower_bound: int


class Allocation:
    """An address for each buffer of a problem, which independent code has accepted.

    Attributes:
        problem: the problem whose buffers are placed.
        outcome: "optimal": no placement has a lower peak or cost; or "feasible".
        lower_bound: bytes; no placement has a lower peak in the first memory.
        cost: of the placement, where the problem states costs.
        peaks: by the name of the memory, where peaks of several memories were minimised.
        score: their weighted sum; `score_bound` is what no placement undercuts.
        engine: that found it.
        reason: why no better one is known.
        certificate: the proof that nothing fits below the peak, if it was asked for and found.
        stopped: a deadline, a memory limit or a cancellation cut the search off.
    """

    __slots__ = (
        "problem",
        "outcome",
        "lower_bound",
        "cost",
        "peaks",
        "score",
        "score_bound",
        "engine",
        "reason",
        "certificate",
        "stopped",
        "_native",
    )

    def __init__(self, problem: Problem, answer: Mapping[str, Any]) -> None:
        """For this package; others call `tessera.allocate`."""
        self.problem = problem
        self.outcome: str = answer["outcome"]
        self.lower_bound: int = answer["lower_bound"]
        self.cost: int | None = answer["cost"]
        self.peaks = {name: MemoryPeak(*numbers) for name, *numbers in answer["peaks"]}
        self.score: float = answer["score"]
        self.score_bound: float = answer["score_bound"]
        self.engine: str = answer["engine"]
        self.reason: str = answer["reason"]
        self.certificate: Certificate | None = answer["certificate"]
        self.stopped: bool = answer["stopped"]
        self._native: _native.Allocation = answer["allocation"]

    @property
    def offsets(self) -> numpy.typing.NDArray[numpy.int64]:
        """Addresses in bytes, in the order of the buffers: a read-only array of shape (n,)."""
        return self._native.offsets

    @property
    def peak(self) -> int:
        """The bytes that are used of the first memory."""
        return self._native.peak

    def render(self, format: str) -> str:
        """The allocation as "json", "csv" or "svg"."""
        return self._native.render(format)

    def save(self, path: Path) -> None:
        """Writes it in the format of the suffix; the file is replaced in one step."""
        self._native.save(path_of(path))

    def check(self, capacity: int | None = None) -> CheckReport:
        """Checks every requirement of the problem as its definition states it.

        `capacity` is of the first memory, in bytes; without it the allocation's or the problem's.
        """
        return CheckReport(**self._native.check(integer_or_none(capacity, "capacity")))

    def __repr__(self) -> str:
        return f"<Allocation: {self.outcome}, {len(self.problem)} buffers, peak {self.peak} bytes>"

    def _repr_html_(self) -> str:
        return f"<p>{self.outcome}, peak {self.peak:,} bytes</p>{self.render('svg')}"

    def __reduce__(self) -> tuple[Any, ...]:
        rest = ("outcome", "lower_bound", "cost", "score", "score_bound", "engine", "reason", "stopped")
        state: dict[str, Any] = {name: getattr(self, name) for name in rest}
        state["peaks"] = [(name, p.peak, p.lower_bound) for name, p in self.peaks.items()]
        return _restore_allocation, (self.problem, self.render("json"), self.certificate, state)


class Certificate:
    """A proof that buffers do not fit, or that a network has no plan."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Certificate) -> None:
        """For this package; others call `load`."""
        self._native = native

    @classmethod
    def load(cls, folder: Path) -> Certificate:
        """Reads the certificate in a folder (docs/certificate-format.md)."""
        return cls(_native.Certificate.load(path_of(folder)))

    def save(self, folder: Path) -> None:
        """Writes its files into the folder, which is made if there is none."""
        self._native.save(path_of(folder))

    @property
    def files(self) -> dict[str, bytes]:
        """Names, relative to the folder, and contents."""
        return dict(self._native.files)

    def check(self, *, timeout: float | None = None) -> CertificateReport:
        """Checks the proof by code that knows no solver and no search; `timeout` in seconds."""
        options = fill(_native.CallOptions(), timeout_s=timeout)
        return CertificateReport(**self._native.check(options))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_certificate, (self._native.files,)


def _restore_certificate(files: list[tuple[str, bytes]]) -> Certificate:
    return Certificate(_native.Certificate.from_files(files))


def _restore_allocation(
    problem: Problem, json: str, certificate: Certificate | None, state: dict[str, Any]
) -> Allocation:
    native = _native.Allocation.parse(problem._native, json)
    return Allocation(problem, {**state, "allocation": native, "certificate": certificate})
