/* Most entry points of OpenCL, against the device of visakit. Prints what failed; exits with the number of failures. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;
#define CHECK(what) do { if (!(what)) { failures++; printf("line %d: %s\n", __LINE__, #what); } } while (0)
#define OK(call) CHECK((call) == CL_SUCCESS)

static const char *SOURCE =
    "__constant int table[4] = {1, 10, 100, 1000};\n"
    "__kernel void scale(__global int *a, int k, __local int *t) {\n"
    "  int i = get_global_id(0), l = get_local_id(0);\n"
    "  t[l] = a[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  a[i] = t[get_local_size(0) - 1 - l] * k + table[i & 3]; }\n"
    "__kernel void chain(__global ulong *list, __global int *sum) {\n"
    "  int s = 0; __global ulong *p = list;\n"
    "  while (p) { s += (int)p[1]; p = (__global ulong *)p[0]; } *sum = s; }\n"
    "#ifdef IMAGES\n"
    "__kernel void invert(__read_only image2d_t in, __write_only image2d_t out, sampler_t s) {\n"
    "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imagef(out, at, (float4)1.0f - read_imagef(in, s, at)); }\n"
    "#endif\n"
    "__kernel void last(__global uint *a, __global uint *out) { *out = a[get_local_size(0)]; }\n"
    "__kernel void stray(__global int *a) { a[(size_t)get_global_id(0) * 0x10000000u + 0x40000000u] = 1; }\n";

static void CL_CALLBACK count(cl_event e, cl_int status, void *user) { (void)e; if (status == CL_COMPLETE) ++*(int *)user; }
static void CL_CALLBACK ended(cl_mem m, void *user) { (void)m; ++*(int *)user; }

int main(void) {
    cl_platform_id platform; cl_device_id device; cl_int err; size_t size; cl_uint n; char text[4096];
    OK(clGetPlatformIDs(1, &platform, &n)); CHECK(n == 1);
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, &n));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, &n) == CL_DEVICE_NOT_FOUND);
    OK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, &size)); CHECK(strstr(text, "visakit"));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_NAME, 1, text, 0) == CL_INVALID_VALUE);
    cl_context context = clCreateContext(0, 1, &device, 0, 0, &err); OK(err);
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &err); OK(err);
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_command_queue loose = clCreateCommandQueueWithProperties(context, device, list, &err); OK(err);

    /* Programs. */
    cl_program broken = clCreateProgramWithSource(context, 1, (const char *[]){"__kernel void k( {"}, 0, &err); OK(err);
    CHECK(clBuildProgram(broken, 0, 0, "", 0, 0) == CL_BUILD_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(broken, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, 0)); CHECK(strstr(text, "error"));
    cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, 0, &err); OK(err);
    CHECK(clCreateKernel(program, "scale", &err) == 0 && err == CL_INVALID_PROGRAM_EXECUTABLE);
    cl_bool images; OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, 0));
    err = clBuildProgram(program, 1, &device, images ? "-DIMAGES=1" : "-DUNUSED=1", 0, 0); OK(err);
    if (err) { clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, 0); puts(text); return 1; }
    OK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, 0)); /* In whichever order. */
    CHECK(strlen(text) == strlen(images ? "scale;chain;last;stray;invert" : "scale;chain;last;stray"));
    for (const char *names[] = {"scale", "chain", "last", "stray", images ? "invert" : 0, 0}, **name = names; *name; name++) CHECK(strstr(text, *name));
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, 0)); CHECK(size > 0);
    unsigned char *bytes = malloc(size);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, 0));
    cl_int status = 1;
    cl_program again = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&bytes, &status, &err);
    OK(err); OK(status); OK(clBuildProgram(again, 0, 0, 0, 0, 0));
    bytes[0] ^= 1; clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&bytes, &status, &err);
    CHECK(err == CL_INVALID_BINARY && status == CL_INVALID_BINARY);
    cl_program part = clCreateProgramWithSource(context, 1, (const char *[]){"int twice(int x) { return 2 * x; }"}, 0, &err);
    cl_program user = clCreateProgramWithSource(context, 1,
        (const char *[]){"#include \"t.h\"\n__kernel void k(__global int *a) { *a = twice(*a); }"}, 0, &err);
    cl_program header = clCreateProgramWithSource(context, 1, (const char *[]){"int twice(int);"}, 0, &err);
    OK(clCompileProgram(part, 0, 0, 0, 0, 0, 0, 0, 0));
    OK(clCompileProgram(user, 0, 0, 0, 1, &header, (const char *[]){"t.h"}, 0, 0));
    cl_program linked = clLinkProgram(context, 0, 0, 0, 2, (cl_program[]){part, user}, 0, 0, &err); OK(err);

    /* Entry points by name: where the loader is a library of the program, names are not to end in it. */
    CHECK(clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandQueueWithPropertiesKHR"));
    CHECK(clGetExtensionFunctionAddressForPlatform(platform, "clHostMemAllocINTEL"));
    CHECK(!clGetExtensionFunctionAddressForPlatform(platform, "clNothingKHR"));
    CHECK(clSetDefaultDeviceCommandQueue(context, device, 0) == CL_INVALID_OPERATION);
    cl_context_properties twice[] = {CL_CONTEXT_INTEROP_USER_SYNC, 0, CL_CONTEXT_INTEROP_USER_SYNC, 0, 0};
    CHECK(!clCreateContext(twice, 1, &device, 0, 0, &err) && err == CL_INVALID_PROPERTY);
    cl_context_properties strange[] = {CL_CONTEXT_INTEROP_USER_SYNC, -1, 0};
    CHECK(!clCreateContext(strange, 1, &device, 0, 0, &err) && err == CL_INVALID_PROPERTY);

    /* Kernels and their arguments. */
    cl_kernel scale = clCreateKernel(again, "scale", &err); OK(err);
    CHECK(clCreateKernel(again, "none", &err) == 0 && err == CL_INVALID_KERNEL_NAME);
    OK(clGetKernelArgInfo(scale, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, 0)); CHECK(!strcmp(text, "int"));
    int data[256], out[256], k = 3;
    for (int i = 0; i < 256; i++) data[i] = i;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &err); OK(err);
    CHECK(clCreateBuffer(context, 0, 0, 0, &err) == 0 && err == CL_INVALID_BUFFER_SIZE);
    CHECK(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4, 0, &err) == 0 && err == CL_INVALID_HOST_PTR);
    size_t global = 256, local = 64;
    CHECK(clEnqueueNDRangeKernel(queue, scale, 1, 0, &global, &local, 0, 0, 0) == CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(scale, 0, sizeof buffer, &buffer));
    OK(clSetKernelArg(scale, 1, sizeof k, &k));
    OK(clSetKernelArg(scale, 2, 64 * sizeof(int), 0));
    CHECK(clSetKernelArg(scale, 1, 0, &k) == CL_INVALID_ARG_SIZE);
    CHECK(clSetKernelArg(scale, 0, 4, &buffer) == CL_INVALID_ARG_SIZE);
    CHECK(clSetKernelArg(scale, 7, sizeof k, &k) == CL_INVALID_ARG_INDEX);
    size_t odd = 100;
    CHECK(clEnqueueNDRangeKernel(queue, scale, 1, 0, &odd, &local, 0, 0, 0) == CL_INVALID_WORK_GROUP_SIZE);
    cl_event event, gate = clCreateUserEvent(context, &err); OK(err);
    int called = 0;
    OK(clEnqueueNDRangeKernel(queue, scale, 1, 0, &global, &local, 1, &gate, &event));
    OK(clSetEventCallback(event, CL_COMPLETE, count, &called));
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, 0)); CHECK(status > CL_COMPLETE);
    CHECK(called == 0);
    OK(clSetUserEventStatus(gate, CL_COMPLETE)); OK(clWaitForEvents(1, &event)); while (!__sync_fetch_and_add(&called, 0)) usleep(1000);
    CHECK(clSetUserEventStatus(gate, CL_COMPLETE) == CL_INVALID_OPERATION);
    cl_ulong t0, t1;
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof t0, &t0, 0));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t1, &t1, 0)); CHECK(t1 >= t0);
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    int powers[4] = {1, 10, 100, 1000};
    for (int i = 0; i < 256; i++) {
        int want = (i / 64 * 64 + 63 - i % 64) * 3 + powers[i & 3];
        if (out[i] != want) { failures++; printf("scale: %d is %d, not %d\n", i, out[i], want); break; }
    }

    /* Moving bytes. */
    cl_buffer_region region = {256, 512};
    cl_mem sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err); OK(err);
    int seven = 7;
    OK(clEnqueueFillBuffer(queue, sub, &seven, 4, 4, 8, 0, 0, 0));
    int *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 256, 16, 0, 0, 0, &err); OK(err);
    CHECK(map[0] == out[64] && map[1] == 7 && map[2] == 7 && map[3] == out[67]);
    map[0] = 42; OK(clEnqueueUnmapMemObject(queue, buffer, map, 0, 0, 0));
    CHECK(clEnqueueUnmapMemObject(queue, buffer, out, 0, 0, 0) == CL_INVALID_VALUE);
    OK(clEnqueueCopyBuffer(queue, buffer, buffer, 256, 0, 4, 0, 0, 0));
    CHECK(clEnqueueCopyBuffer(queue, buffer, buffer, 0, 2, 4, 0, 0, 0) == CL_MEM_COPY_OVERLAP);
    size_t from[3] = {0, 1, 0}, to[3] = {4, 0, 0}, box[3] = {8, 2, 1};
    memset(out, 0, sizeof out);
    OK(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, from, to, box, 16, 0, 32, 0, out, 0, 0, 0));
    CHECK(out[1] != 0 && out[0] == 0 && out[9] != 0 && out[3] == 0);
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, out, 0, 0, 0)); CHECK(out[0] == 42);
    int host[64] = {5};
    cl_mem own = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof host, host, &err); OK(err);
    map = clEnqueueMapBuffer(queue, own, CL_TRUE, CL_MAP_READ, 0, 4, 0, 0, 0, &err); OK(err); CHECK(map == host && *map == 5);
    OK(clEnqueueUnmapMemObject(queue, own, map, 0, 0, 0));

    /* Linked programs. */
    cl_kernel doubles = clCreateKernel(linked, "k", &err); OK(err);
    size_t one = 1;
    OK(clSetKernelArg(doubles, 0, sizeof own, &own)); OK(clEnqueueNDRangeKernel(queue, doubles, 1, 0, &one, 0, 0, 0, 0));
    OK(clFinish(queue)); CHECK(host[0] == 10);

    /* Parts have their own static functions and types. Libraries and binaries of parts are parts. */
    cl_program one_part = clCreateProgramWithSource(context, 1, (const char *[]){
        "typedef struct { int x; } T; static int own(T t) { return t.x + 1; }\n"
        "int other(int); __kernel void both(__global int *a) { T t = { *a }; a[0] = own(t); a[1] = other(*a); }"}, 0, &err);
    cl_program other_part = clCreateProgramWithSource(context, 1, (const char *[]){
        "typedef struct { int x; } T; static int own(T t) { return t.x * FACTOR; }\n"
        "int other(int x) { T t = { x }; return own(t); }"}, 0, &err);
    OK(clCompileProgram(one_part, 0, 0, 0, 0, 0, 0, 0, 0)); OK(clCompileProgram(other_part, 0, 0, "-DFACTOR=10", 0, 0, 0, 0, 0));
    cl_program alone = clLinkProgram(context, 0, 0, 0, 1, &one_part, 0, 0, &err);
    CHECK(alone && err == CL_LINK_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(alone, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, 0)); CHECK(strstr(text, "`other`"));
    CHECK(clLinkProgram(context, 0, 0, 0, 3, (cl_program[]){one_part, other_part, other_part}, 0, 0, &err));
    CHECK(err == CL_LINK_PROGRAM_FAILURE);
    cl_program library = clLinkProgram(context, 0, 0, "-create-library", 1, &other_part, 0, 0, &err); OK(err);
    OK(clGetProgramInfo(library, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, 0));
    unsigned char *stored = malloc(size);
    OK(clGetProgramInfo(library, CL_PROGRAM_BINARIES, sizeof stored, &stored, 0));
    library = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&stored, 0, &err); OK(err);
    cl_program_binary_type type;
    OK(clGetProgramBuildInfo(library, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, 0));
    CHECK(type == CL_PROGRAM_BINARY_TYPE_LIBRARY);
    cl_program whole = clLinkProgram(context, 0, 0, 0, 2, (cl_program[]){one_part, library}, 0, 0, &err); OK(err);
    cl_kernel both = clCreateKernel(whole, "both", &err); OK(err);
    host[0] = 4; OK(clSetKernelArg(both, 0, sizeof own, &own));
    OK(clEnqueueNDRangeKernel(queue, both, 1, 0, &one, 0, 0, 0, 0)); OK(clFinish(queue)); CHECK(host[0] == 5 && host[1] == 50);
    OK(clReleaseKernel(both));

    /* Simulated time of a launch does not depend on the host, and the device does one thing after the other. */
    OK(clSetKernelArg(scale, 0, sizeof buffer, &buffer));
    cl_event ran[2]; cl_ulong times[2][2]; const char *whose = getenv("VISAKIT_TIME");
    for (int i = 0; i < 2; i++) OK(clEnqueueNDRangeKernel(queue, scale, 1, 0, &global, &local, 0, 0, &ran[i]));
    OK(clFinish(queue));
    for (int i = 0; i < 2; i++) for (int end = 0; end < 2; end++) {
        cl_profiling_info what = end ? CL_PROFILING_COMMAND_END : CL_PROFILING_COMMAND_START;
        OK(clGetEventProfilingInfo(ran[i], what, sizeof times[i][end], &times[i][end], 0));
    }
    CHECK(times[0][0] < times[0][1] && times[0][1] <= times[1][0]);
    if (!whose) CHECK(times[0][1] - times[0][0] == times[1][1] - times[1][0]);

    /* A shuffle from a lane that there is not gives anything, and the rest goes on. */
    cl_program shuffles = clCreateProgramWithSource(context, 1, (const char *[]){
        "__kernel void shuffle(__global int *a, int lane) { a[get_global_id(0)] = intel_sub_group_shuffle(a[get_global_id(0)], lane); }"},
        0, &err);
    OK(clBuildProgram(shuffles, 0, 0, 0, 0, 0));
    cl_kernel shuffle = clCreateKernel(shuffles, "shuffle", &err); OK(err);
    size_t lanes = 32; int lane = 1000;
    OK(clSetKernelArg(shuffle, 0, sizeof own, &own)); OK(clSetKernelArg(shuffle, 1, sizeof lane, &lane));
    OK(clEnqueueNDRangeKernel(queue, shuffle, 1, 0, &lanes, &lanes, 0, 0, 0)); OK(clFinish(queue));
    OK(clReleaseKernel(shuffle));

    /* The last bytes of a buffer of no whole dwords can be read as one. */
    unsigned char seven_bytes[7] = {1, 2, 3, 4, 5, 6, 7};
    cl_mem uneven = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 7, seven_bytes, &err); OK(err);
    cl_kernel last = clCreateKernel(program, "last", &err); OK(err);
    OK(clSetKernelArg(last, 0, sizeof uneven, &uneven)); OK(clSetKernelArg(last, 1, sizeof own, &own));
    OK(clEnqueueNDRangeKernel(queue, last, 1, 0, &one, &one, 0, 0, 0)); OK(clFinish(queue));
    CHECK((host[0] & 0xffffff) == 0x070605);
    OK(clReleaseKernel(last)); OK(clReleaseMemObject(uneven));

    /* Images. */
    if (images) {
        cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
        cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 4};
        unsigned char pixels[8 * 4 * 4], inverted[sizeof pixels];
        for (unsigned i = 0; i < sizeof pixels; i++) pixels[i] = i * 2;
        cl_mem in = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, pixels, &err); OK(err);
        cl_mem target = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &desc, 0, &err); OK(err);
        cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &err); OK(err);
        cl_kernel invert = clCreateKernel(program, "invert", &err); OK(err);
        OK(clSetKernelArg(invert, 0, sizeof in, &in)); OK(clSetKernelArg(invert, 1, sizeof target, &target));
        OK(clSetKernelArg(invert, 2, sizeof sampler, &sampler));
        CHECK(clSetKernelArg(invert, 0, sizeof buffer, &buffer) == CL_INVALID_MEM_OBJECT);
        CHECK(clSetKernelArg(invert, 0, sizeof target, &target) == CL_INVALID_ARG_VALUE);
        CHECK(clSetKernelArg(invert, 1, sizeof in, &in) == CL_INVALID_ARG_VALUE);
        CHECK(clSetKernelArg(invert, 2, sizeof sampler, 0) == CL_INVALID_SAMPLER);
        size_t plane[2] = {8, 4}, zero[3] = {0, 0, 0}, all[3] = {8, 4, 1};
        OK(clEnqueueNDRangeKernel(loose, invert, 2, 0, plane, 0, 0, 0, &event));
        OK(clEnqueueReadImage(loose, target, CL_TRUE, zero, all, 0, 0, inverted, 1, &event, 0));
        for (unsigned i = 0; i < sizeof pixels; i++) if (inverted[i] != 255 - pixels[i]) { failures++; printf("pixel %u\n", i); break; }
        OK(clReleaseKernel(invert)); OK(clReleaseSampler(sampler)); OK(clReleaseMemObject(in)); OK(clReleaseMemObject(target));
    }

    /* Pointers that host and device share: a list that the host has linked. */
    cl_kernel chain = clCreateKernel(program, "chain", &err); OK(err);
    cl_ulong *nodes[3];
    for (int i = 0; i < 3; i++) { nodes[i] = clSVMAlloc(context, CL_MEM_READ_WRITE, 16, 0); CHECK(nodes[i]); }
    for (int i = 0; i < 3; i++) { nodes[i][0] = i < 2 ? (cl_ulong)nodes[i + 1] : 0; nodes[i][1] = i + 10; }
    OK(clSetKernelArgSVMPointer(chain, 0, nodes[0])); OK(clSetKernelArg(chain, 1, sizeof own, &own));
    OK(clSetKernelExecInfo(chain, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof(void *), &nodes[1]));
    OK(clEnqueueNDRangeKernel(queue, chain, 1, 0, &one, 0, 0, 0, 0)); OK(clFinish(queue)); CHECK(host[0] == 33);
    for (int i = 0; i < 3; i++) clSVMFree(context, nodes[i]);

    /* What is wrong is told, and the rest goes on. */
    cl_kernel stray = clCreateKernel(program, "stray", &err); OK(err);
    CHECK(clRetainMemObject((cl_mem)context) == CL_INVALID_MEM_OBJECT);
    CHECK(clReleaseKernel((cl_kernel)queue) == CL_INVALID_KERNEL);
    gate = clCreateUserEvent(context, &err);
    OK(clEnqueueMarkerWithWaitList(loose, 1, &gate, &event)); OK(clSetUserEventStatus(gate, -1));
    CHECK(clWaitForEvents(1, &event) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(clEnqueueBarrierWithWaitList(queue, 0, 0, 0)); OK(clFinish(queue)); clFinish(loose);

    /* Kernels keep no references to their arguments. */
    int early = 0;
    cl_mem brief = clCreateBuffer(context, 0, 64, 0, &err); OK(err);
    OK(clSetMemObjectDestructorCallback(brief, ended, &early)); OK(clSetKernelArg(stray, 0, sizeof brief, &brief));
    OK(clReleaseMemObject(brief)); CHECK(early == 1);
    CHECK(clEnqueueNDRangeKernel(queue, stray, 1, 0, &one, 0, 0, 0, 0) == CL_INVALID_KERNEL_ARGS);

    int gone = 0;
    OK(clSetMemObjectDestructorCallback(own, ended, &gone));
    OK(clReleaseKernel(doubles)); OK(clReleaseKernel(chain)); OK(clReleaseKernel(stray)); OK(clReleaseKernel(scale));
    OK(clReleaseMemObject(own)); CHECK(gone == 1); CHECK(clReleaseMemObject(own) == CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(sub)); OK(clReleaseMemObject(buffer)); OK(clReleaseProgram(program)); OK(clReleaseProgram(again));
    OK(clReleaseCommandQueue(queue)); OK(clReleaseCommandQueue(loose)); OK(clReleaseContext(context));
    printf("%d failures\n", failures);
    return failures > 100 ? 100 : failures;
}
