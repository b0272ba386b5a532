"""The extension module. Everything except names that begin with `_` is also in `visakit`."""

import builtins
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

from .enums import DataType, Field, Group, Op
from .records import Access, Attribute, Block, Declaration, Input

__version__: str
#: Version of the columns; see `docs/corpus.md`.
SCHEMA_VERSION: int

_Source = str | PathLike[str] | bytes | bytearray | memoryview
_Form = Literal["plain", "exact", "intel"] | str
_Picture = Literal["svg", "dot"] | str
_Side = tuple[int, str] | None

class ReadError(Exception):
    """Bytes that are not an object, or a damaged one. `args` are the message and the offset."""

class WriteError(Exception):
    """An object that cannot be written or printed."""

class AsmError(Exception):
    """A text with faults. `args[0]` is a list of `Diagnostic`."""

class EditError(Exception):
    """A change that cannot be made; the object is unchanged. `args` are the message and what to do."""

class RunError(Exception):
    """A kernel that cannot be started, or that faulted."""

class Diagnostic:
    """A fault of a text."""

    line: int
    column: int
    length: int
    message: str
    expected: str | None
    help: str | None

class Finding:
    """A fault of an object."""

    rule: str
    severity: Literal["error", "warning"]
    place: str
    routine: tuple[str, int] | None
    instruction: int | None
    field: str | None
    offset: int | None
    cause: Literal["register-size"] | None
    """Set if the finding is only caused by registers of 64 bytes."""
    message: str
    help: str

class Operand:
    """A field of an instruction."""

    @property
    def field(self) -> Field: ...
    @property
    def role(self) -> Literal["destination", "source", "control"]: ...
    @property
    def kind(self) -> str:
        """Its class: `general`, `immediate`, `raw`, `number`, ..."""
    @property
    def type(self) -> DataType | None: ...
    @property
    def modifier(self) -> str | None: ...
    @property
    def index(self) -> int | None:
        """Number in the table that the kind names, predefined entries included."""
    @property
    def row(self) -> int | None: ...
    @property
    def column(self) -> int | None: ...
    @property
    def region(self) -> tuple[int | None, int | None, int | None]:
        """Vertical stride, width and horizontal stride in elements."""
    @property
    def value(self) -> int | float | None:
        """Number of an immediate or control field."""
    @property
    def value_name(self) -> str | None: ...
    @property
    def name(self) -> str | None:
        """Name of a label, a string or an address variable."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Instruction:
    """An instruction as it was when it was taken out of its routine."""

    @property
    def op(self) -> Op: ...
    @property
    def opcode(self) -> int: ...
    @property
    def sub_op(self) -> int | None: ...
    @property
    def mnemonic(self) -> str: ...
    @property
    def group(self) -> Group: ...
    @property
    def index(self) -> int:
        """Index in the code."""
    @property
    def offset(self) -> int | None:
        """Offset in the file; `None` if the object was created or changed."""
    @property
    def exec_size(self) -> int | None: ...
    @property
    def mask(self) -> str | None: ...
    @property
    def predicate(self) -> int | None: ...
    @property
    def inverted(self) -> bool: ...
    @property
    def type(self) -> DataType | None: ...
    @property
    def saturate(self) -> bool: ...
    @property
    def flow(self) -> str:
        """What it does to control flow: `next`, `jump`, `goto`, `call`, `return`, ..."""
    @property
    def diverges(self) -> bool: ...
    @property
    def label(self) -> int | None: ...
    @property
    def memory(self) -> str | None:
        """What it does to memory: `load`, `store`, `atomic`, ..."""
    @property
    def space(self) -> str | None: ...
    @property
    def layout(self) -> str | None: ...
    @property
    def element_bytes(self) -> int | None: ...
    @property
    def elements(self) -> int | None: ...
    @property
    def address_bits(self) -> int | None: ...
    @property
    def access_bytes(self) -> int | None: ...
    @property
    def operands(self) -> list[Operand]: ...
    @property
    def reads(self) -> list[Access]: ...
    @property
    def writes(self) -> list[Access]: ...
    @property
    def text(self) -> str: ...
    def __getitem__(self, field: str) -> Operand: ...
    def __contains__(self, field: str) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Instructions(Iterator[Instruction]):
    """Iterates over the instructions of a routine in its state at the beginning of the loop."""

    def __iter__(self) -> Instructions: ...
    def __next__(self) -> Instruction: ...

class Routine:
    """A kernel or a function: a view of its object."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> Literal["kernel", "function"]: ...
    @property
    def object(self) -> Object: ...
    @property
    def declarations(self) -> list[Declaration]:
        """Kind, number, name, type and number of elements of each."""
    @property
    def inputs(self) -> list[Input]:
        """Kind, number of the declaration, offset and size in bytes of each."""
    @property
    def attributes(self) -> list[Attribute]: ...
    @property
    def blocks(self) -> list[Block]:
        """Basic blocks: first instruction, one past the last, numbers of the successors."""
    def dis(self, form: _Form = "plain") -> str: ...
    def cfg(self, form: _Picture = "svg") -> str: ...
    def insert(self, index: int, text: str) -> None:
        """Inserts an instruction, given as a line of text, before the one at `index`, or at the end."""
    def replace(self, index: int, text: str) -> None: ...
    def remove(self, index: int) -> None: ...
    def new_variable(self, name: str, type: str, elements: int) -> int: ...
    def remove_declaration(self, kind: str, index: int) -> None: ...
    def rename(self, kind: str, index: int, name: str) -> None: ...
    def retype(self, index: int, type: str) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Instructions: ...
    def __getitem__(self, index: int) -> Instruction: ...
    def __eq__(self, other: builtins.object) -> bool: ...
    def _repr_html_(self) -> str: ...

