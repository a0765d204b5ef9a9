# SPDX-License-Identifier: Apache-2.0
"""Options of calls, as the library takes them."""

from __future__ import annotations

from typing import Any, TypeVar

Options = TypeVar("Options")


def fill(options: Options, **values: Any) -> Options:
    """The options with these fields set. Raises TypeError for a value of another type."""
    for name, value in values.items():
        try:
            setattr(options, name, value)
        except TypeError:
            raise TypeError(f"{name} cannot be {value!r}") from None
    return options
