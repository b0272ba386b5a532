"""The package as users see it."""

import copy
import gc
import gzip
import json
import pickle
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any, Literal

import numpy
import pyarrow
import pytest
import visakit

ROOT = Path(__file__).resolve().parent.parent.parent
OBJECTS = sorted((ROOT / "fixtures" / "objects").glob("*.isa"))
SKL = ROOT / "fixtures" / "objects" / "subgroups_skl_v36.isa"
KERNELS = ROOT / "fixtures" / "kernels"


@pytest.fixture
def obj() -> visakit.Object:
    return visakit.read(SKL)


@pytest.mark.parametrize("path", OBJECTS, ids=lambda p: p.stem)
def test_every_object_goes_through_everything(path: Path) -> None:
    data = path.read_bytes()
    obj = visakit.read(path)
    assert visakit.read(data) == visakit.read(bytearray(data)) == visakit.read(memoryview(data)) == obj
    assert visakit.write(obj) == data
    assert pickle.loads(pickle.dumps(obj)) == obj == copy.deepcopy(obj)
    assert visakit.asm(obj.dis("exact")).to_bytes() == data
    assert visakit.fmt(str(obj))
    visakit.validate(obj)
    assert visakit.diff(obj, obj) == []
    assert "<pre>" in obj._repr_html_()
    rows = visakit.table([obj], "instructions").to_pylist()
    seen = 0
    for number, routine in enumerate(obj.routines):
        assert "<svg" in routine.cfg() and "<svg" in routine._repr_html_()
        for row, i in zip((r for r in rows if r["routine"] == number), routine):
            seen += 1
            assert (row["name"], row["mnemonic"], row["opcode"], row["exec_size"]) == (i.op, i.mnemonic, i.opcode, i.exec_size)
            assert (row["mask"], row["type"], row["flow"], row["memory"]) == (i.mask, i.type, i.flow, i.memory)
            assert row["offset"] == i.offset and data[row["offset"]] == i.opcode
            assert i == pickle.loads(pickle.dumps(i)) if seen < 5 else True
    assert seen == len(rows)


def test_an_instruction_tells_what_it_is(obj: visakit.Object) -> None:
    mul = next(i for i in obj.kernels[0] if i.op is visakit.Op.MUL)
    assert mul.op == "MUL" and mul.group is visakit.Group.ARITHMETIC
    assert str(mul).startswith("mul (M1_NM, 1)") and str(mul) in repr(mul)
    assert mul["dst"].kind == "general" and mul["dst"].role == "destination"
    assert mul.type is visakit.DataType.D and mul["src0"].type == "d"
    assert ("src0", mul.reads[0][1]) == mul.reads[0] and mul.writes[0][0] == "dst"
    assert "src0" in mul and "src9" not in mul
    with pytest.raises(KeyError):
        mul["src9"]
    assert {mul: 1}[mul] == 1


def test_faults_of_texts_have_places_and_help() -> None:
    with pytest.raises(visakit.AsmError) as caught:
        visakit.asm('.version 4.1\n.kernel "a"\n.decl V32 v_type=G type=d num_elts=8\n  mov (M1, 8) V33(0,0)<1> 0x1:d\n')
    (fault,) = caught.value.args[0]
    assert (fault.line, fault.column, fault.length) == (4, 15, 3)
    assert fault.help == "did you mean `V32`?" and "V33" in fault.message


def test_damaged_objects_say_where(obj: visakit.Object) -> None:
    data = bytearray(SKL.read_bytes())
    data[obj.kernels[0][1].offset or 0] = 0xFE
    with pytest.raises(visakit.ReadError) as caught:
        visakit.read(data)
    assert isinstance(caught.value.args[1], int)
    lenient, faults = visakit.read_lenient(data)
    assert faults and lenient.to_bytes() == data
    with pytest.raises(visakit.ReadError):
        visakit.read(b"no object")


