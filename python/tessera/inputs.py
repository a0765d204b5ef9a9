# SPDX-License-Identifier: Apache-2.0
"""Networks and profiles."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Union

from . import _native
from .errors import BadInput
from .options import integer, json_of, mapping, native, path_of

Path = Union[str, "os.PathLike[str]"]


class Profile:
    """An accelerator: memories with banks and modes, engines, links, energies.

    docs/profile-format.md describes the files. A profile never changes.
    """

    __slots__ = ("_native",)

    def __init__(self, path: Path) -> None:
        """Reads a YAML file, and the files that it extends. Raises BadInput."""
        self._native = _native.Profile.load(path_of(path))

    @classmethod
    def _of(cls, native: _native.Profile) -> Profile:
        profile = cls.__new__(cls)
        profile._native = native
        return profile

    @classmethod
    def parse(cls, document: str | Mapping[str, Any], name: str = "profile") -> Profile:
        """A profile from YAML or from such a dictionary as `to_dict` gives.

        It may extend nothing. `name` is for messages. Raises BadInput.
        """
        text = document if isinstance(document, str) else json_of(document)
        return cls._of(_native.Profile.parse(text, name))

    def with_(self, changes: Mapping[str, Any]) -> Profile:
        """The same profile with other values in some places.

        A key is the path of an entry of `to_dict()`: names and indices with points between them,
        as "memories.sram.capacity_bytes", or a JSON pointer, as "/memories/sram/capacity_bytes". A
        value is a number, a bool, a text, a list or a dictionary, in the unit of the entry. Changes
        take effect in their order, and each result is checked like a file. Raises BadInput.
        """
        native = self._native
        for path, value in mapping(changes, "changes").items():
            pointer = path if path.startswith("/") else "/" + path.replace(".", "/")
            native = native.with_value(pointer, json_of(value))
        return self._of(native)

    @property
    def name(self) -> str:
        """The name that the file states."""
        return self._native.name

    def to_dict(self) -> dict[str, Any]:
        """The complete profile with every default, as `parse` accepts it."""
        document: dict[str, Any] = json.loads(self._native.json)
        return document

    def __repr__(self) -> str:
        return f"<Profile {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_profile, (self._native.serialize(),)


class Network:
    """A network: tensors, and operators in an order. It never changes."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Network) -> None:
        """For this package; others call `load_network` or `parse`."""
        if not isinstance(native, _native.Network):
            raise TypeError("a Network is made by load_network or Network.parse")
        self._native = native

    @classmethod
    def parse(
        cls,
        document: str | bytes | Mapping[str, Any],
        *,
        name: str = "network.yaml",
        floats_as: str = "",
        dims: Mapping[str, int] | None = None,
        states: Mapping[str, str] | None = None,
        operators: str = "",
        profile: Profile | None = None,
    ) -> Network:
        """A network from the bytes of a file, or from a dictionary (docs/network-format.md).

        `name` is for messages, and its suffix tells the format. The rest is as for `load_network`.
        """
        data = document if isinstance(document, (str, bytes)) else json_of(document)
        options = _import_options(dims, states, floats_as, operators, profile)
        return cls(_native.Network.parse(data, name, *options))

    @property
    def name(self) -> str:
        """The name that the file states."""
        return self._native.name

    @property
    def operator_count(self) -> int:
        """The number of operators after the import."""
        return self._native.operator_count

    @property
    def notes(self) -> list[str]:
        """What the reader folded, dropped or could not use."""
        return self._native.notes

    def with_costs(self, csv: str, name: str = "costs.csv") -> Network:
        """The same network with tiles of operators that were measured (docs/costs.md).

        `csv` is the text of a table with operator, tile, engine, cycles and pj; `name` is for
        messages. Raises BadInput.
        """
        return Network(self._native.with_costs(csv, name))

    def with_sizes(self, csv: str, name: str = "sizes.csv") -> Network:
        """The same network with constants that are stored in other numbers of bytes.

        `csv` is the text of a table with tensor and bytes, as a weight compressor reports them;
        `name` is for messages. Raises BadInput.
        """
        return Network(self._native.with_sizes(csv, name))

    def to_dict(self) -> dict[str, Any]:
        """The network with every shape, data type and constant stated, as `parse` accepts it.

        Shapes count elements along each axis, batch first and channels second.
        """
        document: dict[str, Any] = json.loads(self._native.json())
        return document

    def __repr__(self) -> str:
        return f"<Network {self.name}: {self.operator_count} operators>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_network, (self._native.serialize(),)


