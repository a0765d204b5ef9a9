# SPDX-License-Identifier: Apache-2.0
"""Searches over hardware: which profiles of a space are best for some networks."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

from . import _native
from .errors import BadInput, Stopped
from .options import bad_option, fill, json_of, path_of
from .pieces import find_command, plan_pieces
from .reports import Progress

if TYPE_CHECKING:
    import pandas


class Exploration:
    """The answer to a specification. `str()` is the text that `tessera explore` prints."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self._answer = dict(answer)
        self.document: dict[str, Any] = json.loads(answer["json"])  # docs/explore.md

    @property
    def fronts(self) -> dict[str, list[dict[str, Any]]]:
        """By network, the points of its front: `point`, `minimized` and `values` of the objectives.

        Empty for an answer to `relax` or `least`.
        """
        fronts: dict[str, list[dict[str, Any]]] = self.document.get("fronts", {})
        return fronts

    @property
    def failed(self) -> list[str]:
        """Pairs that two attempts did not answer."""
        return [
            f"{pair['network']} on point {pair['point']}: {answer['reason']}"
            for pair in self.document.get("pairs", ())
            for answer in pair.get("answers", ())
            if answer["outcome"] == "failed"
        ]

    @property
    def rows(self) -> list[dict[str, str]]:
        """Each plan, and each pair without one, as the columns of `tessera explore export --csv`."""
        return list(csv.DictReader(io.StringIO(self._answer["csv"])))

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a DataFrame with numbers; needs pandas."""
        import pandas

        return pandas.read_csv(io.StringIO(self._answer["csv"]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as the suffix says: .json; with fronts also .csv, or .html, a page."""
        place = pathlib.Path(os.fsdecode(path_of(path)))
        kind = place.suffix.removeprefix(".")
        if kind not in ("json", "csv", "html") or not self._answer[kind]:
            raise bad_option("path", "a name that ends in .json, or in .csv or .html for an answer "
                             "with fronts", path)
        try:
            place.write_text(self._answer[kind], encoding="utf-8")
        except OSError as error:
            reason = error.strerror or str(error)
            raise BadInput(f"cannot write '{place}': {reason}", message=reason) from error

    def __str__(self) -> str:
        text: str = self._answer["text"]
        return text

    def __repr__(self) -> str:
        return f"Exploration({self.document['format']})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def explore(
    specification: str | os.PathLike[str] | Mapping[str, Any],
    *,
    store: str | os.PathLike[str] | None = None,
    exhaustive: bool = False,
    relax: bool = False,
    least: str = "",
    marginal: bool = False,
    uncertainty: float = 0.0,
    adaptive: float | None = None,
    timeout: float | None = None,
    memory_limit: int | None = None,
    threads: int = 1,
    canceller: _native.Canceller | None = None,
    progress: Callable[[Progress], None] | None = None,
    client: Any = None,
    pieces: int | None = None,
    command: str | None = None,
) -> Exploration:
    """The hardware of a space that is best for some networks (docs/explore.md).

    Args:
        specification: the path of a YAML file, or its content as a mapping. Files that a mapping
            names are relative to the working directory.
        store: an SQLite file that keeps all answers. A call that was interrupted goes on there.
        exhaustive: plan every pair, whatever is proven of it.
        relax: say what each restriction and each mode of the base profiles costs; no fronts.
        least: find the least value of this entry, as "memories.sram.capacity_bytes", with which the
            networks keep their limits; no fronts.
        marginal: say what a step of each axis changes along the fronts.
        uncertainty: say which points stay on the fronts if areas are wrong by up to this fraction.
        adaptive: plan this share of the pairs at most.
        timeout: seconds.
        memory_limit: bytes that the process holds.
        threads: that plan at once; no answer depends on them.
        canceller: its `cancel()` ends the call from another thread. Ctrl-C cancels it too.
        progress: receives each Progress, from any thread. An exception that it raises ends the call.
        client: a `distributed.Client`. Its workers plan the pieces of a specification in a file,
            which they read under the same path; a piece whose worker dies is given to another one.
            Workers plan for fronts, without limits: `relax`, `least`, `adaptive`, `timeout`,
            `memory_limit` and `canceller` are refused. `progress` tells which pieces are done.
        pieces: how many; four for each worker are usual.
        command: the program `tessera` of the workers; without it, the one on the path.

    Raises:
        BadInput: the specification, a file that it names, or an option is wrong.
        Stopped: the timeout or a cancellation came first.
    """
    if client is not None:
        if isinstance(specification, Mapping):
            raise ValueError("workers read a specification from a file, and this is a mapping")
        for name, is_given in {
            "relax": relax,
            "least": least != "",
            "adaptive": adaptive is not None,
            "timeout": timeout is not None,
            "memory_limit": memory_limit is not None,
            "canceller": canceller is not None,
        }.items():
            if is_given:
                raise ValueError(f"workers of a client do not know {name!r}; call explore without "
                                 "a client")
        with tempfile.TemporaryDirectory(prefix="tessera") as folder:
            path = os.path.abspath(os.fspath(specification))
            kept = os.path.join(folder, "all.db") if store is None else os.path.abspath(store)
            plan_pieces(client, path, kept, pieces=pieces, threads=threads, exhaustive=exhaustive,
                        progress=progress, command=find_command(command))
            return explore(
                path, store=kept, exhaustive=exhaustive, marginal=marginal,
                uncertainty=uncertainty, threads=threads, progress=progress,
            )
    options = fill(
        _native.ExploreOptions(),
        store="" if store is None else os.fspath(store),
        exhaustive=exhaustive,
        relax=relax,
        least=least,
        marginal=marginal,
        uncertainty=uncertainty,
        adaptive=adaptive,
        timeout_s=timeout,
        memory_limit=memory_limit,
        threads=threads,
        canceller=canceller,
        progress=progress,
    )
    if isinstance(specification, Mapping):
        answer = _native.explore(json_of(specification), True, options)
    else:
        answer = _native.explore(os.fspath(specification), False, options)
    if answer["stopped"]:
        text = "the exploration was stopped before its end"
        raise Stopped(text, message=text, hint="with a store, the same call goes on from here")
    return Exploration(answer)