class Object:
    """A vISA object."""

    @property
    def version(self) -> str: ...
    @property
    def dialect(self) -> str: ...
    @property
    def path(self) -> str | None: ...
    @property
    def kernels(self) -> list[Routine]: ...
    @property
    def functions(self) -> list[Routine]: ...
    @property
    def routines(self) -> list[Routine]: ...
    def to_bytes(self) -> bytes: ...
    def write(self, path: str | PathLike[str]) -> None: ...
    def dis(self, form: _Form = "plain") -> str: ...
    def callgraph(self, form: _Picture = "svg") -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int | str) -> Routine: ...
    def __eq__(self, other: object) -> bool: ...
    def __copy__(self) -> Object: ...
    def __deepcopy__(self, memo: Any) -> Object: ...
    def _repr_html_(self) -> str: ...

class Outcome:
    """The result of a run."""

    instructions: int
    lane_operations: int
    groups: int
    seconds: float
    translation_seconds: float
    printf: bytes
    """The output of the kernel, in the format of the hardware's buffer."""
    printed: str
    """The output of the kernel. The format strings are program-scope variables."""
    findings: list[RunFinding]
    """The findings of the checkers, the worst first; empty without `check`."""
    stopped: str | None
    """Why a checked run did not come to its end: there may be more than was found. One in which nothing was found raises
    `RunError` instead."""
    profile: Profile | None
    """Where the time goes; only with `profile`."""
    trace: Trace | None
    """The executed instructions, only with `trace`."""

class TraceStep:
    """One executed instruction."""

    group: tuple[int, int, int]
    thread: int
    """Place of the thread in its group."""
    routine: tuple[Literal["kernel", "function"], int]
    instruction: int
    """Number of the instruction in its routine."""
    mask: int
    """Enabled lanes of the instruction, bit 0 is its first one."""
    text: str
    values: list[int | float | None] | None
    """The values that an instruction of the kernel wrote into a variable, by lane; `None` for disabled lanes."""

