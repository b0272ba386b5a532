"""64-bit floats that the compiler makes of whole numbers: results are those of the host, bit by bit."""
import numpy as np
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
assert "cl_khr_fp64" in context.devices[0].extensions
program = cl.Program(context, """
__kernel void k(__global double *out, __global const double *in) {
  int i = get_global_id(0);
  double x = in[i], y = in[i + 1];
  out[4 * i] = x * y + x; out[4 * i + 1] = x / y; out[4 * i + 2] = sqrt(fabs(x)); out[4 * i + 3] = (double)(long)x - y;
}""").build(["-cl-opt-disable"])
x = np.random.RandomState(1).standard_normal(65) * 1e3
y = np.zeros(256)
source = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
target = cl.Buffer(context, cl.mem_flags.READ_WRITE, y.nbytes)
program.k(queue, (64,), None, target, source)
cl.enqueue_copy(queue, y, target)
a, b = x[:64], x[1:]
want = np.stack([a * b + a, a / b, np.sqrt(abs(a)), np.trunc(a) - b], 1)
assert np.allclose(y.reshape(64, 4), want, rtol=1e-15, atol=1e-12), abs(y.reshape(64, 4) - want).max(0)
