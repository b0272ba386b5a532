"""A dozen small programs on the device, results against numpy."""
import os
import sys

os.environ["PYOPENCL_NO_CACHE"] = "1"
import numpy as np
import pyopencl as cl

ctx = cl.Context(cl.get_platforms()[0].get_devices())
queue = cl.CommandQueue(ctx)
MF = cl.mem_flags
rng = np.random.default_rng(1)
count = 0


def run(source, kernel, size, local, args, out, want, options=(), exact=True):
    """Arrays become buffers; compares the buffer of argument `out`."""
    global count
    given = [cl.Buffer(ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=a) if isinstance(a, np.ndarray) and a.ndim else a
             for a in args]
    program = cl.Program(ctx, source).build(list(options))
    getattr(program, kernel)(queue, size, local, *given)
    got = np.empty_like(args[out])
    cl.enqueue_copy(queue, got, given[out])
    good = np.array_equal(got, want) if exact else np.allclose(got, want, rtol=1e-5, atol=1e-6)
    if not good:
        sys.exit(f"{kernel}: {got.ravel()[:8]}, not {want.ravel()[:8]}")
    count += 1


f = rng.random(1024, dtype=np.float32)
g = rng.random(1024, dtype=np.float32)
i = rng.integers(-1000, 1000, 1024, dtype=np.int32)
zero = np.zeros(1024, np.float32)

run("kernel void add(global float*a,global float*b,global float*c){int i=get_global_id(0);c[i]=a[i]+b[i];}",
    "add", (1024,), None, [f, g, zero], 2, f + g)
run("kernel void offset(global int*a,int4 v){int i=get_global_id(0);a[i]+=v.z;}",
    "offset", (1024,), (16,), [i, np.array((1, 2, 3, 4), cl.cltypes.int4)], 0, i + 3)
run("kernel void sum(global int*a,global int*s,local int*t){int l=get_local_id(0);t[l]=a[get_global_id(0)];"
    "for(int n=get_local_size(0)/2;n;n/=2){barrier(CLK_LOCAL_MEM_FENCE);if(l<n)t[l]+=t[l+n];}"
    "if(!l)atomic_add(s,t[0]);}",
    "sum", (1024,), (128,), [i, np.zeros(1, np.int32), cl.LocalMemory(512)], 1, np.array([i.sum()], np.int32))
a, b = f.reshape(32, 32), g.reshape(32, 32)
run("kernel void mul(global float*a,global float*b,global float*c,int n){int x=get_global_id(0),y=get_global_id(1);"
    "float s=0;for(int k=0;k<n;k++)s+=a[y*n+k]*b[k*n+x];c[y*n+x]=s;}",
    "mul", (32, 32), (8, 8), [a, b, np.zeros((32, 32), np.float32), np.int32(32)], 2, a @ b, exact=False)
run("kernel void scratch(global int*a){int t[40];int i=get_global_id(0);for(int k=0;k<40;k++)t[(k*7+i)%40]=k+a[i];"
    "a[i]=t[(i*13)%40];}",
    "scratch", (1024,), None, [i], 0,
    np.array([next(k for k in range(40) if (k * 7 + n) % 40 == n * 13 % 40) + v for n, v in enumerate(i)], np.int32))
run("kernel void defined(global int*a){a[get_global_id(0)]=VALUE;}",
    "defined", (64,), None, [np.zeros(64, np.int32)], 0, np.full(64, 77, np.int32), ["-DVALUE=77"])
run("kernel void math(global float*a,global float*c){int i=get_global_id(0);c[i]=exp(sin(a[i]))*sqrt(a[i]);}",
    "math", (1024,), None, [f, zero], 1, np.exp(np.sin(f)) * np.sqrt(f), exact=False)
run("kernel void wide(global long*a){int i=get_global_id(0);a[i]=a[i]*a[i]/7-i;}",
    "wide", (1024,), None, [i.astype(np.int64)], 0, i.astype(np.int64) ** 2 // 7 - np.arange(1024))
run("kernel void bytes(global uchar*a){int i=get_global_id(0);a[i]=add_sat(a[i],(uchar)100);}",
    "bytes", (256,), None, [np.arange(256, dtype=np.uint8)], 0,
    np.minimum(np.arange(256) + 100, 255).astype(np.uint8))
run("kernel void vectors(global float4*a){int i=get_global_id(0);a[i]=a[i].wzyx;}",
    "vectors", (256,), None, [f], 0, f.reshape(256, 4)[:, ::-1].reshape(1024).copy())
run("kernel void loop(global int*a){int i=get_global_id(0);int n=i+1,s=0;while(n!=1){n=n&1?3*n+1:n/2;s++;}a[i]=s;}",
    "loop", (8,), None, [np.zeros(8, np.int32)], 0, np.array([0, 1, 7, 2, 5, 8, 16, 3], np.int32))
half = f.astype(np.float16)
run("#pragma OPENCL EXTENSION cl_khr_fp16:enable\nkernel void halves(global half*a){int i=get_global_id(0);a[i]=a[i]*2;}",
    "halves", (1024,), None, [half], 0, half * np.float16(2))
# A program without kernels is one, too.
none = cl.Program(ctx, "float twice(float x) { return 2 * x; }").build()
if none.get_info(cl.program_info.NUM_KERNELS) != 0:
    sys.exit("a function is no kernel")
print(count, "programs")
