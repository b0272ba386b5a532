"""Mistakes of users, and concurrent changes of objects: an exception that says what is wrong, or the right answer."""

import inspect
import pickle
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import visakit

ROOT = Path(__file__).resolve().parent.parent.parent
OBJECTS = sorted((ROOT / "fixtures" / "objects").glob("*.isa"))
SKL = ROOT / "fixtures" / "objects" / "subgroups_skl_v36.isa"
KERNELS = ROOT / "fixtures" / "kernels"

#: Errors that a caller can expect.
EXPECTED = (
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    OverflowError,
    OSError,
    AttributeError,
    MemoryError,
    visakit.ReadError,
    visakit.WriteError,
    visakit.AsmError,
    visakit.EditError,
    visakit.RunError,
)

#: Values that hardly any argument accepts.
ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    3,
    2**31,
    2**64,
    -(2**63),
    10**30,
    0.5,
    float("nan"),
    float("inf"),
    1j,
    "",
    "nothing",
    "\0",
    "\ud800",
    "a" * 5000,
    b"",
    b"CISA",
    bytearray(8),
    memoryview(b"x"),
    (),
    [],
    [None],
    [1, 2, 3, 4],
    {},
    {"a": 1},
    object(),
    int,
    len,
    ...,
    Path("/nowhere"),
    numpy.zeros(0),
    numpy.zeros((2, 2), numpy.complex64),
    numpy.int32(1),
]


@pytest.fixture
def obj() -> visakit.Object:
    return visakit.read(SKL)


def blur() -> visakit.Kernel:
    return visakit.Kernel(visakit.asm((KERNELS / "blur.dg2.visaasm").read_text()), (KERNELS / "blur.dg2.zeinfo").read_text())


def arguments(size: int = 128) -> list[Any]:
    data = numpy.arange(size, dtype=numpy.float32)
    return [data, numpy.zeros_like(data), visakit.Local(66 * 4), numpy.int32(size)]


