/* A program that includes a file: prints the value that the file defines. The folder of the file is the argument. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>

int main(int count, char **arguments) {
    if (count < 2) return 2;
    cl_platform_id platform; cl_device_id device; cl_int err; char options[4096];
    const char *source = "#include \"value.h\"\n__kernel void k(__global int *a) { *a = VALUE; }\n";
    if (clGetPlatformIDs(1, &platform, 0) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0)) return 1;
    cl_context context = clCreateContext(0, 1, &device, 0, 0, &err);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, 0, &err);
    cl_program program = clCreateProgramWithSource(context, 1, &source, 0, &err);
    snprintf(options, sizeof options, "-I %s", arguments[1]);
    if (clBuildProgram(program, 0, 0, options, 0, 0)) return 1;
    cl_kernel kernel = clCreateKernel(program, "k", &err);
    cl_mem buffer = clCreateBuffer(context, 0, 4, 0, &err);
    size_t one = 1; int value = 0;
    if (clSetKernelArg(kernel, 0, sizeof buffer, &buffer)) return 1;
    if (clEnqueueNDRangeKernel(queue, kernel, 1, 0, &one, 0, 0, 0, 0)) return 1;
    if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, &value, 0, 0, 0)) return 1;
    printf("%d\n", value);
    return 0;
}
