"""Arrays of dpctl and dpnp on the device beside NumPy's: what gave wrong values once, and each part of oneMKL that dpnp has.

Prints what each part did; exits with the number of parts that failed.
"""

import sys

import dpnp
import dpnp.tensor as tensor
import numpy

rng = numpy.random.default_rng(1)
failures = 0


def part(name: str, got: object, wanted: object, tolerance: float = 0) -> None:
    """Compares an array of the device with one of NumPy."""
    global failures
    got = numpy.asarray(dpnp.asnumpy(got) if isinstance(got, dpnp.ndarray) else tensor.asnumpy(got))
    wanted = numpy.asarray(wanted)
    error = numpy.abs(got - wanted).max() / max(1, numpy.abs(wanted).max())
    right = error <= tolerance
    failures += not right
    print(f"{name}: {'right' if right else f'wrong, by {error}'}", flush=True)


def reversed_views() -> None:
    """Negative strides: pointers into the middle of allocations."""
    for size in (8, 127):
        x, y = tensor.ones(2 * size, dtype="i4")[::-2], tensor.ones(2 * size, dtype="i4")[::2]
        part(f"reversed views of {size}", tensor.add(x, y), numpy.full(size, 2))
    x = numpy.arange(100, dtype="i4")
    part("sums of a reversed view", dpnp.cumsum(dpnp.array(x)[::-1]), numpy.cumsum(x[::-1]))


def cholesky() -> None:
    """Local memory beyond what the kernel asks for: matrices of 29 to 32 rows."""
    for rows in (4, 29, 32, 40):
        a = rng.standard_normal((rows, rows)) + rows * numpy.eye(rows)
        s = (a @ a.T).astype("f4")
        part(f"Cholesky, {rows} rows", dpnp.linalg.cholesky(dpnp.array(s)), numpy.linalg.cholesky(s), 1e-5)


def products() -> None:
    """Values larger than parameters; ESIMD on some devices."""
    a, v = numpy.arange(2000, dtype="f4").reshape(50, 40), numpy.arange(40, dtype="f4")
    part("matrix by vector", dpnp.array(a) @ dpnp.array(v), a @ v, 1e-5)
    part("matrix by matrix", dpnp.array(a) @ dpnp.array(a.T), a @ a.T, 1e-5)


def others() -> None:
    """Transforms, solvers, vector functions, sorting."""
    x = rng.standard_normal(256).astype("f4")
    part("FFT", dpnp.fft.fft(dpnp.array(x)), numpy.fft.fft(x), 1e-5)
    a = (rng.standard_normal((12, 12)) + 12 * numpy.eye(12)).astype("f4")
    b = rng.standard_normal(12).astype("f4")
    part("solve", dpnp.linalg.solve(dpnp.array(a), dpnp.array(b)), numpy.linalg.solve(a, b), 1e-4)
    part("singular values", dpnp.linalg.svd(dpnp.array(a))[1], numpy.linalg.svd(a)[1], 1e-4)
    part("sine", dpnp.sin(dpnp.array(x)), numpy.sin(x), 1e-5)
    part("sort", dpnp.sort(dpnp.array(x)), numpy.sort(x))


print(dpnp.array([1]).sycl_device.name)
reversed_views()
cholesky()
products()
others()
print(f"{failures} failed")
sys.exit(failures)
