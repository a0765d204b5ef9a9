#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of the sources in which each fault of faults.txt can be switched on at run time.

    tests/faults/seed.py FOLDER

In the copy, each place of the table has the form `(IsSeeded("name") ? (faulty) : (original))`. A
place that is not found exactly once ends the program with a message, so that the table follows the
sources. Unchanged files keep their time stamps, so a second build compiles only what changed.
"""
import collections
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/faults/faults.txt"

Fault = collections.namedtuple("Fault", "name line file was faulty test")


def read_table():
    """All faults of the table, in its order."""
    faults = []
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            faults.append({"name": line.strip(), "line": number})
            continue
        key, _, text = line.strip().partition(" ")
        if not faults or key not in ("file", "was", "is", "test") or key in faults[-1]:
            sys.exit(f"{TABLE}:{number}: expected a name, "
                     "or one 'file', 'was', 'is' and 'test' of it")
        faults[-1][key] = text.strip()
    for fault in faults:
        missing = {"file", "was", "is", "test"} - fault.keys()
        if missing:
            sys.exit(f"{TABLE}:{fault['line']}: {fault['name']} has no '{min(missing)}'")
    names = [fault["name"] for fault in faults]
    for name in names:
        if names.count(name) > 1:
            sys.exit(f"{TABLE}: {name} is listed twice")
    return [Fault(f["name"], f["line"], f["file"], f["was"], f["is"], f["test"]) for f in faults]


def pattern_of(text):
    """White space in the table stands for any white space."""
    return r"\s+".join(map(re.escape, text.split()))


def place_of(fault, source):
    """The place of the original in a source: the part in backquotes, or all of `was`."""
    parts = fault.was.split("`")
    before, original, after = (parts + [""] * 2)[:3] if len(parts) > 1 else ("", fault.was, "")
    pattern = rf"{pattern_of(before)}\s*({pattern_of(original)})\s*{pattern_of(after)}"
    found = list(re.finditer(pattern, source))
    if len(found) != 1:
        sys.exit(f"{TABLE}:{fault.line}: {fault.name}: the original is found {len(found)} times in "
                 f"{fault.file}; it must be found once. Adapt 'was' and 'is' to the source")
    return found[0].span(1)


def switch(fault, original):
    """The original and the faulty text in one. The number of lines stays that of the original."""
    is_on = f'::tessera::tests::IsSeeded("{fault.name}")'
    if original.endswith((";", "}")):
        return f"{{ if ({is_on}) {{ {fault.faulty} }} else {{ {original} }} }}"
    return f"({is_on} ? ({fault.faulty}) : ({original}))"


def seed(source, faults):
    places = sorted((place_of(fault, source) + (fault,) for fault in faults), reverse=True,
                    key=lambda p: p[0])
    for (begin, _, later), (_, end, fault) in zip(places, places[1:]):
        if end > begin:
            sys.exit(f"{TABLE}:{fault.line}: {fault.name} overlaps {later.name}")
    for begin, end, fault in places:
        source = source[:begin] + switch(fault, source[begin:end]) + source[end:]
    return f'#include "tessera/tests/faults/seeded.h"\n#line 1\n{source}'


def write_tree(folder):
    """Copies all files of the project, with the faults, into a folder; returns the faults."""
    faults = read_table()
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    names = [name for name in listed.split("\0") if name]
    files = {name for name in names if (ROOT / name).is_file()}
    for fault in faults:
        if fault.file not in files:
            sys.exit(f"{TABLE}:{fault.line}: {fault.name}: there is no file {fault.file}")
    for old in [path for path in folder.rglob("*") if path.is_file()]:
        if str(old.relative_to(folder)) not in files:
            old.unlink()
    for name in names:
        if (ROOT / name).is_symlink() and not (folder / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(os.readlink(ROOT / name))
    for name in files:
        source, copy = ROOT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        here = [fault for fault in faults if fault.file == name]
        if here:
            text = seed(source.read_text(), here)
            if not copy.exists() or copy.read_text() != text:
                copy.write_text(text)
        elif not copy.exists() or not filecmp.cmp(source, copy, shallow=False):
            shutil.copy(source, copy)
    return faults


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    print(f"{len(write_tree(pathlib.Path(sys.argv[1])))} faults")
