"""Explorations of hardware (docs/explore.md), in this process' machine or on dask workers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import Any

from .errors import BadInput, Error, Stopped
from .inputs import Path

_INCOMPLETE = 11  # an answer, but pairs failed
_DONE = (0, 10, _INCOMPLETE, 20)  # an exploration without a plan is an answer too
_DONE_PIECE = (0, _INCOMPLETE)  # 10 is the end of memory


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
    program = command or shutil.which("tessera") or "tessera"
    path = os.path.abspath(os.fspath(spec))
    with tempfile.TemporaryDirectory(prefix="tessera") as folder:
        kept = os.path.join(folder, "all.db") if store is None else os.path.abspath(store)
        if client is None:
            _run([program, "explore", path, "--store", kept, "--threads", str(threads)])
        else:
            _merge_pieces(client, program, path, kept, folder, pieces, threads)
        text = _run([program, "explore", "export", kept, "--json"])
    document = json.loads(text)
    failed = [
        f"{pair['network']} on point {pair['point']}: {answer['reason']}"
        for pair in document["pairs"]
        for answer in pair.get("answers", ())
        if answer["outcome"] == "failed"
    ]
    return Exploration(document, failed)


def _merge_pieces(
    client: Any,
    program: str,
    spec: str,
    kept: str,
    folder: str,
    pieces: int | None,
    threads: int,
) -> None:
    count = pieces or max(1, 4 * len(client.scheduler_info()["workers"]))
    futures = [
        client.submit(
            explore_piece, program, spec, f"{index}/{count}", threads, pure=False, retries=2
        )
        for index in range(1, count + 1)
    ]
    stores = []
    for index, data in enumerate(client.gather(futures), start=1):
        stores.append(os.path.join(folder, f"{index}.db"))
        with open(stores[-1], "wb") as file:
            file.write(data)
    _run([program, "explore", "merge", *stores, "--output", kept, "--threads", str(threads)])


def explore_piece(program: str, spec: str, piece: str, threads: int) -> bytes:
    """A store with the answers of a piece. A process that ends is started again, twice."""
    with tempfile.TemporaryDirectory(prefix="tessera") as folder:
        store = os.path.join(folder, "piece.db")
        arguments = [program, "explore", spec, "--shard", piece, "--store", store]
        for left in (2, 1, 0):
            try:
                _run([*arguments, "--threads", str(threads)], _DONE_PIECE)
                break
            except (BadInput, Stopped):
                raise
            except Error:
                if left == 0:
                    raise
        with open(store, "rb") as file:
            return file.read()


def _run(arguments: list[str], done_codes: tuple[int, ...] = _DONE) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode in done_codes:
        return done.stdout
    if done.returncode in (2, 3):
        raise BadInput(done.stderr.strip(), message=done.stderr.strip())
    if done.returncode == 130:
        raise Stopped(done.stderr.strip(), message="interrupted")
    raise Error(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
