# SPDX-License-Identifier: Apache-2.0
"""Options of calls, as the library takes them."""

from __future__ import annotations

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
            raise TypeError(f"{name} cannot be {value!r}") from None
        if name == "timeout_s" and value is not None and not value >= 0:
            raise bad_option("timeout", "seconds, 0 or more", value)
    return options


def transfers_of(name: str) -> _native.Transfers:
    """When constants arrive."""
    known = {
        "program": _native.Transfers.program,
        "per-subgraph": _native.Transfers.per_subgraph,
    }
    if name not in known:
        raise bad_option("transfers", " or ".join(f'"{each}"' for each in known), name)
    return known[name]


def bad_option(name: str, expected: str, found: Any) -> BadInput:
    """The refusal of an argument."""
    return BadInput(
        f"{name}: expected {expected}, found {found!r}",
        message=f"bad {name}",
        expected=expected,
        found=repr(found),
    )
