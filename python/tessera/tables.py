# SPDX-License-Identifier: Apache-2.0
"""Tables of plans: sequences of named tuples that pandas and notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import pandas

Row = TypeVar("Row", bound=tuple[Any, ...])

_MOST_SHOWN = 60  # rows of a table in a notebook


def shown(value: object) -> str:
    """A value as a cell of a table shows it."""
    if isinstance(value, tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return str(value)


class Table(Sequence[Row], Generic[Row]):
    """Rows of one named tuple class. Slices are tables too."""

    __slots__ = ("_kind", "_rows")

    def __init__(self, kind: type[Row], rows: Iterable[Row]) -> None:
        self._kind = kind
        self._rows = tuple(rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, which are the fields of a row."""
        names: tuple[str, ...] = getattr(self._kind, "_fields")
        return names

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Table[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Table[Row]:
        if isinstance(index, slice):
            return Table(self._kind, self._rows[index])
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._rows == other._rows

    def __hash__(self) -> int:
        return hash(self._rows)

    def __repr__(self) -> str:
        return f"Table({self._kind.__name__}, {len(self)} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self._kind, self._rows)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame with one row for each row; needs pandas."""
        import pandas

        return pandas.DataFrame(list(self._rows), columns=list(self.columns))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(shown(value))}</td>" for value in row) + "</tr>"
            for row in self._rows[:_MOST_SHOWN]
        )
        rest = len(self) - _MOST_SHOWN
        more = f"<p>and {rest} rows more</p>" if rest > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