class Trace:
    """The instructions that a run executed, group by group and thread by thread: a sequence of steps."""

    @property
    def missed(self) -> int:
        """Number of steps that ran after the limit was reached."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> TraceStep: ...
    def __iter__(self) -> Iterator[TraceStep]: ...

class Variables:
    """The program-scope variables of a program with their contents: runs of its kernels see the values left by earlier ones.

    `sections` are their first contents by name (`.data.const`, `.bss.global` and the like), `symbols` the section and the
    offset of each variable, `relocations` where a section holds an address: section, offset, the variable whose address it
    is, and what is added to it.
    """

    def __new__(
        cls,
        sections: dict[str, bytes],
        symbols: dict[str, tuple[str, int]] = ...,
        relocations: Sequence[tuple[str, int, str, int]] = ...,
    ) -> Variables: ...
    @staticmethod
    def from_zebin(zebin: _Source) -> Variables:
        """The variables of a compiled program (zebin)."""
    @property
    def names(self) -> list[str]:
        """Names of the variables."""
    @property
    def sections(self) -> dict[str, bytes]:
        """The sections with their current content."""
    def __getitem__(self, name: str) -> bytes:
        """The bytes of a variable, and those after it in its section: its end is not recorded."""
    def __len__(self) -> int: ...

class Profile:
    """What ran how often, with which lanes, what messages accessed, and the simulated time from a cost model."""

    @property
    def nanoseconds(self) -> float:
        """Simulated time on the device, in nanoseconds."""
    @property
    def kernels(self) -> list[dict[str, Any]]:
        """The kernels, as in the JSON document."""
    def json(self) -> str:
        """The profile as JSON, which `visakit profile diff` compares."""
    def html(self, title: str = "visakit", *, source: Sequence[str | PathLike[str]] = ()) -> str:
        """A self-contained page. Source files are searched for below the folders of `source`."""
    def folded(self) -> str:
        """Folded stacks, one per line, for flame graphs."""

class RunFinding:
    """A fault found in a run; repetitions with the same cause are counted."""

    kind: str
    """For example `out-of-bounds`, `uninitialized` or `race`; docs/checking.md lists them."""
    level: Literal["note", "warning", "error"]
    space: str
    access: Literal["read", "write", "atomic"] | None
    """What an access does with which something is wrong."""
    between: Literal["groups", "threads", "lanes", "lockstep"] | None
    """Of a race: whose accesses are in conflict."""
    message: str
    routine: str
    instruction: int
    text: str
    file: str | None
    line: int | None
    object: str | None
    object_bytes: int | None
    offset: int | None
    argument: int | None
    group: tuple[int, int, int] | None
    global_id: tuple[int, int, int] | None
    local_id: tuple[int, int, int] | None
    address: int | None
    bytes: int | None
    value: int | None
    count: int
    other: str | None
    """A second place: the other side of a race, or the origin of a value."""
    other_line: int | None

class Kernel:
    """An OpenCL kernel with its compiler's metadata about its arguments."""

    def __new__(
        cls,
        object: Object,
        zeinfo: str,
        name: str | None = None,
        *,
        grf_bytes: int | None = None,
        variables: Variables | None = None,
    ) -> Kernel: ...
    @staticmethod
    def from_zebin(zebin: _Source, name: str | None = None, *, object: Object | None = None) -> Kernel:
        """The kernel of a compiled program (zebin), with its metadata and variables.

        Where it carries no vISA, `object` has it.
        """
    @staticmethod
    def from_source(
        source: _Source, name: str | None = None, *, device: str = "dg2", options: str = "", simd: int | None = None
    ) -> Kernel:
        """The kernel of OpenCL C or SPIR-V, compiled by Intel's offline compiler (`ocloc`, or what `VISAKIT_OCLOC` names).

        A string with braces is the source itself. The device has the name it is sold under (`a770`) or the compiler's
        (`dg2`). A compiler that is missing, or that refuses the source, is a `RunError` that says what to do.
        """
    @staticmethod
    def from_dump(folder: str | PathLike[str], name: str | None = None) -> Kernel:
        """The kernel of a folder that the compiler dumped into, or that `visakit compile` wrote."""
    @property
    def name(self) -> str: ...
    @property
    def variables(self) -> Variables:
        """Program-scope variables; they keep their values from run to run."""
    def run(
        self,
        global_size: int | Sequence[int],
        args: Sequence[Any],
        *,
        local_size: int | Sequence[int] | None = None,
        global_offset: int | Sequence[int] | None = None,
        max_steps: int | None = None,
        timeout: float | None = None,
        strict: bool = False,
        jit: Literal["auto", "always", "never"] = "auto",
        check: bool | str | Sequence[str] | None = None,
        profile: bool = False,
        trace: bool | int | None = None,
    ) -> Outcome:
        """Runs the kernel over a grid. Arrays are written in place once it has ended.

        `args` has, for each parameter, an array (anything with a contiguous buffer: the same array twice is one buffer), a
        number with a size (`numpy.int32(1)`), `Local(bytes)`, `Image(...)`, `Sampler(...)`, or `None` for a null pointer.
        `check` names checkers (`memory`, `uninitialized`, `race`, `sync`, `arithmetic`; true for the usual ones), which
        run on the interpreter; what would be a fault is a finding then. `profile` counts what runs. `trace` keeps so many
        steps, true a million, and runs groups one after the other.
        """
    def debug(
        self,
        global_size: int | Sequence[int],
        args: Sequence[Any],
        *,
        local_size: int | Sequence[int] | None = None,
        global_offset: int | Sequence[int] | None = None,
        source: Sequence[str | PathLike[str]] = (),
    ) -> Debugger:
        """The kernel on a grid, stopped before its first instruction. Arrays are read but not written."""

_Step = Literal["instruction", "over-instruction", "line", "over-line", "out", "group"]
_Standing = tuple[str, int, str, str | None, int | None]

