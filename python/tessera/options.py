# SPDX-License-Identifier: Apache-2.0
"""Options of calls, as the library takes them."""

from __future__ import annotations

from typing import Any, TypeVar

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


def bad_option(name: str, expected: str, found: Any) -> BadInput:
    """The refusal of an argument."""
    return BadInput(
        f"{name}: expected {expected}, found {found!r}",
        message=f"bad {name}",
        expected=expected,
        found=repr(found),
    )
