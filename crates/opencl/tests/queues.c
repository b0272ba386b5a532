/* Queues that wait for each other, events, callbacks, grids of all sizes. Prints what failed; exits with the number of failures. */
#include "device.h"
#include <pthread.h>
#include <unistd.h>

enum { COUNT = 1000 };
static int seen[6], in_callback;
static cl_command_queue other;

static void CL_CALLBACK done(cl_event event, cl_int status, void *user) {
    (void)event;
    if (status == CL_COMPLETE) __sync_fetch_and_add((int *)user, 1);
}

/* Commands may be enqueued from a callback. */
static void CL_CALLBACK go_on(cl_event event, cl_int status, void *user) {
    static const int value = 5;
    (void)event; (void)status;
    OK(clEnqueueWriteBuffer(other, user, CL_FALSE, 4, 4, &value, 0, 0, 0));
    OK(clFlush(other));
    __sync_fetch_and_add(&in_callback, 1);
}

static void *sets(void *event) {
    usleep(100000);
    OK(clSetUserEventStatus(event, CL_COMPLETE));
    return 0;
}

static cl_event user_event(void) {
    cl_int err;
    cl_event event = clCreateUserEvent(context, &err); OK(err);
    return event;
}

static cl_int status_of(cl_event event) {
    cl_int status = 99;
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, 0));
    return status;
}

/* What one queue does waits for the other; arguments are those of the time of the call. */
static void across_queues(cl_kernel add, cl_kernel mul) {
    cl_command_queue timed = queue_with(context, CL_QUEUE_PROFILING_ENABLE);
    cl_mem all = buffer(COUNT * 4, CL_MEM_READ_WRITE, 0);
    cl_event user = user_event(), events[6];
    int host[COUNT], out[COUNT] = {0}, value = 3;
    for (int i = 0; i < COUNT; i++) host[i] = i;
    size_t global = COUNT, offset = 100, part = 50;
    OK(clEnqueueWriteBuffer(queue, all, CL_FALSE, 0, sizeof host, host, 1, &user, &events[0]));
    OK(clSetKernelArg(add, 0, sizeof all, &all)); OK(clSetKernelArg(add, 1, 4, &value));
    OK(clEnqueueNDRangeKernel(timed, add, 1, 0, &global, 0, 1, &events[0], &events[1]));
    value = 1000; OK(clSetKernelArg(add, 1, 4, &value));
    value = 5; OK(clSetKernelArg(mul, 0, sizeof all, &all)); OK(clSetKernelArg(mul, 1, 4, &value));
    OK(clEnqueueNDRangeKernel(queue, mul, 1, 0, &global, 0, 1, &events[1], &events[2]));
    OK(clEnqueueNDRangeKernel(timed, add, 1, &offset, &part, 0, 1, &events[2], &events[3]));
    OK(clEnqueueReadBuffer(queue, all, CL_FALSE, 0, sizeof out, out, 1, &events[3], &events[4]));
    OK(clEnqueueMarkerWithWaitList(queue, 0, 0, &events[5]));
    for (int i = 0; i < 6; i++) OK(clSetEventCallback(events[i], CL_COMPLETE, done, &seen[i]));
    CHECK(status_of(events[4]) > CL_COMPLETE && out[1] == 0);
    OK(clFlush(queue)); OK(clFlush(timed));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clWaitForEvents(1, &events[5])); OK(clFinish(queue)); OK(clFinish(timed));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) wrong += out[i] != (i + 3) * 5 + (i >= 100 && i < 150 ? 1000 : 0);
    CHECK(wrong == 0);
    for (int i = 0; i < 6; i++) CHECK(comes(&seen[i], 1));
    cl_ulong times[4];
    for (int i = 0; i < 4; i++) OK(clGetEventProfilingInfo(events[1], CL_PROFILING_COMMAND_QUEUED + i, 8, &times[i], 0));
    CHECK(times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3]);
    IS(clGetEventProfilingInfo(events[0], CL_PROFILING_COMMAND_END, 8, times, 0), CL_PROFILING_INFO_NOT_AVAILABLE);
    cl_command_type type;
    OK(clGetEventInfo(events[5], CL_EVENT_COMMAND_TYPE, sizeof type, &type, 0)); CHECK(type == CL_COMMAND_MARKER);
    for (int i = 0; i < 6; i++) OK(clReleaseEvent(events[i]));
    OK(clReleaseEvent(user)); OK(clReleaseMemObject(all)); OK(clReleaseCommandQueue(timed));
}

