# SPDX-License-Identifier: Apache-2.0
"""Options of calls, as the library takes them."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping
from typing import Any, TypeVar

from . import _native
from .errors import BadInput

Options = TypeVar("Options")


def fill(options: Options, **values: Any) -> Options:
    """The options with these fields set.

    Raises TypeError for a value of another type, and BadInput for a time that is none.
    """
    for name, value in values.items():
        try:
            setattr(options, name, value)
        except TypeError:
            raise TypeError(f"{name.removesuffix('_s')} cannot be {value!r}") from None
        if name == "timeout_s" and value is not None and not value >= 0:
            raise bad_option("timeout", "seconds, 0 or more", value)
    return options


def path_of(path: str | bytes | os.PathLike[str]) -> bytes:
    """A path as the system knows it. Raises TypeError for no path, and BadInput for a NUL."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise bad_option("path", "a name without a NUL", path)
    return name


def native(value: Any, kind: type, name: str) -> Any:
    """What the library knows of an argument. Raises TypeError for one of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a tessera.{kind.__name__}, not {value!r:.60}")
    return value._native  # type: ignore[attr-defined]


def integer(value: Any, name: str) -> int:
    """An argument as an integer. Raises TypeError, or BadInput beyond 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if not -(2**63) <= number < 2**63:
        raise bad_option(name, "an integer of 64 bits", number)
    return number


def integer_or_none(value: Any, name: str) -> int | None:
    """The same for an argument that may be absent."""
    return None if value is None else integer(value, name)


def mapping(values: Any, name: str) -> dict[str, Any]:
    """An argument that names things by text. Raises TypeError for another one."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a dictionary, not {values!r:.60}")
    for key in values:
        if not isinstance(key, str):
            raise TypeError(f"the keys of {name} must be texts, not {key!r:.60}")
    return dict(values)


def numbers(values: Any, name: str) -> list[tuple[str, float]]:
    """The same, where each name has a number."""
    pairs = []
    for key, value in mapping(values, name).items():
        try:
            pairs.append((key, float(value)))
        except (TypeError, ValueError):
            raise TypeError(f"{name}[{key!r}] must be a number, not {value!r:.60}") from None
    return pairs


def json_of(document: Any) -> str:
    """A document as JSON; numbers and arrays may be those of NumPy."""

    def plain(value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()
        try:
            return operator.index(value)
        except TypeError:
            pass
        if not hasattr(value, "__float__"):
            raise TypeError(f"{value!r} is no number, text, list or dictionary")
        return float(value)

    return json.dumps(document, default=plain)


def transfers_of(name: str) -> _native.Transfers:
    """When constants arrive."""
    known = {
        "program": _native.Transfers.program,
        "per-subgraph": _native.Transfers.per_subgraph,
    }
    if name not in known:
        raise bad_option("transfers", " or ".join(f'"{each}"' for each in known), name)
    return known[name]


def off_chip_of(name: str) -> _native.OffChip:
    """How tensors outside the tile memory share addresses."""
    known = {
        "whole": _native.OffChip.whole,
        "tile-aware": _native.OffChip.tile_aware,
        "paper": _native.OffChip.paper,
    }
    if name not in known:
        raise bad_option("off_chip", "one of " + ", ".join(f'"{each}"' for each in known), name)
    return known[name]


def bad_option(name: str, expected: str, found: Any) -> BadInput:
    """The refusal of an argument."""
    return BadInput(
        f"{name}: expected {expected}, found {found!r}",
        message=f"bad {name}",
        expected=expected,
        found=repr(found),
    )
