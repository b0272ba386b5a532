/* Host and device at once: commands run beside the program that enqueued them, and both see each other's atomics. Prints what failed; exits
   with the number of failures. With an argument, the program ends while commands run, in the way that it names. */
#include "device.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const char *SOURCE =
    "kernel void until(global volatile atomic_int *flag, global int *out) {\n"
    "  while (!atomic_load_explicit(flag, memory_order_acquire, memory_scope_all_svm_devices));\n"
    "  out[get_global_id(0)] += 1; }\n"
    "kernel void raise(global volatile atomic_int *flag) { atomic_store_explicit(flag, 1, memory_order_release, memory_scope_all_svm_devices); }\n"
    "kernel void answers(global volatile atomic_int *turn, int rounds) {\n"
    "  for (int i = 0; i < rounds; i++) {\n"
    "    while (atomic_load_explicit(turn, memory_order_acquire, memory_scope_all_svm_devices) != 2 * i + 1);\n"
    "    atomic_store_explicit(turn, 2 * i + 2, memory_order_release, memory_scope_all_svm_devices); } }\n"
    "kernel void counts(global volatile atomic_int *sum) { for (int i = 0; i < 100; i++)\n"
    "  atomic_fetch_add_explicit(sum, 1, memory_order_relaxed, memory_scope_all_svm_devices); }\n"
    "kernel void outside(global int *out, int at) { out[at] = 1; }\n"
    "kernel void faulty(global int *out, ulong at) { *(global int *)at = out[0]; }\n"
    "kernel void add(global int *out, int n) { out[get_global_id(0)] += n; }\n";

enum { ITEMS = 64 };
static cl_program program;
static size_t one = 1, items = ITEMS;

typedef void *(*alloc_t)(cl_context, const cl_mem_properties_intel *, size_t, cl_uint, cl_int *);
typedef void *(*shared_t)(cl_context, cl_device_id, const cl_mem_properties_intel *, size_t, cl_uint, cl_int *);
typedef cl_int (*free_t)(cl_context, void *);
typedef cl_int (*set_t)(cl_kernel, cl_uint, const void *);
static set_t set_pointer;

static void *function(const char *name) { return clGetExtensionFunctionAddressForPlatform(platform, name); }

static int get(int *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
static void put(int *at, int value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }

static cl_int status_of(cl_event event) {
    cl_int status = 99;
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, 0));
    return status;
}

static cl_kernel until_kernel(int *flag, cl_mem out) {
    cl_kernel until = kernel_of(program, "until");
    OK(set_pointer(until, 0, flag)); OK(clSetKernelArg(until, 1, sizeof out, &out));
    return until;
}

static void *raises(void *flag) { usleep(50000); put(flag, 1); return 0; }

/* The host goes on while a kernel runs that waits for it. */
static void overlap(int *flag, cl_command_queue_properties properties) {
    cl_command_queue q = queue_with(context, properties);
    int zeros[ITEMS] = {0}, out[ITEMS], five = 5;
    cl_mem m = buffer(sizeof zeros, CL_MEM_COPY_HOST_PTR, zeros);
    cl_kernel until = until_kernel(flag, m), add = kernel_of(program, "add");
    cl_event first, second, read;
    put(flag, 0);
    OK(clSetKernelArg(add, 0, sizeof m, &m)); OK(clSetKernelArg(add, 1, 4, &five));
    OK(clEnqueueNDRangeKernel(q, until, 1, 0, &items, 0, 0, 0, &first));
    OK(clEnqueueNDRangeKernel(q, add, 1, 0, &items, 0, 1, &first, &second));
    OK(clEnqueueReadBuffer(q, m, CL_FALSE, 0, sizeof out, out, 1, &second, &read));
    OK(clFlush(q));
    while (status_of(first) != CL_RUNNING) usleep(1000);
    CHECK(status_of(second) == CL_SUBMITTED && status_of(read) == CL_SUBMITTED);
    put(flag, 1);
    OK(clWaitForEvents(1, &read));
    for (int i = 0; i < ITEMS; i++) CHECK(out[i] == 6);
    CHECK(status_of(first) == CL_COMPLETE && status_of(second) == CL_COMPLETE);
    /* A blocking call waits, for another thread here. */
    pthread_t thread;
    put(flag, 0);
    OK(clEnqueueNDRangeKernel(q, until, 1, 0, &items, 0, 0, 0, &second));
    pthread_create(&thread, 0, raises, flag);
    OK(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof out, out, 1, &second, 0));
    CHECK(get(flag) == 1 && out[0] == 7);
    pthread_join(thread, 0);
    OK(clReleaseEvent(first)); OK(clReleaseEvent(second)); OK(clReleaseEvent(read)); OK(clReleaseKernel(until)); OK(clReleaseKernel(add));
    OK(clReleaseMemObject(m)); OK(clReleaseCommandQueue(q));
}