def test_changes_are_checked_and_reach_the_object(obj: visakit.Object) -> None:
    before = obj.to_bytes()
    kernel = obj.kernels[0]
    held = kernel[1]
    name = kernel.declarations[0][2]
    with pytest.raises(visakit.EditError) as caught:
        kernel.remove_declaration(kernel.inputs[0][0], kernel.inputs[0][1])
    assert caught.value.args[1] and obj.to_bytes() == before and obj.path
    kernel.insert(1, f"mov (M1, 8) {name}(0,0)<1> 0x2a:d")
    assert kernel[1]["src0"].value == 42 and kernel[2] == held
    assert obj.path is None and held.offset is not None and kernel[1].offset is None
    kernel.replace(1, f"mov (M1, 8) {name}(0,0)<1> 0x2b:d")
    assert kernel[1]["src0"].value == 43
    kernel.remove(1)
    assert [i for i in kernel] == [i for i in visakit.read(before).kernels[0]]
    number = kernel.new_variable("scratch", "ud", 16)
    kernel.rename("general", number, "spill")
    assert ("general", number, "spill", "ud", 16) in kernel.declarations
    kernel.remove_declaration("general", number)
    assert visakit.read(obj.to_bytes()) == obj
    with pytest.raises(visakit.AsmError):
        kernel.insert(0, "mov (M1, 8) nobody(0,0)<1> 0x2a:d")


def test_conversions_and_stripping(obj: visakit.Object) -> None:
    old = visakit.convert(obj, "3.1")
    assert old.version == "3.1" and obj.version == "3.6"
    bare = visakit.strip(obj)
    assert len(bare.to_bytes()) < len(obj.to_bytes())
    assert visakit.diff(obj, bare)
    with pytest.raises(ValueError):
        visakit.convert(obj, "9.9")


def test_reflection_and_generation() -> None:
    assert visakit.isa("mad")[0]["name"] == "MAD" and len(visakit.isa()) > 200
    assert visakit.explain("V0226")["rule"].startswith("V0226-")
    assert visakit.smith(7) == visakit.smith(7) != visakit.smith(8)
    assert not visakit.validate(visakit.smith(7))
    assert {row["name"] for row in visakit.isa()} == {str(op) for op in visakit.Op}


def test_search(obj: visakit.Object) -> None:
    found = visakit.search(obj, "shl dst=$x ->2 addr_add reads=$x")
    assert len(found) == 2
    kind, number, places, bound = found[0]
    assert (kind, number) == ("kernel", 0) and dict(bound)["x"] in str(obj.kernels[0][places[1]])
    with pytest.raises(ValueError, match="column 5: `colour` is no key"):
        visakit.search(obj, "mul colour=red")


def test_columns_are_arrow_tables() -> None:
    made = visakit.columns(OBJECTS)
    tables = {name: pyarrow.table(columns) for name, columns in made.items()}
    gc.collect()
    for name, doc, columns in visakit.schema():
        table = tables[name]
        table.validate(full=True)
        assert doc and table.column_names == [c[0] for c in columns]
        for column, _, nullable, _ in columns:
            assert nullable or table.column(column).null_count == 0
    assert tables["objects"].num_rows == len(OBJECTS)
    counted = sum(tables["objects"].column("instructions").to_pylist())
    assert counted == tables["instructions"].num_rows
    assert tables["routines"].column("minhash").to_pylist()[0] and len(made["operands"]) > counted
    # A text has the rows of the object it assembles to, without places.
    text = KERNELS / "blur.dg2.visaasm"
    rows = visakit.table([text])
    assert rows.num_rows == visakit.table([visakit.asm(text.read_text())]).num_rows > 0
    assert rows.column("offset").null_count == rows.num_rows
    assert visakit.table([text, OBJECTS[0]], "objects").column("form").to_pylist() == ["text", "binary"]
    with pytest.raises(ValueError, match="no table is called"):
        visakit.columns([], ["nothing"])
    broken = visakit.table([b"CISA"], "objects").to_pylist()[0]
    assert broken["error"] and broken["version"] is None


def kernel(name: str, device: str = "pvc") -> visakit.Kernel:
    text = (KERNELS / f"{name}.{device}.visaasm").read_text()
    grf = 64 if device == "pvc" else 32
    return visakit.Kernel(visakit.asm(text, grf_bytes=grf), (KERNELS / f"bench.{device}.zeinfo").read_text(), name, grf_bytes=grf)


