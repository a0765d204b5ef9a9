"""Explorations of hardware (docs/explore.md), in this process' machine or on dask workers."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any

from .inputs import Path
from .pieces import find_command, plan_pieces, run_command


@dataclass(frozen=True)
class Exploration:
    """The document of `tessera explore export --canonical`."""

    document: dict[str, Any]
    failed: list[str] = field(default_factory=list)  # pairs that two attempts did not answer

    @property
    def fronts(self) -> dict[str, Any]:
        """The points of each front, by network; None is that of the set."""
        fronts: dict[str, Any] = self.document["fronts"]
        return fronts

    def save(self, path: Path) -> None:
        """Writes the document as JSON."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.document, file)


def explore(
    spec: Path,
    *,
    store: Path | None = None,
    client: Any = None,
    pieces: int | None = None,
    threads: int = 1,
    command: str | None = None,
) -> Exploration:
    """Explores a specification, and gives the document of the command, byte for byte.

    Args:
        spec: the YAML file. Workers read it, and the files that it names, under the same paths.
        store: a SQLite file that keeps answers; without it nothing is kept.
        client: a `distributed.Client`. Its workers plan the pieces; a piece whose worker dies is
            given to another one. Each attempt has a store of its own, which travels as bytes.
        pieces: how many; four for each worker are usual.
        threads: of each process.
        command: the program `tessera`; without it, the one on the path.

    Raises:
        BadInput: the specification is wrong.
        Stopped: a process was interrupted.
        Error: a process ended in another way.
    """
    program = find_command(command)
    path = os.path.abspath(os.fspath(spec))
    with tempfile.TemporaryDirectory(prefix="tessera") as folder:
        kept = os.path.join(folder, "all.db") if store is None else os.path.abspath(store)
        if client is None:
            run_command([program, "explore", path, "--store", kept, "--threads", str(threads)])
        else:
            plan_pieces(client, path, kept, pieces=pieces, threads=threads, command=program)
        text = run_command([program, "explore", "export", kept, "--json"])
    document = json.loads(text)
    failed = [
        f"{pair['network']} on point {pair['point']}: {answer['reason']}"
        for pair in document["pairs"]
        for answer in pair.get("answers", ())
        if answer["outcome"] == "failed"
    ]
    return Exploration(document, failed)