class Debugger:
    """A kernel on its grid, which is stopped until it is told to continue. Going back is exact."""

    def execute(self, command: str) -> str:
        """Runs a command of `visakit debug`; returns its output."""
    def break_at(self, place: str, condition: str | None = None) -> int:
        """Stops at a place: an instruction's number, a label, a routine, `FILE:LINE`; returns the number of the breakpoint."""
    def remove(self, point: int) -> None:
        """Removes a breakpoint."""
    def go_on(self) -> str:
        """Continues until something stops the run; returns the reason."""
    def go_back(self) -> str:
        """Goes back to what would have stopped the run; returns the reason."""
    def step(self, by: _Step = "instruction", count: int = 1) -> str:
        """Steps the selected thread; returns why the run has stopped."""
    def step_back(self, by: _Step = "instruction", count: int = 1) -> str:
        """Steps back; returns why the run has stopped."""
    def look_at(self, thread: int, lane: int = 0) -> None:
        """Selects another thread of the group, and one of its lanes."""
    @property
    def stop(self) -> str:
        """Why the run has stopped."""
    @property
    def ended(self) -> bool:
        """Whether all groups have ended."""
    @property
    def time(self) -> tuple[int, int]:
        """The running group, and the number of its steps so far."""
    @property
    def focus(self) -> tuple[int, int]:
        """The selected thread and lane."""
    @property
    def place(self) -> _Standing | None:
        """Name of the routine, number and text of the instruction, source file and line."""
    @property
    def lanes(self) -> tuple[int, int] | None:
        """The running lanes and, of these, the enabled lanes of the next instruction, as bits."""
    def backtrace(self) -> list[_Standing]:
        """The calls of the selected thread, the innermost first."""
    def threads(self) -> list[tuple[int, str, int, _Standing | None]]:
        """The threads of the group: number, state, running lanes, and position."""
    def variable(self, name: str) -> list[int | float]:
        """The elements of a variable of the routine; of a predicate, 0 or 1 for each lane."""
    def variables(self) -> list[tuple[str, list[int | float]]]:
        """The variables of the routine by name."""
    def evaluate(self, expression: str) -> int | float:
        """The value of an expression for the selected lane."""
    def set(self, what: str, value: str) -> None:
        """Changes a variable or memory."""
    def buffer(self, argument: int) -> bytes:
        """The content of a buffer argument."""

class Columns:
    """One table as an Arrow stream, accepted by `pyarrow.table`, `polars.DataFrame` and others."""

    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

class _Rule(TypedDict):
    rule: str
    severity: str
    area: str
    what: str
    help: str
    source: str

def read(source: _Source, *, dialect: str | None = None) -> Object:
    """Reads an object from a path, bytes or a buffer."""

def read_lenient(source: _Source, *, dialect: str | None = None) -> tuple[Object, list[str]]:
    """Reads a damaged object as far as possible: the object, and what is wrong with it."""

def write(object: Object) -> bytes: ...
def asm(
    text: str,
    *,
    version: str | None = None,
    dialect: str | None = None,
    platform: str | None = None,
    grf_bytes: int | None = None,
) -> Object:
    """Assembles a text. If it depends on the size of a register without stating it, `platform` or `grf_bytes` must."""

def fmt(text: str) -> str:
    """A text in the form of the printer; comments are kept."""

def validate(object: Object, *, platform: str | None = None, limit: int = 4096) -> list[Finding]: ...
def convert(object: Object, to: str, *, dialect: str | None = None, keep_native: bool = False) -> Object: ...
def strip(
    object: Object,
    *,
    debug: bool = True,
    names: bool = True,
    binaries: bool = True,
    strings: bool = True,
    variables: bool = True,
) -> Object: ...
def diff(old: Object, new: Object) -> list[tuple[str | None, str, _Side, _Side]]:
    """The differences: routine, kind of entity, its form in the old and in the new object."""

def smith(seed: int, *, platform: str = "skl", statements: int = 40) -> Object:
    """A valid object generated from a seed."""

def explain(rule: str) -> _Rule: ...
def isa(name: str | None = None) -> list[dict[str, Any]]:
    """The rows of the instruction table with that name or mnemonic; by default all of them."""

def search(object: Object, pattern: str) -> list[tuple[str, int, list[int], list[tuple[str, str]]]]:
    """The matches of a pattern: kind and number of the routine, instructions, variables."""

def columns(
    objects: Sequence[Any], tables: Sequence[str] | None = None
) -> list[tuple[str, Columns]]: ...
def schema() -> list[tuple[str, str, list[tuple[str, str, bool, str]]]]:
    """The tables: name, sentence, and columns as (name, type, may be absent, sentence)."""

def enumerations() -> list[tuple[str, list[tuple[str, str]]]]: ...