/* A user event that fails lets everything fail that waits for it, and nothing of that runs. */
static void failing(cl_kernel add) {
    cl_mem all = buffer(COUNT * 4, CL_MEM_READ_WRITE, 0);
    cl_event user = user_event(), read, launch;
    int out = 77;
    size_t global = COUNT;
    OK(clSetKernelArg(add, 0, sizeof all, &all));
    OK(clEnqueueReadBuffer(queue, all, CL_FALSE, 0, 4, &out, 1, &user, &read));
    OK(clEnqueueNDRangeKernel(queue, add, 1, 0, &global, 0, 1, &read, &launch));
    OK(clSetUserEventStatus(user, -7));
    IS(clWaitForEvents(1, &launch), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    CHECK(status_of(read) < 0 && status_of(launch) < 0 && out == 77);
    IS(clSetUserEventStatus(user, CL_COMPLETE), CL_INVALID_OPERATION);
    OK(clReleaseEvent(user)); OK(clReleaseEvent(read)); OK(clReleaseEvent(launch)); OK(clReleaseMemObject(all));
}

static void threads_and_callbacks(void) {
    cl_mem m = buffer(64, CL_MEM_READ_WRITE, 0);
    int host[16] = {7, 8, 9}, out[16] = {0}, one = 111, two = 222;
    /* Another thread ends what a blocking call waits for. */
    cl_command_queue in_order = queue_with(context, 0);
    cl_event user = user_event(), marker, last;
    pthread_t thread;
    OK(clEnqueueWriteBuffer(in_order, m, CL_FALSE, 0, 64, host, 1, &user, 0));
    pthread_create(&thread, 0, sets, user);
    OK(clEnqueueReadBuffer(in_order, m, CL_TRUE, 0, 64, out, 0, 0, 0));
    pthread_join(thread, 0);
    CHECK(out[0] == 7 && out[2] == 9);
    OK(clReleaseEvent(user));

    other = queue_with(context, 0); user = user_event();
    OK(clEnqueueMarkerWithWaitList(in_order, 1, &user, &marker));
    OK(clSetEventCallback(marker, CL_COMPLETE, go_on, m));
    OK(clSetUserEventStatus(user, CL_COMPLETE)); OK(clFinish(in_order));
    while (!__sync_fetch_and_add(&in_callback, 0)) usleep(1000);
    OK(clFinish(other)); OK(clEnqueueReadBuffer(in_order, m, CL_TRUE, 0, 64, out, 0, 0, 0));
    CHECK(out[1] == 5);
    OK(clReleaseEvent(user)); OK(clReleaseEvent(marker));

    /* In order, what comes after a command that waits waits as well; out of order, what comes after a barrier. */
    for (int round = 0; round < 2; round++) {
        cl_command_queue q = round ? queue : in_order;
        user = user_event();
        OK(clEnqueueWriteBuffer(q, m, CL_FALSE, 0, 4, &one, 1, &user, 0));
        if (round) OK(clEnqueueBarrierWithWaitList(q, 0, 0, 0));
        OK(clEnqueueWriteBuffer(q, m, CL_FALSE, 0, 4, &two, 0, 0, &last));
        CHECK(status_of(last) > CL_COMPLETE);
        OK(clSetUserEventStatus(user, CL_COMPLETE)); OK(clFinish(q));
        OK(clEnqueueReadBuffer(q, m, CL_TRUE, 0, 4, out, 0, 0, 0));
        CHECK(out[0] == two);
        OK(clReleaseEvent(user)); OK(clReleaseEvent(last));
    }
    /* Memory that commands wait to use stays when it is released. */
    user = user_event();
    cl_mem gone = buffer(16, CL_MEM_READ_WRITE, 0);
    OK(clEnqueueWriteBuffer(in_order, gone, CL_FALSE, 0, 16, host, 1, &user, 0));
    OK(clEnqueueReadBuffer(in_order, gone, CL_FALSE, 0, 16, out, 0, 0, &last));
    OK(clReleaseMemObject(gone)); OK(clReleaseCommandQueue(in_order));
    OK(clSetUserEventStatus(user, CL_COMPLETE)); OK(clWaitForEvents(1, &last));
    CHECK(out[1] == 8);
    OK(clReleaseEvent(user)); OK(clReleaseEvent(last));

    int value;
    cl_event event = user_event();
    cl_int err;
    cl_context elsewhere = clCreateContext(0, 1, &device, 0, 0, &err); OK(err);
    cl_mem there = clCreateBuffer(elsewhere, 0, 4, 0, &err); OK(err);
    IS(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, 4, &value, 1, 0, 0), CL_INVALID_EVENT_WAIT_LIST);
    IS(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, 4, &value, 0, &event, 0), CL_INVALID_EVENT_WAIT_LIST);
    IS(clEnqueueReadBuffer(queue, there, CL_TRUE, 0, 4, &value, 0, 0, 0), CL_INVALID_CONTEXT);
    IS(clWaitForEvents(0, 0), CL_INVALID_VALUE);
    IS(clSetEventCallback(event, CL_QUEUED, done, 0), CL_INVALID_VALUE);
    cl_device_exec_capabilities can;
    OK(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, 0));
    if (!(can & CL_EXEC_NATIVE_KERNEL))
        IS(clEnqueueNativeKernel(queue, (void(CL_CALLBACK *)(void *))abort, 0, 0, 0, 0, 0, 0, 0, 0), CL_INVALID_OPERATION);
    OK(clReleaseMemObject(there)); OK(clReleaseContext(elsewhere)); OK(clReleaseEvent(event));
    OK(clReleaseCommandQueue(other)); OK(clReleaseMemObject(m));
}