/* Kernels of two queues run at once, too. */
static void two_queues(int *flag) {
    cl_command_queue other = queue_with(context, 0);
    cl_mem m = buffer(ITEMS * 4, CL_MEM_READ_WRITE, 0);
    cl_kernel until = until_kernel(flag, m), raise = kernel_of(program, "raise");
    put(flag, 0);
    OK(set_pointer(raise, 0, flag));
    OK(clEnqueueNDRangeKernel(queue, until, 1, 0, &items, 0, 0, 0, 0));
    OK(clEnqueueNDRangeKernel(other, raise, 1, 0, &one, 0, 0, 0, 0));
    OK(clFinish(queue)); OK(clFinish(other));
    OK(clReleaseKernel(until)); OK(clReleaseKernel(raise)); OK(clReleaseMemObject(m)); OK(clReleaseCommandQueue(other));
}

/* Both count, and take turns. */
static void atomics(int *word) {
    int rounds = 300;
    cl_kernel answers = kernel_of(program, "answers"), counts = kernel_of(program, "counts");
    OK(set_pointer(answers, 0, word)); OK(clSetKernelArg(answers, 1, 4, &rounds)); OK(set_pointer(counts, 0, word));
    put(word, 0);
    OK(clEnqueueNDRangeKernel(queue, answers, 1, 0, &one, 0, 0, 0, 0));
    for (int i = 0; i < rounds; i++) {
        put(word, 2 * i + 1);
        while (get(word) != 2 * i + 2) usleep(10);
    }
    OK(clFinish(queue));
    put(word, 0);
    OK(clEnqueueNDRangeKernel(queue, counts, 1, 0, &items, 0, 0, 0, 0));
    for (int i = 0; i < 100000; i++) __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
    OK(clFinish(queue));
    CHECK(get(word) == 100000 + ITEMS * 100);
    OK(clReleaseKernel(answers)); OK(clReleaseKernel(counts));
}

/* Who releases everything has its results all the same. */
static void released(int *flag, int *result) {
    cl_int err;
    cl_command_queue q = queue_with(context, 0);
    cl_kernel until = kernel_of(program, "until");
    cl_event user = clCreateUserEvent(context, &err); OK(err);
    put(flag, 0); put(result, 0);
    OK(set_pointer(until, 0, flag)); OK(set_pointer(until, 1, result));
    OK(clEnqueueNDRangeKernel(q, until, 1, 0, &one, 0, 0, 0, 0));
    OK(clEnqueueNDRangeKernel(q, until, 1, 0, &one, 0, 1, &user, 0));
    OK(clReleaseKernel(until)); OK(clReleaseCommandQueue(q));
    put(flag, 1);
    CHECK(comes(result, 1));
    OK(clSetUserEventStatus(user, CL_COMPLETE)); OK(clReleaseEvent(user));
    CHECK(comes(result, 2));
}

