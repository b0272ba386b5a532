/* What programs rely on that the specification leaves open, as Intel's driver and devices do it: memory ends with pages, local
   memory with what a device allots, surfaces begin with the allocation, values are cut to their parameters. Prints what
   failed; exits with the number of failures. With an argument only those that checkers report. */
#include "device.h"

static const char *SOURCE =
    "kernel void strided(global const int *x, global int *o, int s) { int i = get_global_id(0); o[i] = x[i * s]; }\n"
    "kernel void scaled(global int *x, int s) { int i = get_global_id(0); x[i * s] = x[i * s] * 10 + i; }\n"
    "kernel void zero(global float *y) { y[get_global_id(0)] = 0; }\n"
    "kernel void turn(local uint *l, global uint *o) { uint i = get_local_id(0); l[1560 + i] = i + 1; barrier(CLK_LOCAL_MEM_FENCE); o[i] = l[1560 + (i + 1) % 16]; }\n"
    "kernel void stray(global int *o, ulong wild) { int i = get_global_id(0); global int *p = i % 3 == 1 ? (global int *)wild : o;"
    " for (int k = 0; k < 4; k++) { p[i * 4 + k] += i + 1; atomic_inc(p + i * 4 + k); } }\n"
    "kernel void value(uint a, global uint *o) { o[get_global_id(0)] = a; }\n";

static cl_program program;

#define FIND(name) name##_fn name = (name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name)
typedef void *(*clSharedMemAllocINTEL_fn)(cl_context, cl_device_id, const cl_mem_properties_intel *, size_t, cl_uint, cl_int *);
typedef clSharedMemAllocINTEL_fn clDeviceMemAllocINTEL_fn;
typedef cl_int (*clSetKernelArgMemPointerINTEL_fn)(cl_kernel, cl_uint, const void *);
typedef cl_int (*clMemFreeINTEL_fn)(cl_context, void *);

static void run(cl_kernel kernel, size_t items) {
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &items, &items, 0, 0, 0)); OK(clFinish(queue));
}

/* Negative indices from a pointer into the middle. */
static void strides(void) {
    FIND(clSharedMemAllocINTEL); FIND(clSetKernelArgMemPointerINTEL); FIND(clMemFreeINTEL);
    cl_int err;
    int *x = clSharedMemAllocINTEL(context, device, 0, 4 * 32, 64, &err), *o = clSharedMemAllocINTEL(context, device, 0, 64, 64, &err);
    int *y = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 4 * 32, 64);
    cl_kernel strided = kernel_of(program, "strided"), scaled = kernel_of(program, "scaled");
    for (int step = -2; step <= 2; step++) for (int at = 0; at < 32; at++) {
        size_t items = step < 0 ? at / -step + 1 : step ? (31 - at) / step + 1 : 1;
        if (items > 16) items = 16;
        for (int way = 0; way < 2; way++) {
            int *from = way ? y : x;
            for (int i = 0; i < 32; i++) from[i] = i + 1;
            if (way) OK(clSetKernelArgSVMPointer(strided, 0, from + at)); else OK(clSetKernelArgMemPointerINTEL(strided, 0, from + at));
            OK(clSetKernelArgMemPointerINTEL(strided, 1, o)); OK(clSetKernelArg(strided, 2, sizeof step, &step));
            run(strided, items);
            for (size_t i = 0; i < items; i++) CHECK(o[i] == at + 1 + (int)i * step);
            OK(clSetKernelArgSVMPointer(scaled, 0, from + at)); OK(clSetKernelArg(scaled, 1, sizeof step, &step));
            if (step == 0) continue;
            run(scaled, items);
            for (size_t i = 0; i < items; i++) CHECK(from[at + (int)i * step] == 10 * (at + 1 + (int)i * step) + (int)i);
        }
    }
    OK(clReleaseKernel(strided)); OK(clReleaseKernel(scaled));
    OK(clMemFreeINTEL(context, x)); OK(clMemFreeINTEL(context, o)); clSVMFree(context, y);
}

static void pages(void) {
    FIND(clDeviceMemAllocINTEL); FIND(clSetKernelArgMemPointerINTEL); FIND(clMemFreeINTEL);
    cl_int err;
    char *m = clDeviceMemAllocINTEL(context, device, 0, 36, 64, &err); OK(err);
    cl_kernel zero = kernel_of(program, "zero");
    OK(clSetKernelArgMemPointerINTEL(zero, 0, m)); run(zero, 10);
    OK(clReleaseKernel(zero)); OK(clMemFreeINTEL(context, m));
}