static void grids(void) {
    cl_program program = program_in(context,
        "kernel void big(global uint *a) { uint i = get_global_id(0); if (i % 1000003 == 0) atomic_inc(a); atomic_max(a + 1, i); }\n"
        "kernel void sum(global uint *a) { atomic_add(a, (uint)(get_global_id(0)*3 + get_global_id(1)*5 + get_global_id(2)*7));\n"
        "  atomic_inc(a + 1); if (get_global_linear_id() == 0) { a[2] = get_work_dim(); a[3] = get_global_size(2);\n"
        "  a[4] = get_num_groups(1); a[5] = get_enqueued_local_size(0); } }\n"
        "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global uint *a) { atomic_inc(a); }\n", "-cl-std=CL2.0");
    cl_kernel big = kernel_of(program, "big"), sum = kernel_of(program, "sum"), fixed = kernel_of(program, "fixed");
    unsigned out[6], zero = 0;
    cl_mem m = buffer(sizeof out, CL_MEM_READ_WRITE, 0);
    OK(clSetKernelArg(big, 0, sizeof m, &m)); OK(clSetKernelArg(sum, 0, sizeof m, &m)); OK(clSetKernelArg(fixed, 0, sizeof m, &m));
#define CLEAR() do { OK(clEnqueueFillBuffer(queue, m, &zero, 4, 0, sizeof out, 0, 0, 0)); OK(clFinish(queue)); } while (0)
#define FETCH() do { OK(clFinish(queue)); OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof out, out, 0, 0, 0)); } while (0)
    size_t many = 1 << 22;
    CLEAR(); OK(clEnqueueNDRangeKernel(queue, big, 1, 0, &many, 0, 0, 0, 0)); FETCH();
    CHECK(out[0] == 5 && out[1] == many - 1);

    size_t box[3] = {37, 23, 11}, from[3] = {5, 7, 9};
    unsigned wanted = 0;
    for (unsigned z = 0; z < 11; z++) for (unsigned y = 0; y < 23; y++) for (unsigned x = 0; x < 37; x++)
        wanted += (x + 5) * 3 + (y + 7) * 5 + (z + 9) * 7;
    CLEAR(); OK(clEnqueueNDRangeKernel(queue, sum, 3, from, box, 0, 0, 0, 0)); FETCH();
    CHECK(out[0] == wanted && out[1] == 37 * 23 * 11 && out[2] == 3 && out[3] == 11);

    size_t uneven[2] = {13, 17}, group[2] = {4, 5};
    wanted = 0;
    for (unsigned y = 0; y < 17; y++) for (unsigned x = 0; x < 13; x++) wanted += x * 3 + y * 5;
    CLEAR(); OK(clEnqueueNDRangeKernel(queue, sum, 2, 0, uneven, group, 0, 0, 0)); FETCH();
    CHECK(out[0] == wanted && out[1] == 13 * 17 && out[2] == 2 && out[3] == 1 && out[4] == 4 && out[5] == 4);

    size_t nothing[2] = {8, 0};
    cl_event event;
    CLEAR(); OK(clEnqueueNDRangeKernel(queue, sum, 2, 0, nothing, 0, 0, 0, &event));
    OK(clWaitForEvents(1, &event)); CHECK(status_of(event) == CL_COMPLETE); OK(clReleaseEvent(event));
    FETCH(); CHECK(out[1] == 0);

    size_t eight[2] = {8, 4}, odd[2] = {10, 3}, right[2] = {4, 2}, turned[2] = {2, 4}, none[2] = {0, 1}, huge = (size_t)1 << 33;
    CLEAR(); OK(clEnqueueNDRangeKernel(queue, fixed, 2, 0, eight, right, 0, 0, 0)); FETCH(); CHECK(out[0] == 32);
    CLEAR(); OK(clEnqueueNDRangeKernel(queue, fixed, 2, 0, odd, right, 0, 0, 0)); FETCH(); CHECK(out[0] == 30);
    OK(clEnqueueNDRangeKernel(queue, fixed, 2, 0, eight, 0, 0, 0, 0));
    IS(clEnqueueNDRangeKernel(queue, fixed, 2, 0, eight, turned, 0, 0, 0), CL_INVALID_WORK_GROUP_SIZE);
    IS(clEnqueueNDRangeKernel(queue, sum, 2, 0, eight, none, 0, 0, 0), CL_INVALID_WORK_GROUP_SIZE);
    IS(clEnqueueNDRangeKernel(queue, sum, 1, 0, &huge, 0, 0, 0, 0), CL_INVALID_GLOBAL_WORK_SIZE);
    IS(clEnqueueNDRangeKernel(queue, sum, 1, &huge, eight, 0, 0, 0, 0), CL_INVALID_GLOBAL_OFFSET);
    IS(clEnqueueNDRangeKernel(queue, sum, 0, 0, eight, 0, 0, 0, 0), CL_INVALID_WORK_DIMENSION);
    IS(clEnqueueNDRangeKernel(queue, sum, 4, 0, eight, 0, 0, 0, 0), CL_INVALID_WORK_DIMENSION);
    OK(clFinish(queue));
    OK(clReleaseKernel(big)); OK(clReleaseKernel(sum)); OK(clReleaseKernel(fixed));
    OK(clReleaseProgram(program)); OK(clReleaseMemObject(m));
}