def survives(call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    # A panic of the library is a BaseException and is not caught.
    try:
        call(*args, **kwargs)
    except EXPECTED:
        pass


FUNCTIONS = [
    name
    for name in visakit.__all__
    if inspect.isbuiltin(getattr(visakit, name)) or inspect.isfunction(getattr(visakit, name)) or inspect.isclass(getattr(visakit, name))
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_types_are_exceptions(name: str, obj: visakit.Object) -> None:
    call = getattr(visakit, name)
    survives(call)
    for value in ODD:
        survives(call, value)
        survives(call, obj, value)
        survives(call, value, obj)
        survives(call, nobody=value)
    dice = random.Random(name)
    for _ in range(200):
        survives(call, *(dice.choice(ODD) for _ in range(dice.randrange(4))))


@pytest.mark.parametrize("what", ["object", "routine", "instruction", "operand", "instructions", "kernel", "debugger", "columns"])
def test_methods_with_wrong_types_are_exceptions(what: str, obj: visakit.Object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # `write` treats its argument as a path.
    monkeypatch.chdir(tmp_path)
    kernel = obj.kernels[0]
    made: dict[str, Any] = {
        "object": obj,
        "routine": kernel,
        "instruction": kernel[1],
        "operand": kernel[1].operands[0],
        "instructions": iter(kernel),
        "kernel": blur(),
        "debugger": blur().debug(128, arguments(), local_size=64),
        "columns": visakit.columns([SKL])["routines"],
    }
    subject = made[what]
    before = obj.to_bytes()
    dice = random.Random(what)
    for name in dir(subject):
        if name in ("__init_subclass__", "__subclasshook__", "__class__", "__sizeof__", "__dir__", "__new__"):
            continue
        method = getattr(subject, name)
        if not callable(method):
            continue
        for value in ODD:
            survives(method, value)
        for _ in range(60):
            survives(method, *(dice.choice(ODD) for _ in range(dice.randrange(4))))
    if what == "object":
        assert obj.to_bytes() == before


def test_indices_count_from_both_ends(obj: visakit.Object) -> None:
    kernel = obj.kernels[0]
    size = len(kernel)
    assert kernel[-1] == kernel[size - 1] and kernel[-size] == kernel[0]
    for index in (size, -size - 1, 2**62, -(2**62)):
        with pytest.raises(IndexError):
            kernel[index]
    assert obj[-1] == obj.routines[-1] and obj[-len(obj)] == obj[0]
    for index in (len(obj), -len(obj) - 1):
        with pytest.raises(IndexError):
            obj[index]
    with pytest.raises(KeyError, match="subgroups"):
        obj["nobody"]
    with pytest.raises(TypeError):
        obj[1.5]  # type: ignore[index]
    last = str(kernel[-1])
    kernel.insert(-1, "ret (M1, 1)")
    assert len(kernel) == size + 1 and str(kernel[-1]) == last and str(kernel[-2]) == "ret (M1, 1)"
    kernel.replace(-2, "ret (M1, 1)")
    kernel.remove(-2)
    assert len(kernel) == size
    for index in (size + 1, -size - 1):
        with pytest.raises((IndexError, visakit.EditError)):
            kernel.insert(index, "ret (M1, 1)")


def test_a_change_that_fails_leaves_nothing_behind(obj: visakit.Object) -> None:
    kernel = obj.kernels[0]
    before, declared, path = obj.to_bytes(), kernel.declarations, obj.path
    for change in (
        # The label and the string would be new.
        lambda: kernel.insert(10**6, "newcomer:"),
        lambda: kernel.replace(10**6, "newcomer:"),
        lambda: kernel.insert(10**6, '.file "newcomer.cl"'),
        lambda: kernel.remove(10**6),
        lambda: kernel.rename("general", 10**6, "a"),
        lambda: kernel.retype(10**6, "d"),
        lambda: kernel.new_variable("a", "d", 0),
    ):
        with pytest.raises(visakit.EditError):
            change()
        assert kernel.declarations == declared and obj.path == path and obj.to_bytes() == before
        assert visakit.asm(obj.dis("exact")).to_bytes() == before


def test_a_loop_sees_the_routine_as_it_was(obj: visakit.Object) -> None:
    kernel = obj.kernels[0]
    before = [str(i) for i in kernel]
    seen = []
    for i in kernel:
        seen.append(str(i))
        kernel.remove(0)
    assert seen == before and len(kernel) == 0 and list(kernel) == []
    with pytest.raises(IndexError):
        kernel[0]
    # Empty objects can be printed, drawn and queried.
    assert kernel.cfg() and kernel.dis() and kernel.blocks is not None and visakit.validate(obj) is not None
    assert visakit.read(obj.to_bytes()) == obj
    # Two loops over one routine, and the same iterator twice.
    again = visakit.read(SKL).kernels[0]
    one = iter(again)
    assert [str(i) for i in one] == before and list(one) == [] and next(one, None) is None


def test_views_outlive_everything() -> None:
    held = visakit.read(SKL).kernels[0][1]
    operand = visakit.read(SKL).kernels[0][1].operands[0]
    columns = visakit.columns([visakit.read(SKL)])["instructions"]
    assert str(held) and operand.kind and len(columns)
    assert pickle.loads(pickle.dumps(held)) == held
    routine = visakit.read(SKL).kernels[0]
    assert pickle.loads(pickle.dumps(routine)) == routine


def test_damaged_objects_are_pickled_with_their_damage() -> None:
    data = bytearray(SKL.read_bytes())
    data[visakit.read(SKL).kernels[0][1].offset or 0] = 0xFE
    damaged, faults = visakit.read_lenient(data)
    assert faults
    again = pickle.loads(pickle.dumps(damaged))
    assert again == damaged and again.to_bytes() == data
    for routine in damaged.routines:
        for ask in (lambda: len(routine), lambda: list(routine), lambda: routine.cfg(), lambda: routine[0], lambda: routine.declarations):
            survives(ask)
    survives(visakit.strip, damaged)
    survives(visakit.convert, damaged, "4.1")
    assert len(visakit.table([damaged], "objects")) == 1


@pytest.mark.parametrize("path", OBJECTS[:3], ids=lambda p: p.stem)
def test_truncated_bytes(path: Path) -> None:
    data = path.read_bytes()
    for end in sorted({*range(0, min(len(data), 200)), *range(0, len(data), len(data) // 40 + 1)}):
        cut = data[:end]
        with pytest.raises(visakit.ReadError):
            visakit.read(cut)
        survives(visakit.read_lenient, cut)
        assert len(visakit.table([cut], "objects")) == 1


def test_buffers_of_every_kind() -> None:
    data = SKL.read_bytes()
    words = numpy.frombuffer(data[: len(data) // 4 * 4], numpy.uint32)
    assert visakit.read(numpy.frombuffer(data, numpy.uint8)) == visakit.read(data)  # type: ignore[arg-type]
    with pytest.raises(visakit.ReadError):
        visakit.read(words[:4])  # type: ignore[arg-type]
    for empty in (b"", bytearray(), memoryview(b""), numpy.zeros(0, numpy.uint8), numpy.zeros((0, 3), numpy.uint8)):
        with pytest.raises(visakit.ReadError):
            visakit.read(empty)  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError, BufferError)):
        visakit.read(numpy.frombuffer(data, numpy.uint8)[::2])  # type: ignore[arg-type]
    # The bytes belong to the caller again.
    held = bytearray(data)
    read = visakit.read(held)
    held.clear()
    assert read.to_bytes() == data


def test_arrays_of_every_kind() -> None:
    kernel = blur()
    data, out, local, size = arguments()
    expected = out.copy()
    kernel.run(128, [data, expected, local, size], local_size=64)
    assert expected.any()
    # Read-only arrays are read, but not written.
    frozen = data.copy()
    frozen.flags.writeable = False
    kernel.run(128, [frozen, out, local, size], local_size=64)
    assert (out == expected).all() and (frozen == data).all()
    fixed = numpy.zeros_like(data)
    fixed.flags.writeable = False
    kernel.run(128, [data, fixed, local, size], local_size=64)
    assert not fixed.any()
    for wrong in (data.repeat(2)[::2], data[::-1], numpy.lib.stride_tricks.as_strided(data, (128,), (0,))):
        with pytest.raises(TypeError, match="ascontiguousarray"):
            kernel.run(128, [wrong, out, local, size], local_size=64)
    for wrong in (data.astype(">f4"), data.astype(numpy.complex64), numpy.zeros(64, [("a", "f4"), ("b", "f4")])):
        with pytest.raises(TypeError, match="view of bytes"):
            kernel.run(128, [wrong, out, local, size], local_size=64)
    # A structure as its bytes.
    pairs = numpy.zeros(64, [("a", "f4"), ("b", "f4")])
    kernel.run(128, [data, pairs.view(numpy.uint8), local, size], local_size=64)
    assert (pairs.view(numpy.float32) == expected).all()
    # There is nothing to read.
    for empty in (numpy.zeros(0, numpy.float32), numpy.zeros((3, 0), numpy.float32), b""):
        survives(kernel.run, 128, [empty, out, local, size], local_size=64)
    for shape in ((128,), (8, 16), (2, 4, 16)):
        shaped = data.reshape(shape)
        into = numpy.zeros(shape, numpy.float32)
        kernel.run(128, [shaped, into, local, size], local_size=64)
        assert (into.ravel() == expected).all()
    # The same array twice is one buffer.
    same = data.copy()
    kernel.run(128, [same, same, local, size], local_size=64)
    with pytest.raises(TypeError, match="no array, number or None"):
        kernel.run(128, [object(), out, local, size])


def test_an_array_is_held_while_it_is_used() -> None:
    kernel = blur()
    store = bytearray(arguments()[0].tobytes())
    out = bytearray(len(store))
    kernel.run(128, [store, out, visakit.Local(264), numpy.int32(128)], local_size=64)
    assert any(out)
    # And released.
    out.extend(b"more")
    store.clear()


@pytest.mark.parametrize(
    "grid",
    [0, -1, 2**32, 2**64, (), (1, 2, 3, 4), (0, 1), (2**31, 2**31, 2**31), (2**32 - 1, 2**32 - 1, 2**32 - 1), 1.5, "128", None, [None]],
)
def test_grids_that_cannot_be(grid: Any) -> None:
    kernel = blur()
    survives(kernel.run, grid, arguments(), timeout=0.5)
    survives(kernel.run, 128, arguments(), local_size=grid, timeout=0.5)
    survives(kernel.run, 128, arguments(), local_size=64, global_offset=grid, timeout=0.5)
    survives(kernel.debug, grid, arguments())


def test_huge_grids_end_with_the_time() -> None:
    for grid in (2**32 - 64, (2**31, 64), (2**20, 2**20, 64)):
        with pytest.raises(visakit.RunError):
            blur().run(grid, arguments(), local_size=64, timeout=0.3)
    for limits in ({"max_steps": -1}, {"timeout": -1.0}, {"timeout": float("nan")}, {"trace": -1}, {"max_steps": 2**64}):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            blur().run(128, arguments(), local_size=64, **limits)
    for size in (-1, 2**64, 2**40, "a", None):
        survives(blur().run, 128, [*arguments()[:2], visakit.Local(size), numpy.int32(128)], local_size=64)  # type: ignore[arg-type]


def test_threads_read_edit_and_run_at_once(obj: visakit.Object) -> None:
    """Threads that free the interpreter lock in runs and tables, on objects that others change."""
    kernel, shared = blur(), obj
    expected = arguments()
    kernel.run(128, expected, local_size=64)
    failures: list[BaseException] = []
    before = [str(i) for i in shared.kernels[0]]
    go = threading.Barrier(8)

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                go.wait()
                for _ in range(6):
                    work()
            except BaseException as error:
                failures.append(error)

        return run

    def launch() -> None:
        mine = arguments()
        kernel.run(128, mine, local_size=64)
        assert (mine[1] == expected[1]).all()

    def tables() -> None:
        made = visakit.columns([shared, *OBJECTS], ["routines", "instructions"])
        assert len(made["instructions"]) > len(before)

    def edit() -> None:
        routine = shared.kernels[0]
        routine.insert(0, "ret (M1, 1)")
        routine.remove(0)

    def look() -> None:
        texts = [str(i) for i in shared.kernels[0]]
        assert [text for text in texts if text != "ret (M1, 1)"] == [text for text in before if text != "ret (M1, 1)"]
        assert pickle.loads(pickle.dumps(shared)) is not None

    threads = [threading.Thread(target=guarded(work)) for work in (launch, launch, tables, tables, edit, edit, look, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert [str(i) for i in shared.kernels[0]] == before


def test_one_array_in_two_runs_at_once() -> None:
    kernel = blur()
    data, out, local, size = arguments()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            for _ in range(10):
                kernel.run(128, [data, out, local, size], local_size=64)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    alone = numpy.zeros_like(out)
    kernel.run(128, [data, alone, local, size], local_size=64)
    assert (out == alone).all()
