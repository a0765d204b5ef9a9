# SPDX-License-Identifier: Apache-2.0
"""Pieces of an exploration on dask workers, by the command `tessera`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from typing import Any, Callable

from .errors import BadInput, Error, Stopped
from .inputs import Path
from .reports import Progress

_INCOMPLETE = 11  # an answer, but pairs failed
_DONE = (0, 10, _INCOMPLETE, 20)  # an exploration without a plan is an answer too
_DONE_PIECE = (0, _INCOMPLETE)  # 10 is the end of memory


def find_command(command: str | None = None) -> str:
    """The program: the given one, or the one on the path."""
    return command or shutil.which("tessera") or "tessera"


def plan_pieces(
    client: Any,
    spec: Path,
    store: Path,
    *,
    pieces: int | None = None,
    threads: int = 1,
    exhaustive: bool = False,
    progress: Callable[[Progress], None] | None = None,
    command: str | None = None,
) -> None:
    """Plans the pieces of an exploration on the workers of a client, and merges them into a store.

    The store then holds the document of the whole. `pieces`: how many; four for each worker without
    it. A piece whose worker dies is given to another one. `exhaustive`: every pair is planned.
    `progress` receives a Progress for each piece that is done. Raises as `explore`.
    """
    program = find_command(command)
    path = os.path.abspath(os.fspath(spec))
    with tempfile.TemporaryDirectory(prefix="tessera") as folder:
        _merge_pieces(client, program, path, os.fspath(store), folder, pieces, threads, exhaustive,
                      progress)


def _merge_pieces(
    client: Any,
    program: str,
    spec: str,
    kept: str,
    folder: str,
    pieces: int | None,
    threads: int,
    exhaustive: bool,
    progress: Callable[[Progress], None] | None,
) -> None:
    count = pieces or max(1, 4 * len(client.scheduler_info()["workers"]))
    futures = [
        client.submit(
            explore_piece, program, spec, f"{index}/{count}", threads, exhaustive, pure=False,
            retries=2,
        )
        for index in range(1, count + 1)
    ]
    stores = []
    try:
        for index, future in enumerate(futures, start=1):
            data = future.result()
            stores.append(os.path.join(folder, f"{index}.db"))
            with open(stores[-1], "wb") as file:
                file.write(data)
            if progress is not None:
                line = f"piece {index} of {count} is done"
                progress(Progress(line, "pieces", len(stores), count))
    except BaseException:
        client.cancel(futures)
        raise
    run_command([program, "explore", "merge", *stores, "--output", kept, "--threads", str(threads)])


def explore_piece(
    program: str, spec: str, piece: str, threads: int, exhaustive: bool = False
) -> bytes:
    """A store with the answers of a piece. A process that ends is started again, twice."""
    with tempfile.TemporaryDirectory(prefix="tessera") as folder:
        store = os.path.join(folder, "piece.db")
        arguments = [program, "explore", spec, "--shard", piece, "--store", store]
        if exhaustive:
            arguments.append("--exhaustive")
        for left in (2, 1, 0):
            try:
                run_command([*arguments, "--threads", str(threads)], _DONE_PIECE)
                break
            except (BadInput, Stopped):
                raise
            except Error:
                if left == 0:
                    raise
        with open(store, "rb") as file:
            return file.read()


def run_command(arguments: list[str], done_codes: tuple[int, ...] = _DONE) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode in done_codes:
        return done.stdout
    if done.returncode in (2, 3):
        raise BadInput(done.stderr.strip(), message=done.stderr.strip())
    if done.returncode == 130:
        raise Stopped(done.stderr.strip(), message="interrupted")
    raise Error(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