/* Groups that wait for each other (cl_intel_concurrent_dispatch): all that can, and no more. */
static void together(void) {
    enum { DISPATCH_TYPE = 0x4257 };
    cl_int (*most_groups)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, size_t *) =
        (void *)clGetExtensionFunctionAddressForPlatform(platform, "clGetKernelMaxConcurrentWorkGroupCountINTEL");
    cl_program program = program_in(context,
        "kernel void meet(global int *x, volatile global int *count) {\n"
        "  if (get_local_id(0) == 0) { atomic_inc(count); while (atomic_add(count, 0) < (int)get_num_groups(0)); }\n"
        "  barrier(CLK_GLOBAL_MEM_FENCE); x[get_global_id(0)] = *count; }\n", "");
    cl_kernel meet = kernel_of(program, "meet");
    int zero = 0, *out = calloc(4096 * 16, 4);
    cl_mem x = buffer(4096 * 16 * 4, 0, 0), count = buffer(4, CL_MEM_COPY_HOST_PTR, &zero);
    size_t local = 16, most = 0, none[] = {0};
    CHECK(most_groups);
    IS(most_groups(queue, meet, 1, 0, &local, &most), CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(meet, 0, sizeof x, &x)); OK(clSetKernelArg(meet, 1, sizeof count, &count));
    OK(most_groups(queue, meet, 1, 0, &local, &most));
    CHECK(most > 1 && most <= 4096);
    IS(most_groups(queue, meet, 4, 0, &local, &most), CL_INVALID_WORK_DIMENSION);
    IS(most_groups(queue, meet, 1, 0, none, &most), CL_INVALID_WORK_GROUP_SIZE);
    IS(most_groups(0, meet, 1, 0, &local, &most), CL_INVALID_COMMAND_QUEUE);
    size_t groups = most < 200 ? most : 200, global = groups * local, beyond = (most + 1) * local;
    cl_uint kinds[] = {1, 2, 0};
    OK(clSetKernelExecInfo(meet, DISPATCH_TYPE, 4, &kinds[0]));
    IS(clSetKernelExecInfo(meet, DISPATCH_TYPE, 4, &kinds[1]), CL_INVALID_VALUE);
    IS(clEnqueueNDRangeKernel(queue, meet, 1, 0, &beyond, &local, 0, 0, 0), CL_INVALID_VALUE);
    OK(clEnqueueNDRangeKernel(queue, meet, 1, 0, &global, &local, 0, 0, 0));
    OK(clFinish(queue));
    OK(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, global * 4, out, 0, 0, 0));
    for (size_t i = 0; i < global; i++) CHECK(out[i] == (int)groups);
    OK(clSetKernelExecInfo(meet, DISPATCH_TYPE, 4, &kinds[2]));
    free(out);
    OK(clReleaseMemObject(x)); OK(clReleaseMemObject(count)); OK(clReleaseKernel(meet)); OK(clReleaseProgram(program));
}

