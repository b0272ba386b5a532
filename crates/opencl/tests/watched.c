/* Kernels for those who watch: two that are right, one that differs from device to device, one with a race. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>

static const char *SOURCE =
    "__kernel void right(__global float *a, __global const int *b) {\n"
    "  int i = get_global_id(0);\n"
    "  a[i] = sqrt(a[i]) * exp(-a[i]) + b[i]; }\n"
    "#ifdef cl_intel_subgroups\n"
    "#define PLANTED 1\n"
    "#else\n"
    "#define PLANTED 0\n"
    "#endif\n"
    "__kernel void planted(__global int *a, __global const int *b) { int i = get_global_id(0); a[i] = b[i] + (i == 7) * PLANTED; }\n"
    "__kernel void racy(__global int *a, __local int *l) {\n"
    "  int i = get_local_id(0);\n"
    "  l[i] = a[i];\n"
    "  a[i] = l[(i + 40) % 64]; }\n"
    "#ifdef cl_intel_subgroups\n"
    "__kernel void voted(__global int *a, __global const int *b) { int i = get_global_id(0); a[i] = work_group_any(b[i] > 9); }\n"
    "#endif\n"
    "__kernel void fresh(__global int *a, __global int *b) { a[get_global_id(0)] = b[get_global_id(0)]; }\n";

#define OK(call) do { cl_int code = (call); if (code) { printf("line %d: %d\n", __LINE__, code); return 2; } } while (0)

int main(int count, char **kernels) {
    cl_platform_id platform; cl_device_id device; cl_int err;
    OK(clGetPlatformIDs(1, &platform, 0)); OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0));
    cl_context context = clCreateContext(0, 1, &device, 0, 0, &err); OK(err);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &err); OK(err);
    cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, 0, &err); OK(err);
    OK(clBuildProgram(program, 1, &device, "-cl-std=CL2.0", 0, 0));
    float floats[64]; int ints[64];
    for (int i = 0; i < 64; i++) { floats[i] = i / 8.0f; ints[i] = i * i; }
    for (int k = 1; k < count; k++) {
        int fresh = kernels[k][0] == 'f';
        cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof floats, floats, &err); OK(err);
        cl_mem b = clCreateBuffer(context, fresh ? 0 : CL_MEM_COPY_HOST_PTR, sizeof ints, fresh ? 0 : ints, &err); OK(err);
        cl_kernel kernel = clCreateKernel(program, kernels[k], &err); OK(err);
        OK(clSetKernelArg(kernel, 0, sizeof a, &a));
        if (kernels[k][1] == 'a') OK(clSetKernelArg(kernel, 1, sizeof ints, 0));
        else OK(clSetKernelArg(kernel, 1, sizeof b, &b));
        size_t global = 64;
        OK(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &global, &global, 0, 0, 0)); OK(clFinish(queue));
        clReleaseKernel(kernel); clReleaseMemObject(a); clReleaseMemObject(b);
    }
    return 0;
}