@pytest.mark.parametrize("device", ["pvc", "acm-g10"])
def test_kernels_run_on_arrays_in_place(device: str) -> None:
    size = 32
    rows, columns, result = (numpy.random.default_rng(1).random((size, size), numpy.float32) for _ in range(3))
    limit = 50
    out = numpy.zeros(64 * 16, numpy.uint32)
    view = out[:]
    args = [out, numpy.uint32(64), numpy.uint32(limit), numpy.float32(-2), numpy.float32(-1), numpy.float32(0.05)]
    outcome = kernel("mandelbrot", device).run(out.size, args, local_size=64)
    assert outcome.groups == out.size // 64 and outcome.instructions > out.size
    # Points far outside leave at once, and those inside never.
    assert view.min() <= 2 and view.max() == limit
    assert rows.shape == columns.shape == result.shape


def test_wrong_arguments_are_told() -> None:
    mandelbrot = kernel("mandelbrot")
    out = numpy.zeros(64, numpy.uint32)
    with pytest.raises(visakit.RunError, match="takes 6 arguments"):
        mandelbrot.run(64, [out])
    with pytest.raises(TypeError, match="numpy.int32"):
        mandelbrot.run(64, [out, 64, 50, 0.0, 0.0, 0.05])
    with pytest.raises(TypeError, match="ascontiguousarray"):
        mandelbrot.run(64, [numpy.zeros((8, 16), numpy.uint32)[:, ::2], *[numpy.uint32(1)] * 5])
    with pytest.raises(visakit.RunError, match="no kernel `nobody`"):
        visakit.Kernel(visakit.read(SKL), (KERNELS / "bench.pvc.zeinfo").read_text(), "nobody")


def forever() -> tuple[visakit.Kernel, list[object]]:
    args = [numpy.uint32(64), numpy.uint32(0xFFFFFFFF), numpy.float32(0), numpy.float32(0), numpy.float32(0)]
    return kernel("mandelbrot"), [numpy.zeros(4096, numpy.uint32), *args]


def test_limits_stop_a_run() -> None:
    endless, args = forever()
    with pytest.raises(visakit.RunError):
        endless.run(4096, args, local_size=64, max_steps=100_000)
    begin = time.monotonic()
    with pytest.raises(visakit.RunError, match="the time is up"):
        endless.run(4096, args, local_size=64, timeout=0.2)
    assert time.monotonic() - begin < 60


def test_control_c_stops_a_run_and_other_threads_go_on() -> None:
    endless, args = forever()
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    # Processes that a shell runs in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            endless.run(4096, args, local_size=64, timeout=120)
    finally:
        signal.signal(signal.SIGINT, before)
        stop.set()
        thread.join()
    assert counted > 10


def blur() -> visakit.Kernel:
    text = (KERNELS / "blur.dg2.visaasm").read_text()
    return visakit.Kernel(visakit.asm(text), (KERNELS / "blur.dg2.zeinfo").read_text())