class NetworkSpace:
    """A family of networks with parameters (docs/spaces.md). It never changes.

    A choice of values is a network: `space.make({"resolution": 160, "stage2.depth": 3})`.
    """

    __slots__ = ("_native", "_text")

    def __init__(self, path: Path) -> None:
        """Reads a file. Raises BadInput."""
        name = path_of(path)
        try:
            with open(name, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            shown = os.fsdecode(name)
            reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
            raise BadInput(f"cannot read '{shown}': {reason}", message=reason) from error
        self._text = (text, os.fsdecode(name))
        self._native = _native.NetworkSpace.parse(*self._text)

    @classmethod
    def parse(cls, text: str, name: str = "space") -> NetworkSpace:
        """A space from YAML. `name` is for messages. Raises BadInput."""
        space = cls.__new__(cls)
        space._text = (text, name)
        space._native = _native.NetworkSpace.parse(text, name)
        return space

    @property
    def name(self) -> str:
        """The name that the file states."""
        return self._native.name

    @property
    def parameters(self) -> dict[str, list[int]]:
        """The values of each parameter, in the order of the file; the first is the default."""
        return dict(self._native.parameters)

    def make(self, choice: Mapping[str, int]) -> Network:
        """The network of a choice; parameters that it leaves out have their defaults.

        Raises BadInput for names and values that the space does not have.
        """
        return Network(self._native.make([
            (name, integer(value, name)) for name, value in mapping(choice, "choice").items()
        ]))

    def __repr__(self) -> str:
        return f"<NetworkSpace {self.name}: {len(self.parameters)} parameters>"

    def __reduce__(self) -> tuple[Any, ...]:
        return NetworkSpace.parse, self._text


def load_network(
    source: Path | Mapping[str, Any],
    *,
    floats_as: str = "",
    dims: Mapping[str, int] | None = None,
    states: Mapping[str, str] | None = None,
    operators: str = "",
    profile: Profile | None = None,
) -> Network:
    """Reads a network from a file in YAML, JSON or ONNX, or from a dictionary.

    Args:
        source: the file, whose suffix and first bytes tell the format; or a document as in
            docs/network-format.md.
        floats_as: the data type to plan with where the file has floats, as "int8".
        dims: extents of symbolic dimensions, in elements: {"batch": 1}.
        states: a network input, and the output that is its value in the next run.
        operators: YAML that describes operators of other domains under `ops`.
        profile: may describe operators too.

    YAML and JSON networks take none of the options. Raises BadInput with file, line and column, or
    Unsupported.
    """
    if isinstance(source, Mapping):
        return Network.parse(
            source,
            floats_as=floats_as,
            dims=dims,
            states=states,
            operators=operators,
            profile=profile,
        )
    options = _import_options(dims, states, floats_as, operators, profile)
    return Network(_native.Network.load(path_of(source), *options))


def _import_options(
    dims: Mapping[str, int] | None,
    states: Mapping[str, str] | None,
    floats_as: str,
    operators: str,
    profile: Profile | None,
) -> tuple[list[tuple[str, int]], list[tuple[str, str]], str, str, _native.Profile | None]:
    for name, text in (("floats_as", floats_as), ("operators", operators)):
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a text, not {text!r}")
    extents = {
        str(name): integer(extent, f"dims[{name!r}]") for name, extent in (dims or {}).items()
    }
    return (
        list(extents.items()),
        [(str(name), str(output)) for name, output in (states or {}).items()],
        floats_as,
        operators,
        None if profile is None else native(profile, Profile, "profile"),
    )


def _restore_profile(data: bytes) -> Profile:
    return Profile._of(_native.Profile.deserialize(data))


def _restore_network(data: bytes) -> Network:
    return Network(_native.Network.deserialize(data))