/* One event makes commands of three queues ready: the most urgent one runs first, though its queue is the last. */
static void priorities(void) {
    static const cl_queue_priority_khr levels[] = {CL_QUEUE_PRIORITY_LOW_KHR, 0, CL_QUEUE_PRIORITY_MED_KHR, CL_QUEUE_PRIORITY_HIGH_KHR};
    cl_command_queue queues[4]; cl_event ends[4], go = user_event(); cl_ulong times[4]; cl_int err; const int zero = 0;
    cl_mem m = buffer(1 << 16, CL_MEM_READ_WRITE, 0);
    for (int i = 0; i < 4; i++) {
        cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PRIORITY_KHR, levels[i], 0};
        queues[i] = clCreateCommandQueueWithProperties(context, device, list, &err); OK(err);
        OK(clEnqueueFillBuffer(queues[i], m, &zero, 4, 0, 1 << 16, 1, &go, &ends[i]));
    }
    OK(clSetUserEventStatus(go, CL_COMPLETE)); OK(clWaitForEvents(4, ends));
    for (int i = 0; i < 4; i++) OK(clGetEventProfilingInfo(ends[i], CL_PROFILING_COMMAND_START, sizeof times[i], &times[i], 0));
    for (int i = 1; i < 3; i++) CHECK(times[3] < times[i] && times[i] < times[0]);
    for (int i = 0; i < 4; i++) { OK(clReleaseEvent(ends[i])); OK(clReleaseCommandQueue(queues[i])); }
    OK(clReleaseEvent(go)); OK(clReleaseMemObject(m));
}

int main(void) {
    start(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_program program = program_in(context,
        "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n"
        "kernel void mul(global int *a, int n) { a[get_global_id(0)] *= n; }\n", "");
    cl_kernel add = kernel_of(program, "add"), mul = kernel_of(program, "mul");
    across_queues(add, mul);
    failing(add);
    threads_and_callbacks();
    grids();
    together();
    priorities();
    OK(clReleaseKernel(add)); OK(clReleaseKernel(mul)); OK(clReleaseProgram(program));
    return ended();
}
