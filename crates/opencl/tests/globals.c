/* Variables and functions of programs by their names. Prints what failed; exits with the number of failures. */
#include "device.h"

typedef cl_int (*pointer_fn)(cl_device_id, cl_program, const char *, size_t *, void **);
typedef cl_int (*function_fn)(cl_device_id, cl_program, const char *, cl_ulong *);
typedef cl_int (*access_fn)(cl_command_queue, cl_program, const char *, cl_bool, size_t, size_t, void *, cl_uint,
                            const cl_event *, cl_event *);

static const char *source =
    "global int table[4] = {1, 2, 3, 4};\n"
    "global long single;\n"
    "kernel void add(global int *x) { size_t i = get_global_id(0); x[i] += table[i]; table[i] = -x[i]; single = 77; }\n";

int main(void) {
    start(0);
    pointer_fn pointer = clGetExtensionFunctionAddressForPlatform(platform, "clGetDeviceGlobalVariablePointerINTEL");
    function_fn function = clGetExtensionFunctionAddressForPlatform(platform, "clGetDeviceFunctionPointerINTEL");
    access_fn read = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueReadGlobalVariableINTEL");
    access_fn write = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueWriteGlobalVariableINTEL");
    clCreateBufferWithPropertiesINTEL_fn create =
        clGetExtensionFunctionAddressForPlatform(platform, "clCreateBufferWithPropertiesINTEL");
    cl_program program = program_in(context, source, "-cl-std=CL2.0");
    cl_kernel add = kernel_of(program, "add");

    size_t bytes = 0;
    int *table = 0, x[4] = {10, 20, 30, 40}, seen[4];
    OK(pointer(device, program, "table", &bytes, (void **)&table)); CHECK(bytes == 16 && table);
    IS(pointer(device, program, "tables", &bytes, (void **)&table), CL_INVALID_ARG_VALUE);
    IS(pointer(device, program, "table", &bytes, 0), CL_INVALID_ARG_VALUE);
    IS(pointer(0, program, "table", 0, (void **)&table), CL_INVALID_DEVICE);
    IS(pointer(device, 0, "table", 0, (void **)&table), CL_INVALID_PROGRAM);
    cl_ulong address = 0;
    IS(function(device, program, "nothing", &address), CL_INVALID_ARG_VALUE);
    IS(function(device, 0, "nothing", &address), CL_INVALID_PROGRAM);

    /* A part is written before the kernel runs, and all is read after it. */
    int two[2] = {200, 300};
    cl_event written;
    OK(write(queue, program, "table", CL_FALSE, sizeof two, 4, two, 0, 0, &written));
    cl_command_type type;
    OK(clGetEventInfo(written, CL_EVENT_COMMAND_TYPE, sizeof type, &type, 0)); CHECK(type == 0x418f);
    cl_int err;
    cl_mem m = create(context, 0, CL_MEM_COPY_HOST_PTR, sizeof x, x, &err); OK(err);
    size_t global = 4;
    OK(clSetKernelArg(add, 0, sizeof m, &m));
    OK(clEnqueueNDRangeKernel(queue, add, 1, 0, &global, 0, 1, &written, 0));
    OK(read(queue, program, "table", CL_TRUE, sizeof seen, 0, seen, 0, 0, 0));
    CHECK(seen[0] == -11 && seen[1] == -220 && seen[2] == -330 && seen[3] == -44);
    cl_long single = 0;
    OK(read(queue, program, "single", CL_TRUE, sizeof single, 0, &single, 0, 0, 0)); CHECK(single == 77);
    /* The address is that of the variable for kernels and for copies. */
    clEnqueueMemcpyINTEL_fn copy = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMemcpyINTEL");
    clEnqueueMemFillINTEL_fn fill = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMemFillINTEL");
    int last = 0, nine = 9;
    OK(copy(queue, CL_TRUE, &last, table + 3, sizeof last, 0, 0, 0)); CHECK(last == -44);
    OK(fill(queue, table + 2, &nine, sizeof nine, 2 * sizeof nine, 0, 0, 0));
    OK(read(queue, program, "table", CL_TRUE, sizeof seen, 0, seen, 0, 0, 0)); CHECK(seen[1] == -220 && seen[2] == 9 && seen[3] == 9);
    IS(copy(queue, CL_TRUE, &seen, table + 3, 1 << 20, 0, 0, 0), CL_INVALID_VALUE);

    IS(read(queue, program, "table", CL_TRUE, 16, 1, seen, 0, 0, 0), CL_INVALID_VALUE);
    IS(write(queue, program, "table", CL_TRUE, (size_t)-1, 2, seen, 0, 0, 0), CL_INVALID_VALUE);
    IS(read(queue, program, "other", CL_TRUE, 4, 0, seen, 0, 0, 0), CL_INVALID_ARG_VALUE);
    IS(read(queue, program, 0, CL_TRUE, 4, 0, seen, 0, 0, 0), CL_INVALID_VALUE);
    IS(read(queue, 0, "table", CL_TRUE, 4, 0, seen, 0, 0, 0), CL_INVALID_PROGRAM);
    OK(clReleaseEvent(written)); OK(clReleaseMemObject(m)); OK(clReleaseKernel(add)); OK(clReleaseProgram(program));
    return ended();
}