static void local_memory(void) {
    cl_mem m = buffer(64, 0, 0); unsigned got[16];
    cl_kernel turn = kernel_of(program, "turn");
    OK(clSetKernelArg(turn, 0, 6272, 0)); OK(clSetKernelArg(turn, 1, sizeof m, &m)); run(turn, 16);
    OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, got, 0, 0, 0));
    for (unsigned i = 0; i < 16; i++) CHECK(got[i] == (i + 1) % 16 + 1);
    OK(clReleaseKernel(turn)); OK(clReleaseMemObject(m));
}

static void values(void) {
    cl_mem m = buffer(64, 0, 0); unsigned got; cl_ulong wide = 0x700000005ull; cl_uchar low = 9;
    cl_kernel value = kernel_of(program, "value");
    OK(clSetKernelArg(value, 0, sizeof wide, &wide)); OK(clSetKernelArg(value, 1, sizeof m, &m)); run(value, 1);
    OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, &got, 0, 0, 0)); CHECK(got == 5);
    wide = 0x12345678;
    OK(clSetKernelArg(value, 0, sizeof wide, &wide)); OK(clSetKernelArg(value, 0, 1, &low)); run(value, 1);
    OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, &got, 0, 0, 0)); CHECK(got == 0x12345609);
    IS(clSetKernelArg(value, 1, 4, &m), CL_INVALID_ARG_SIZE); IS(clSetKernelArg(value, 0, 4, 0), CL_INVALID_ARG_VALUE);
    OK(clReleaseKernel(value)); OK(clReleaseMemObject(m));
}

/* The platform as programs look for it, and where devices are. */
static void names(void) {
    char text[256]; cl_uint bus[4]; cl_bool unified;
    OK(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text, text, 0)); CHECK(!strcmp(text, "Intel(R) OpenCL Graphics"));
    OK(clGetPlatformInfo(platform, CL_PLATFORM_VENDOR, sizeof text, text, 0)); CHECK(!strcmp(text, "Intel(R) Corporation"));
    OK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, 0)); CHECK(strstr(text, "visakit"));
    OK(clGetDeviceInfo(device, 0x410F, sizeof bus, bus, 0));
    OK(clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, 0)); CHECK(unified == (bus[1] == 0));
}

/* Outside of every buffer nothing happens, if the variable says so, and the other lanes go on. */
static void outside(int is_ignored) {
    enum { ITEMS = 512 };
    static const cl_ulong wild[] = {0, 64, 0x123456780ull, 0xdead00000000ull, 0xfffffffffffff000ull};
    for (unsigned n = 0; n < sizeof wild / sizeof *wild; n++) {
        static int data[4 * ITEMS];
        memset(data, 0, sizeof data);
        cl_mem m = buffer(sizeof data, CL_MEM_COPY_HOST_PTR, data);
        cl_kernel stray = kernel_of(program, "stray"); size_t items = ITEMS, local = 64;
        OK(clSetKernelArg(stray, 0, sizeof m, &m)); OK(clSetKernelArg(stray, 1, sizeof wild[n], &wild[n]));
        OK(clEnqueueNDRangeKernel(queue, stray, 1, 0, &items, &local, 0, 0, 0));
        int ended = clFinish(queue);
        if (!is_ignored) { CHECK(ended != CL_SUCCESS); OK(clReleaseKernel(stray)); OK(clReleaseMemObject(m)); break; }
        OK(ended);
        OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof data, data, 0, 0, 0));
        for (int i = 0; i < 4 * ITEMS; i++) CHECK(data[i] == (i / 4 % 3 == 1 ? 0 : i / 4 + 2));
        OK(clReleaseKernel(stray)); OK(clReleaseMemObject(m));
    }
}

int main(int count, char **arguments) {
    start(0);
    program = program_in(context, SOURCE, "");
    if (count == 2 && strcmp(arguments[1], "reported")) {
        outside(!strcmp(arguments[1], "ignored"));
        OK(clReleaseProgram(program));
        return ended();
    }
    pages(); local_memory();
    if (count == 1) { strides(); values(); names(); }
    OK(clReleaseProgram(program));
    return ended();
}