def blurred(values: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    padded = numpy.pad(values, 1, mode="edge")
    return padded[:-2] * numpy.float32(0.25) + padded[1:-1] * numpy.float32(0.5) + padded[2:] * numpy.float32(0.25)


@pytest.mark.parametrize("jit", ["auto", "always", "never"])
def test_machine_code_gives_the_same(jit: Literal["auto", "always", "never"]) -> None:
    data = numpy.random.default_rng(2).random(256, numpy.float32)
    out = numpy.zeros_like(data)
    blur().run(256, [data, out, visakit.Local(66 * 4), numpy.int32(256)], local_size=64, jit=jit)
    numpy.testing.assert_allclose(out, blurred(data), rtol=1e-6)
    with pytest.raises(ValueError, match="jit is one of"):
        blur().run(256, [data, out, visakit.Local(264), numpy.int32(256)], local_size=64, jit="no")  # type: ignore[arg-type]


def test_checkers_find_what_is_wrong() -> None:
    data = numpy.ones(128, numpy.float32)
    out = numpy.zeros_like(data)
    right = [data, out, visakit.Local(66 * 4), numpy.int32(128)]
    assert blur().run(128, right, local_size=64, check=True).findings == []
    assert (out == 1).all()
    # Two elements of the tile are missing.
    wrong = [data, out, visakit.Local(64 * 4), numpy.int32(128)]
    findings = blur().run(128, wrong, local_size=64, check=["memory", "race"]).findings
    first = findings[0]
    assert first.kind == "out-of-bounds" and first.level == "error" and first.space == "local"
    assert first.file and first.file.endswith("blur.cl") and first.line and first.count >= 1
    assert first.object == "tile" and first.object_bytes == 256 and first.local_id
    assert "out-of-bounds" in repr(first)
    with pytest.raises(ValueError, match="no kind of check"):
        blur().run(128, right, local_size=64, check="speed")


def test_a_profile_counts() -> None:
    data = numpy.ones(256, numpy.float32)
    out = numpy.zeros_like(data)
    args = [data, out, visakit.Local(66 * 4), numpy.int32(256)]
    profile = blur().run(256, args, local_size=64, profile=True).profile
    assert profile is not None and profile.nanoseconds > 0 and (out == 1).all()
    [of] = profile.kernels
    assert of["kernel"] == "blur" and of["groups"] == 4 and of["launches"] == 1
    assert any(i["mnemonic"] == "barrier" for i in of["instructions"])
    assert "<!DOCTYPE html>" in profile.html("blurred") and profile.folded().startswith("blur;")
    assert "blur" in repr(profile) and '"kernels"' in profile.json()
    assert blur().run(256, args, local_size=64).profile is None
    with pytest.raises(ValueError, match="give one of check"):
        blur().run(256, args, local_size=64, check=True, profile=True)


def test_a_debugger_steps_forward_and_back() -> None:
    data = numpy.arange(128, dtype=numpy.float32)
    out = numpy.zeros_like(data)
    debugger = blur().debug(128, [data, out, visakit.Local(66 * 4), numpy.int32(128)], local_size=64)
    assert debugger.stop == "before the first instruction" and debugger.time == (0, 0)
    point = debugger.break_at("blur.cl:15")
    assert debugger.go_on().startswith(f"breakpoint {point}")
    place = debugger.place
    assert place and place[0] == "blur" and place[4] == 15
    before = debugger.time
    sums = dict(debugger.variables())
    assert debugger.step("over-line") == "stopped" and debugger.time > before
    debugger.step_back("over-line")
    assert debugger.time == before and dict(debugger.variables()) == sums
    assert len(debugger.threads()) >= 2 and debugger.backtrace()[0][0] == "blur"
    debugger.look_at(1, 3)
    assert debugger.focus == (1, 3) and debugger.evaluate("$lane * 2") == 6
    debugger.remove(point)
    debugger.go_on()
    assert debugger.ended
    result = numpy.frombuffer(debugger.buffer(1), numpy.float32)
    numpy.testing.assert_allclose(result, blurred(data), rtol=1e-6)
    # Arrays are copied.
    assert (out == 0).all()
    assert "continue" in debugger.execute("help")
    for wrong in (lambda: debugger.evaluate("1 +"), lambda: debugger.break_at("nowhere"), lambda: debugger.variable("V9999")):
        with pytest.raises(visakit.RunError):
            wrong()


def case(name: str, device: str) -> tuple[Path, dict[str, Any], visakit.Variables]:
    folder = ROOT / "fixtures" / "cases" / name / device
    told = json.loads((folder / "case.json").read_text())
    sections = {s["section"]: (folder / s["file"]).read_bytes() for s in told["data_sections"]}
    symbols = {s["name"]: (s["section"], s["offset"]) for s in told["data_symbols"]}
    return folder, told, visakit.Variables(sections, symbols)


def test_program_scope_variables() -> None:
    folder, told, variables = case("const_table", "skl")
    assert variables.names == ["TAB", "W"] and len(variables) == 2
    assert numpy.frombuffer(variables["W"], numpy.float32)[0] == 0.0625
    assert variables.sections[".data.const"] == (folder / "data.const.bin").read_bytes()
    with pytest.raises(KeyError, match="nothing"):
        variables["nothing"]
    args: list[Any] = [numpy.fromfile(folder / a["file"], numpy.uint8) for a in told["args"]]
    zeinfo = (folder / "k.zeinfo").read_text()
    kernel = visakit.Kernel(visakit.read(folder / "k.isa"), zeinfo, variables=variables)
    kernel.run(64, args, local_size=32)
    assert args[0].tobytes() == (folder / ".." / "expect0.bin").read_bytes()
    assert kernel.variables.sections == variables.sections and "TAB" in repr(variables)
    bare = visakit.Kernel(visakit.read(folder / "k.isa"), zeinfo)
    with pytest.raises(visakit.RunError):
        bare.run(64, args, local_size=32)


def test_what_a_kernel_prints() -> None:
    folder, told, variables = case("printing", "pvc")
    text = gzip.decompress((folder / "k.visaasm.gz").read_bytes()).decode()
    kernel = visakit.Kernel(visakit.asm(text, platform="pvc"), (folder / "k.zeinfo").read_text(), grf_bytes=64, variables=variables)
    args = [numpy.fromfile(folder / a["file"], numpy.int32) for a in told["args"]]
    # Threads print in an unspecified order.
    printed = kernel.run(32, args, local_size=32).printed
    assert sorted(printed.splitlines()) == sorted(told["printf"].splitlines())


def test_a_zebin_is_all_that_a_kernel_needs() -> None:
    text = (KERNELS / "lookup.pvc.visaasm").read_text()
    kernel = visakit.Kernel.from_zebin(KERNELS / "lookup.pvc.zebin", object=visakit.asm(text, platform="pvc"))
    out = numpy.zeros(8, numpy.int32)
    which = numpy.array([0, 1] * 4, numpy.int32)
    kernel.run(8, [out, which, numpy.int32(1000)])
    assert out.tolist()[0] == 1000 and kernel.variables.sections
    with pytest.raises(TypeError, match="is of type int, the value is of type float"):
        kernel.run(8, [out, which, numpy.float32(1000)])
    assert visakit.Variables.from_zebin(KERNELS / "lookup.pvc.zebin").names == kernel.variables.names
    with pytest.raises(visakit.RunError):
        visakit.Kernel.from_zebin(KERNELS / "lookup.pvc.zebin")


def test_names_are_those_of_texts(obj: visakit.Object) -> None:
    for routine in obj.routines:
        names = {declaration.name for declaration in routine.declarations if declaration.name}
        for instruction in routine:
            for access in (*instruction.reads, *instruction.writes):
                if access.what in names:
                    assert access.what in routine.dis()
        block = routine.blocks[0]
        assert (block.first, block.end, block.next) == block
    with pytest.raises(KeyError, match=f"there are {obj.routines[0].name}"):
        obj["nope"]


def test_errors_of_files_are_those_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        visakit.read(tmp_path / "none.isa")
    assert caught.value.filename == str(tmp_path / "none.isa") and caught.value.errno == 2
    assert dir(visakit) == sorted(visakit.__all__)


@pytest.mark.skipif(shutil.which("ocloc") is None, reason="needs Intel's offline compiler")
def test_a_source_is_all_that_a_kernel_needs(tmp_path: Path) -> None:
    source = tmp_path / "scale.cl"
    source.write_text("kernel void scale(global float *x, float by) { x[get_global_id(0)] *= by; }")
    for kernel in (
        visakit.Kernel.from_source(source),
        visakit.Kernel.from_source(source.read_text()),
        visakit.Kernel.from_source(source.read_bytes(), "scale", device="pvc", simd=16),
    ):
        data = numpy.arange(64, dtype=numpy.float32)
        kernel.run(64, [data, numpy.float32(3)])
        assert data.tolist() == [3.0 * n for n in range(64)]
    with pytest.raises(visakit.RunError, match="error: use of undeclared identifier"):
        visakit.Kernel.from_source(b"kernel void scale(global float *x) { x[0] = y; }")
    with pytest.raises(visakit.RunError, match="does not know the device"):
        visakit.Kernel.from_source(source, device="nothing")
    with pytest.raises(visakit.RunError, match="no SIMD width 7.*8, 16, 32"):
        visakit.Kernel.from_source(source, simd=7)


def test_elements_are_of_the_types_in_the_source() -> None:
    kernel, local, count = blur(), visakit.Local(66 * 4), numpy.int32(128)
    names = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
    for name in names:
        data = numpy.zeros(512 // numpy.dtype(name).itemsize, name)
        args = [data, numpy.zeros(128, numpy.float32), local, count]
        # Arrays of bytes hold anything.
        if name in ("int8", "uint8", "float32"):
            kernel.run(128, args, local_size=64)
            continue
        for method in (kernel.run, kernel.debug):
            with pytest.raises(TypeError, match=r"is of type float\*, the array has elements of type"):
                method(128, args, local_size=64)


def test_traces() -> None:
    data = numpy.arange(128, dtype=numpy.float32)
    out = numpy.zeros_like(data)
    args = [data, out, visakit.Local(66 * 4), numpy.int32(128)]
    outcome = blur().run(128, args, local_size=64, trace=True)
    trace = outcome.trace
    assert trace is not None and len(trace) == outcome.instructions and trace.missed == 0
    numpy.testing.assert_allclose(out, blurred(data), rtol=1e-6)
    first, last = trace[0], trace[-1]
    assert first.group == (0, 0, 0) and last.group == (1, 0, 0) and "ret" in last.text and "ret" in repr(last)
    written = [step for step in trace if step.values is not None and step.mask == 0xFFFF]
    assert written and all(len(step.values or []) == 16 for step in written if "(M1, 16)" in step.text)
    half = next(step for step in trace if "0x3e800000:f" in step.text and step.values)
    assert half.values is not None and half.routine == ("kernel", 0) and half.instruction > 0
    some = blur().run(128, args, local_size=64, trace=10).trace
    assert some is not None and len(some) == 10 and some.missed == outcome.instructions - 10
    assert blur().run(128, args, local_size=64, trace=False).trace is None
    with pytest.raises(IndexError):
        some[10]
    with pytest.raises(ValueError, match="give one of"):
        blur().run(128, args, local_size=64, trace=True, check=True)


def test_a_text_that_needs_the_platform_says_so() -> None:
    text = '.version 4.1\n.kernel "a"\n.decl V32 v_type=G type=ud num_elts=(%sizeof(GRF)/4)\n    ret (M1, 1)\n'
    with pytest.raises(visakit.AsmError) as caught:
        visakit.asm(text)
    (fault,) = caught.value.args[0]
    assert (fault.line, fault.length) == (3, 3) and "platform" in fault.help
    elements = [visakit.asm(text, platform=p).kernels[0].declarations[0][4] for p in ("dg2", "PVC")]
    assert elements == [8, 16]
    with pytest.raises(ValueError, match="no platform"):
        visakit.asm(text, platform="z80")


def test_findings_tell_their_cause() -> None:
    images = visakit.read(ROOT / "fixtures" / "objects" / "images_dg2_v41.isa")
    assert {f.cause for f in visakit.validate(images, platform="pvc")} == {"register-size"}
    assert not visakit.validate(images, platform="dg2")


def test_images() -> None:
    text = (KERNELS / "images.acm-g10.visaasm").read_text()
    kernel = visakit.Kernel(visakit.asm(text), (KERNELS / "images.acm-g10.zeinfo").read_text())
    values = numpy.arange(32, dtype=numpy.float32)

    def image(kind: str, *shape: int) -> visakit.Image:
        return visakit.Image(values[: numpy.prod(shape)].reshape(shape), kind, "R", "FLOAT")

    copy = numpy.zeros((2, 4, 4), numpy.float32)
    out = numpy.zeros(256, numpy.float32)
    args = [
        image("image1d", 4),
        image("image1d_buffer", 4),
        image("image1d_array", 4, 4),
        image("image2d_array", 2, 4, 4),
        image("image3d", 2, 4, 4),
        visakit.Image(copy, "image2d_array", "R", "FLOAT"),
        out,
    ]
    kernel.run(32, args, local_size=16)
    x, y, z = numpy.arange(32) & 3, (numpy.arange(32) >> 2) & 3, numpy.arange(32) >> 4
    assert (out[:32] == numpy.maximum(x - 1, 0)).all()
    assert (out[32:64] == x).all()
    assert (out[224:] == 4 + 10 * 4 + 100 * 2 + 1000 * 2 + 10000 * 4).all()
    expected = numpy.zeros_like(copy)
    expected[1 - z, y, 3 - x] = numpy.arange(32)
    assert (copy == expected).all()
    with pytest.raises(ValueError, match="a kind of image is one of"):
        visakit.Image(copy, "image4d", "R", "FLOAT")
    args[0] = visakit.Image(copy, "image1d", "XYZ", "FLOAT", sizes=[4])
    with pytest.raises(ValueError, match="argument 0"):
        kernel.run(32, args, local_size=16)
    assert repr(visakit.Sampler()) == "Sampler(CLAMP_TO_EDGE, NEAREST, normalized=False)"