/* A fault of a kernel is the status of its event. */
static void failing(void) {
    cl_command_queue q = queue_with(context, 0);
    int two = 2, out[ITEMS] = {0};
    cl_ulong nowhere = 64;
    cl_mem m = buffer(sizeof out, CL_MEM_COPY_HOST_PTR, out);
    cl_kernel faulty = kernel_of(program, "faulty"), add = kernel_of(program, "add");
    cl_event events[3];
    OK(clSetKernelArg(faulty, 0, sizeof m, &m)); OK(clSetKernelArg(faulty, 1, 8, &nowhere));
    OK(clSetKernelArg(add, 0, sizeof m, &m)); OK(clSetKernelArg(add, 1, 4, &two));
    OK(clEnqueueNDRangeKernel(q, faulty, 1, 0, &one, 0, 0, 0, &events[0]));
    OK(clEnqueueNDRangeKernel(q, add, 1, 0, &items, 0, 1, &events[0], &events[1]));
    OK(clEnqueueNDRangeKernel(q, add, 1, 0, &items, 0, 0, 0, &events[2]));
    IS(clWaitForEvents(3, events), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    CHECK(status_of(events[0]) == CL_OUT_OF_RESOURCES);
    CHECK(status_of(events[1]) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && status_of(events[2]) == CL_COMPLETE);
    IS(clFinish(q), CL_OUT_OF_RESOURCES); OK(clFinish(q));
    OK(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    CHECK(out[0] == 2 && out[ITEMS - 1] == 2);
    for (int i = 0; i < 3; i++) OK(clReleaseEvent(events[i]));
    OK(clReleaseKernel(faulty)); OK(clReleaseKernel(add)); OK(clReleaseMemObject(m)); OK(clReleaseCommandQueue(q));
}

/* Commands of a queue in order run one after the other by the clock of the device, after they were submitted. */
static void times(void) {
    enum { COUNT = 20 };
    cl_command_queue q = queue_with(context, CL_QUEUE_PROFILING_ENABLE);
    cl_mem m = buffer(ITEMS * 4, CL_MEM_READ_WRITE, 0);
    cl_kernel add = kernel_of(program, "add");
    cl_event events[COUNT];
    cl_ulong last = 0, t[4];
    int n = 1;
    OK(clSetKernelArg(add, 0, sizeof m, &m)); OK(clSetKernelArg(add, 1, 4, &n));
    for (int i = 0; i < COUNT; i++) OK(clEnqueueNDRangeKernel(q, add, 1, 0, &items, 0, 0, 0, &events[i]));
    OK(clFinish(q));
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < 4; j++) OK(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_QUEUED + j, 8, &t[j], 0));
        CHECK(t[0] && t[0] <= t[1] && t[1] <= t[2] && t[2] < t[3] && last <= t[2]);
        last = t[3];
        OK(clReleaseEvent(events[i]));
    }
    OK(clReleaseKernel(add)); OK(clReleaseMemObject(m)); OK(clReleaseCommandQueue(q));
}

/* The program ends while a kernel runs that ends (it writes outside of its buffer), or does not end by itself. */
static int leaves(const char *how, int *flag) {
    cl_mem m = buffer(ITEMS * 4, CL_MEM_READ_WRITE, 0);
    int at = ITEMS;
    put(flag, 0);
    if (!strcmp(how, "outside")) {
        cl_kernel outside = kernel_of(program, "outside");
        OK(clSetKernelArg(outside, 0, sizeof m, &m)); OK(clSetKernelArg(outside, 1, 4, &at));
        for (int i = 0; i < 10; i++) OK(clEnqueueNDRangeKernel(queue, outside, 1, 0, &one, 0, 0, 0, 0));
        return failures;
    }
    OK(clEnqueueNDRangeKernel(queue, until_kernel(flag, m), 1, 0, &items, 0, 0, 0, 0));
    if (!strcmp(how, "forked")) {
        int status = 1;
        pid_t child = fork();
        if (!child) exit(0);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        put(flag, 1);
        OK(clFinish(queue));
    }
    if (!strcmp(how, "interrupted")) {
        // What started the tests may have had it ignored.
        signal(SIGINT, SIG_DFL);
        printf("waits\n");
        fflush(stdout);
        OK(clFinish(queue));
    }
    return failures;
}

int main(int count, char **args) {
    cl_int err;
    start(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    program = program_in(context, SOURCE, "-cl-std=CL3.0");
    set_pointer = (set_t)function("clSetKernelArgMemPointerINTEL");
    int *host = ((alloc_t)function("clHostMemAllocINTEL"))(context, 0, 4096, 0, &err); OK(err);
    if (count > 1) return leaves(args[1], host);
    int *shared = ((shared_t)function("clSharedMemAllocINTEL"))(context, device, 0, 4096, 0, &err); OK(err);
    int *svm = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 4096, 0);
    cl_device_svm_capabilities able = 0;
    OK(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof able, &able, 0));
    CHECK(able & CL_DEVICE_SVM_ATOMICS && !clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_ATOMICS, 4096, 0));
    overlap(host, 0); overlap(shared, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    two_queues(shared);
    atomics(host); atomics(svm);
    released(host, shared);
    failing();
    times();
    OK(((free_t)function("clMemBlockingFreeINTEL"))(context, host)); OK(((free_t)function("clMemFreeINTEL"))(context, shared));
    clSVMFree(context, svm);
    OK(clReleaseProgram(program));
    return ended();
}
