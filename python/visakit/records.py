"""Tuples with names for their parts, of which routines and instructions consist."""

from __future__ import annotations

from typing import NamedTuple


class Access(NamedTuple):
    """What an instruction reads or writes: the field, if one names it, and the variable, memory or state."""

    field: str | None
    what: str


class Declaration(NamedTuple):
    """A variable of a routine. `number` is that of instructions; general variables have a type."""

    kind: str
    number: int
    name: str
    type: str | None
    elements: int


class Input(NamedTuple):
    """Where a routine finds an input: `offset` and `size` in bytes of the thread's payload."""

    kind: str
    number: int
    offset: int
    size: int


class Attribute(NamedTuple):
    """An attribute of a routine."""

    name: str
    value: bytes


class Block(NamedTuple):
    """A basic block: its first instruction, one past its last, and the numbers of the blocks that may follow."""

    first: int
    end: int
    next: list[int]
