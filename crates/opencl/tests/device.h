/* What the programs beside this file share: the first device with a context and a queue, and a count of what failed. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static int failures;

#define CHECK(what) do { if (!(what)) { failures++; printf("line %d: %s\n", __LINE__, #what); } } while (0)
#define IS(call, code) do { int is_ = (call); if (is_ != (code)) { failures++; printf("line %d: %s is %d\n", __LINE__, #call, is_); } } while (0)
#define OK(call) IS(call, CL_SUCCESS)

static inline cl_command_queue queue_with(cl_context of, cl_command_queue_properties properties) {
    cl_int err;
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    cl_command_queue made = clCreateCommandQueueWithProperties(of, device, list, &err);
    OK(err);
    return made;
}

static inline void start(cl_command_queue_properties properties) {
    cl_int err;
    OK(clGetPlatformIDs(1, &platform, 0));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0));
    context = clCreateContext(0, 1, &device, 0, 0, &err); OK(err);
    queue = queue_with(context, properties);
}

static inline cl_program program_in(cl_context of, const char *source, const char *options) {
    cl_int err;
    cl_program program = clCreateProgramWithSource(of, 1, &source, 0, &err); OK(err);
    err = clBuildProgram(program, 0, 0, options, 0, 0);
    if (err) {
        static char log[1 << 16];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, 0);
        printf("build: %d\n%s\n", err, log);
        failures++;
    }
    return program;
}

static inline cl_kernel kernel_of(cl_program program, const char *name) {
    cl_int err;
    cl_kernel kernel = clCreateKernel(program, name, &err); OK(err);
    return kernel;
}

static inline cl_mem buffer(size_t bytes, cl_mem_flags flags, void *content) {
    cl_int err;
    cl_mem made = clCreateBuffer(context, flags, bytes, content, &err); OK(err);
    return made;
}

/* Whether a count becomes what is wanted, soon: callbacks are called by a thread of the driver. */
static inline int comes(int *count, int wanted) {
    for (int i = 0; i < 60000 && __sync_fetch_and_add(count, 0) < wanted; i++) usleep(1000);
    return __sync_fetch_and_add(count, 0) == wanted;
}

static inline int ended(void) {
    if (queue) OK(clReleaseCommandQueue(queue));
    if (context) OK(clReleaseContext(context));
    printf("%d failures\n", failures);
    return failures > 100 ? 100 : failures;
}
