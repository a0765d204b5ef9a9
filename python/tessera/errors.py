# SPDX-License-Identifier: Apache-2.0
"""Exceptions. Two kinds are apart: a call that failed, and a question without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn


class Error(Exception):
    """The base of all exceptions of this package. `str()` is text as the command prints it."""

    def __init__(self, text: str, **fields: Any) -> None:
        super().__init__(text)
        self.__dict__.update(fields)


class _CallError(Error):
    message: str = ""  # one clause: "unknown key 'strde'"
    file: str = ""  # as the caller named it; empty if the input is no file
    line: int = 0  # from 1; 0 if unknown
    column: int = 0  # from 1, in bytes; 0 if unknown
    pointer: str = ""  # JSON pointer (RFC 6901), for JSON documents that parse
    expected: str = ""  # what is accepted there
    found: str = ""  # what is there instead
    hint: str = ""  # how to correct it


class BadInput(_CallError, ValueError):
    """An argument or a file is wrong; the fields say where, and what is expected."""


class Unsupported(_CallError):
    """The input is valid, but not in this build, or beyond what it can express."""


class Stopped(_CallError):
    """A deadline, a cancellation or the end of memory came before there was anything to return."""


class InternalError(_CallError):
    """An error of the library."""


class NoAnswer(Error):
    """The call could answer, and the answer is no plan or no allocation."""

    outcome: str = "unknown"  # or "infeasible", or "unsupported" by the profile or the engine
    reason: str = ""  # in one sentence
    causes: Sequence[str] = ()  # constraints that suffice for that, if they are the cause
    explanation: Sequence[str] = ()  # the few conditions that collide, in sentences
    remedies: Sequence[str] = ()  # single changes that help; options are named as in the command
    findings: Sequence[str] = ()  # of an edited plan: what it breaks
    certificate: Any = None  # the proof, if the call asks for one
    stopped: bool = False  # a deadline, a memory limit or a cancellation cut the search off


class Infeasible(NoAnswer):
    """Proven: there is no plan, or no placement."""


class Unknown(NoAnswer):
    """A limit came before an answer was found; it may exist."""


_KINDS = {"infeasible": Infeasible, "unknown": Unknown}


def raise_no_answer(answer: dict[str, Any]) -> NoReturn:
    """Raises the exception of an answer without a result."""
    outcome = answer["outcome"]
    lines = [answer["reason"] or outcome]
    for part in ("findings", "explanation", "remedies"):
        lines += [line for line in answer.get(part, ()) if line != lines[0]]
    fields = {name: answer[name] for name in NoAnswer.__annotations__ if name in answer}
    raise _KINDS.get(outcome, NoAnswer)("\n".join(lines), **fields)
