/* Assertions in kernels: __devicelib_assert_fail is what assert() of SYCL calls. With an argument, one fails. */
#include "device.h"

static const char *source =
    "void __devicelib_assert_fail(constant char *expression, constant char *file, int line, constant char *function,\n"
    "    ulong global0, ulong global1, ulong global2, ulong local0, ulong local1, ulong local2);\n"
    "kernel void positive(global int *x) {\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i == 3) printf(\"%d is looked at\\n\", x[i]);\n"
    "    if (x[i] < 0) __devicelib_assert_fail(\"x >= 0\", \"assert.c\", 9, \"positive\", i, 0, 0, get_local_id(0), 0, 0);\n"
    "    x[i] += 1;\n"
    "}\n";

int main(int argc, char **argv) {
    (void)argv;
    start(0);
    int x[16];
    for (int i = 0; i < 16; i++) x[i] = i;
    if (argc > 1) x[5] = -1;
    cl_kernel positive = kernel_of(program_in(context, source, ""), "positive");
    cl_mem m = buffer(sizeof x, CL_MEM_COPY_HOST_PTR, x);
    size_t global = 16, local = 8;
    OK(clSetKernelArg(positive, 0, sizeof m, &m));
    OK(clEnqueueNDRangeKernel(queue, positive, 1, 0, &global, &local, 0, 0, 0));
    OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof x, x, 0, 0, 0));
    for (int i = 0; i < 16; i++) CHECK(x[i] == i + 1);
    return ended();
}
