/* Threads of the host that build and run programs at once, in a context that they share and in contexts of their own; builds that call
   back, memory that says when it goes. Prints what failed; exits with the number of failures. */
#include "device.h"
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 3, ITEMS = 500, LAUNCHES = 20 };

static int wrong, built, gone[2];

static void *work(void *number) {
    int t = (int)(size_t)number;
    for (int r = 0; r < ROUNDS; r++) {
        char options[64];
        cl_int err;
        int host[ITEMS], five = 5, factor = t % 3, term = r % 2;
        size_t items = ITEMS;
        sprintf(options, "-DFACTOR=%d -DTERM=%d", factor, term);
        cl_context in = t % 2 ? clCreateContext(0, 1, &device, 0, 0, &err) : context;
        cl_program program = program_in(in, "kernel void f(global int *a, int n) { int i = get_global_id(0), v = a[i];\n"
                                            "  for (int k = 0; k < n; k++) v = v * 3 + FACTOR + TERM; a[i] = v; }\n", options);
        cl_kernel kernel = kernel_of(program, "f");
        cl_command_queue q = queue_with(in, 0);
        for (int i = 0; i < ITEMS; i++) host[i] = i + t;
        cl_mem m = clCreateBuffer(in, CL_MEM_COPY_HOST_PTR, sizeof host, host, &err);
        for (int l = 0; l < LAUNCHES; l++) {
            OK(clSetKernelArg(kernel, 0, sizeof m, &m)); OK(clSetKernelArg(kernel, 1, sizeof five, &five));
            OK(clEnqueueNDRangeKernel(q, kernel, 1, 0, &items, 0, 0, 0, 0));
        }
        OK(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof host, host, 0, 0, 0));
        for (int i = 0; i < ITEMS; i++) {
            unsigned v = i + t;
            for (int k = 0; k < LAUNCHES * five; k++) v = v * 3 + factor + term;
            if ((int)v != host[i]) __sync_fetch_and_add(&wrong, 1);
        }
        OK(clReleaseKernel(kernel)); OK(clReleaseProgram(program)); OK(clReleaseMemObject(m)); OK(clReleaseCommandQueue(q));
        if (t % 2) OK(clReleaseContext(in));
    }
    return 0;
}

/* One queue and one kernel object for all threads, a launch at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_kernel add;
static cl_mem sums;

static void *adds(void *number) {
    int value = (int)(size_t)number + 1;
    size_t items = 64;
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        OK(clSetKernelArg(add, 0, sizeof sums, &sums)); OK(clSetKernelArg(add, 1, sizeof value, &value));
        OK(clEnqueueNDRangeKernel(queue, add, 1, 0, &items, 0, 0, 0, 0));
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void CL_CALLBACK was_built(cl_program program, void *user) { (void)program; __sync_fetch_and_add((int *)user, 1); }
static void CL_CALLBACK went(cl_mem m, void *user) {
    (void)m;
    *(int *)user = 1 + gone[0] + gone[1];
}

static void all_threads(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, body, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
}

int main(void) {
    start(0);
    all_threads(work);
    CHECK(wrong == 0);

    const char *source = "kernel void add(global int *a, int n) { atomic_add(a + get_global_id(0), n); }";
    cl_int err;
    cl_program program = clCreateProgramWithSource(context, 1, &source, 0, &err); OK(err);
    OK(clBuildProgram(program, 1, &device, "", was_built, &built));
    while (!__sync_fetch_and_add(&built, 0)) usleep(1000);
    cl_build_status status;
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, 0)); CHECK(status == CL_BUILD_SUCCESS);
    add = kernel_of(program, "add");
    int zeros[64] = {0};
    sums = buffer(sizeof zeros, CL_MEM_COPY_HOST_PTR, zeros);
    all_threads(adds);
    OK(clEnqueueReadBuffer(queue, sums, CL_TRUE, 0, sizeof zeros, zeros, 0, 0, 0));
    for (int i = 0; i < 64; i++) CHECK(zeros[i] == 50 * THREADS * (THREADS + 1) / 2);

    /* The callback that was set last is called first, when nobody holds the memory any more. */
    OK(clSetMemObjectDestructorCallback(sums, went, &gone[0])); OK(clSetMemObjectDestructorCallback(sums, went, &gone[1]));
    OK(clRetainMemObject(sums)); OK(clReleaseMemObject(sums)); CHECK(!gone[0] && !gone[1]);
    OK(clReleaseMemObject(sums)); CHECK(gone[1] == 1 && gone[0] == 2);

    IS(clRetainMemObject(0), CL_INVALID_MEM_OBJECT); IS(clReleaseKernel(0), CL_INVALID_KERNEL); IS(clFinish(0), CL_INVALID_COMMAND_QUEUE);
    IS((clCreateContext(0, 0, 0, 0, 0, &err), err), CL_INVALID_VALUE);
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_context other = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, 0, 0, &err); OK(err);
    OK(clReleaseContext(other));
    IS((clCreateContextFromType(properties, CL_DEVICE_TYPE_ACCELERATOR, 0, 0, &err), err), CL_DEVICE_NOT_FOUND);
    IS(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 0, 0, (cl_uint[1]){0}), CL_DEVICE_NOT_FOUND);
    OK(clReleaseKernel(add)); OK(clReleaseProgram(program));
    return ended();
}
