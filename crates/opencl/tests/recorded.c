/* Command buffers: what is recorded once runs as often as it is enqueued. Prints what failed; exits with the number of failures. */
#include "device.h"

/* As of version 0.9.7 of the extension: commands have properties. */
typedef cl_uint point;
#define TAIL cl_uint, const point *, point *, void **
static void *(*create)(cl_uint, const cl_command_queue *, const cl_ulong *, cl_int *);
static cl_int (*finalize)(void *), (*retain)(void *), (*release)(void *);
static cl_int (*info)(void *, cl_uint, size_t, void *, size_t *);
static cl_int (*run)(cl_uint, cl_command_queue *, void *, cl_uint, const cl_event *, cl_event *);
static cl_int (*barrier)(void *, void *, const cl_ulong *, TAIL);
static cl_int (*copy)(void *, void *, const cl_ulong *, cl_mem, cl_mem, size_t, size_t, size_t, TAIL);
static cl_int (*copy_rect)(void *, void *, const cl_ulong *, cl_mem, cl_mem, const size_t *, const size_t *, const size_t *, size_t, size_t,
                           size_t, size_t, TAIL);
static cl_int (*fill)(void *, void *, const cl_ulong *, cl_mem, const void *, size_t, size_t, size_t, TAIL);
static cl_int (*copy_image)(void *, void *, const cl_ulong *, cl_mem, cl_mem, const size_t *, const size_t *, const size_t *, TAIL);
static cl_int (*to_image)(void *, void *, const cl_ulong *, cl_mem, cl_mem, size_t, const size_t *, const size_t *, TAIL);
static cl_int (*from_image)(void *, void *, const cl_ulong *, cl_mem, cl_mem, const size_t *, const size_t *, size_t, TAIL);
static cl_int (*fill_image)(void *, void *, const cl_ulong *, cl_mem, const void *, const size_t *, const size_t *, TAIL);
static cl_int (*svm_copy)(void *, void *, const cl_ulong *, void *, const void *, size_t, TAIL);
static cl_int (*svm_fill)(void *, void *, const cl_ulong *, void *, const void *, size_t, size_t, TAIL);
static cl_int (*launch)(void *, void *, const cl_ulong *, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, TAIL);
/* Launches that are changed, as of version 0.9.4 of the other extension. */
typedef struct { cl_uint index; size_t size; const void *value; } change_arg;
typedef struct {
    void *command;
    cl_uint args, svm_args, infos, dimensions;
    const change_arg *arg_list, *svm_list;
    const void *info_list;
    const size_t *offset, *global, *local;
} change;
static cl_int (*update)(void *, cl_uint, const cl_uint *, const void **);
static cl_int (*command_info)(void *, cl_uint, size_t, void *, size_t *);

static void find(void) {
    struct { void *to; const char *name; } all[] = {
        {&create, "clCreateCommandBufferKHR"}, {&finalize, "clFinalizeCommandBufferKHR"}, {&retain, "clRetainCommandBufferKHR"},
        {&release, "clReleaseCommandBufferKHR"}, {&info, "clGetCommandBufferInfoKHR"}, {&run, "clEnqueueCommandBufferKHR"},
        {&barrier, "clCommandBarrierWithWaitListKHR"}, {&copy, "clCommandCopyBufferKHR"}, {&copy_rect, "clCommandCopyBufferRectKHR"},
        {&fill, "clCommandFillBufferKHR"}, {&copy_image, "clCommandCopyImageKHR"}, {&to_image, "clCommandCopyBufferToImageKHR"},
        {&from_image, "clCommandCopyImageToBufferKHR"}, {&fill_image, "clCommandFillImageKHR"}, {&svm_copy, "clCommandSVMMemcpyKHR"},
        {&svm_fill, "clCommandSVMMemFillKHR"}, {&launch, "clCommandNDRangeKernelKHR"},
        {&update, "clUpdateMutableCommandsKHR"}, {&command_info, "clGetMutableCommandInfoKHR"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *found = clGetExtensionFunctionAddressForPlatform(platform, all[i].name);
        if (!found) printf("%s is missing\n", all[i].name), exit(100);
        memcpy(all[i].to, &found, sizeof found);
    }
}

enum { COUNT = 16, BYTES = COUNT * 4, FLAGS = 0x1293, SIMULTANEOUS = 1, STATE = 0x1297, QUEUES = 0x1294, NUMBER = 0x1295 };
static size_t items = COUNT, zero3[3];

static void *made(cl_command_queue q, cl_ulong flags) {
    cl_int err;
    cl_ulong list[] = {FLAGS, flags, 0};
    void *buffer = create(1, &q, list, &err); OK(err);
    return buffer;
}

static cl_uint state_of(void *buffer) {
    cl_uint state = 99;
    OK(info(buffer, STATE, sizeof state, &state, 0));
    return state;
}

/* All kinds of commands, twice; arguments and objects are those of the time when they were recorded. */
static void everything(cl_kernel add, cl_command_queue q, cl_command_queue other) {
    int start[COUNT], out[COUNT], seven = 7, three = 3, hundred = 100;
    cl_int err;
    for (int i = 0; i < COUNT; i++) start[i] = i;
    cl_mem a = buffer(BYTES, CL_MEM_COPY_HOST_PTR, start), b = buffer(BYTES, CL_MEM_READ_WRITE, 0), sum = buffer(BYTES, CL_MEM_READ_WRITE, 0);
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, 0, &err); OK(err);
    cl_mem second = clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, 0, &err); OK(err);
    size_t all[3] = {4, 4, 1}, corner[3] = {3, 3, 0}, one[3] = {1, 1, 1}, part[3] = {8, 2, 1}, down[3] = {8, 0, 0};
    unsigned color[4] = {1, 2, 3, 4};
    int *svm = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 2 * BYTES, 0);
    point p[16];
    void *c = made(q, 0), *none = 0;
    CHECK(state_of(c) == 0);
    IS(run(0, 0, c, 0, 0, 0), CL_INVALID_OPERATION);
    OK(fill(c, 0, 0, sum, &seven, 4, 0, BYTES, 0, 0, &p[0], 0));
    OK(clSetKernelArg(add, 0, sizeof sum, &sum)); OK(clSetKernelArg(add, 1, sizeof a, &a)); OK(clSetKernelArg(add, 2, 4, &three));
    OK(launch(c, 0, 0, add, 1, 0, &items, 0, 1, p, &p[1], 0));
    OK(clSetKernelArg(add, 2, 4, &hundred));
    OK(copy(c, 0, 0, sum, b, 0, 0, BYTES, 1, &p[1], &p[2], 0));
    OK(barrier(c, 0, 0, 0, 0, &p[3], 0));
    OK(copy_rect(c, 0, 0, a, b, zero3, down, part, 16, 0, 16, 0, 1, &p[3], &p[4], 0));
    OK(to_image(c, 0, 0, b, image, 0, zero3, all, 2, &p[3], &p[5], 0));
    OK(fill_image(c, 0, 0, image, color, corner, one, 1, &p[5], &p[6], 0));
    OK(copy_image(c, 0, 0, image, second, zero3, zero3, all, 1, &p[6], &p[7], 0));
    OK(from_image(c, 0, 0, second, b, zero3, all, 0, 1, &p[7], &p[8], 0));
    OK(svm_fill(c, 0, 0, svm, &seven, 4, BYTES, 0, 0, &p[9], 0));
    OK(svm_copy(c, 0, 0, svm + COUNT, svm, BYTES, 1, &p[9], &p[10], 0));
    /* What cannot be. */
    p[11] = 99;
    IS(barrier(c, 0, 0, 1, &p[11], 0, 0), -1139); IS(barrier(c, 0, 0, 1, 0, 0, 0), -1139); IS(barrier(c, 0, 0, 0, p, 0, 0), -1139);
    IS(barrier(c, q, 0, 0, 0, 0, 0), CL_INVALID_COMMAND_QUEUE); IS(barrier(c, 0, 0, 0, 0, 0, &none), CL_INVALID_VALUE);
    IS(barrier(c, 0, (cl_ulong[]){1, 1, 0}, 0, 0, 0, 0), CL_INVALID_VALUE); IS(barrier(0, 0, 0, 0, 0, 0, 0), -1138);
    IS(copy(c, 0, 0, sum, b, 4, 0, BYTES, 0, 0, 0, 0), CL_INVALID_VALUE); IS(fill(c, 0, 0, sum, &seven, 3, 0, 6, 0, 0, 0, 0), CL_INVALID_VALUE);
    OK(finalize(c)); CHECK(state_of(c) == 1);
    IS(finalize(c), CL_INVALID_OPERATION); IS(barrier(c, 0, 0, 0, 0, 0, 0), CL_INVALID_OPERATION);
    OK(clReleaseMemObject(image)); OK(clReleaseMemObject(second));
    for (int round = 0; round < 2; round++) {
        cl_event user = clCreateUserEvent(context, &err), done;
        cl_command_type type;
        memset(out, 0, sizeof out);
        memset(svm, 0, 2 * BYTES);
        OK(run(round, round ? &other : 0, c, 1, &user, &done));
        CHECK(state_of(c) == 2);
        IS(run(0, 0, c, 0, 0, 0), CL_INVALID_OPERATION);
        OK(clGetEventInfo(done, CL_EVENT_COMMAND_TYPE, sizeof type, &type, 0)); CHECK(type == 0x12a8);
        OK(clSetUserEventStatus(user, CL_COMPLETE)); OK(clWaitForEvents(1, &done));
        CHECK(state_of(c) == 1);
        OK(clEnqueueReadBuffer(q, b, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
        for (int i = 0; i < COUNT; i++) {
            int copied = i == 2 || i == 3 || i == 6 || i == 7;
            int wanted = i == COUNT - 1 ? 0x04030201 : copied ? i - 2 : 7 + i * 3;
            CHECK(out[i] == wanted && svm[i] == 7 && svm[COUNT + i] == 7);
        }
        cl_ulong from, to;
        OK(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, 8, &from, 0));
        OK(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, 8, &to, 0)); CHECK(from < to);
        OK(clReleaseEvent(user)); OK(clReleaseEvent(done));
    }
    OK(release(c)); IS(release(c), -1138);
    OK(clReleaseMemObject(a)); OK(clReleaseMemObject(b)); OK(clReleaseMemObject(sum));
    clSVMFree(context, svm);
}

/* Runs one after the other, without waiting for any. */
static void again_and_again(cl_kernel add, cl_command_queue q) {
    enum { ROUNDS = 50 };
    int ones[COUNT], out[COUNT] = {0}, one = 1;
    for (int i = 0; i < COUNT; i++) ones[i] = 1;
    cl_mem a = buffer(BYTES, CL_MEM_COPY_HOST_PTR, ones), sum = buffer(BYTES, CL_MEM_COPY_HOST_PTR, out);
    void *c = made(q, SIMULTANEOUS);
    cl_command_queue of = 0;
    cl_uint number = 0;
    cl_int err;
    OK(clSetKernelArg(add, 0, sizeof sum, &sum)); OK(clSetKernelArg(add, 1, sizeof a, &a)); OK(clSetKernelArg(add, 2, 4, &one));
    OK(launch(c, 0, 0, add, 1, 0, &items, 0, 0, 0, 0, 0));
    OK(finalize(c)); OK(retain(c)); OK(release(c));
    OK(info(c, QUEUES, sizeof of, &of, 0)); OK(info(c, NUMBER, 4, &number, 0)); CHECK(of == q && number == 1);
    for (int i = 0; i < ROUNDS; i++) OK(run(0, 0, c, 0, 0, 0));
    OK(release(c));
    OK(clFinish(q));
    OK(clEnqueueReadBuffer(q, sum, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    for (int i = 0; i < COUNT; i++) CHECK(out[i] == ROUNDS);
    IS((create(0, 0, 0, &err), err), CL_INVALID_VALUE); IS((create(1, &q, (cl_ulong[]){FLAGS, 16, 0}, &err), err), CL_INVALID_VALUE);
    OK(clReleaseMemObject(a)); OK(clReleaseMemObject(sum));
}

static cl_int changed_to(void *c, change to) {
    cl_uint kind = 0;
    const void *all[] = {&to};
    return update(c, 1, &kind, all);
}

/* Arguments and grids of launches are changed between runs. */
static void changed(cl_kernel add, cl_command_queue q) {
    enum { MUTABLE = 2, UPDATABLE = 0x12b1, ARGUMENTS = 8, INVALID = -1141 };
    int ones[COUNT], out[COUNT] = {0}, one = 1, ten = 10;
    for (int i = 0; i < COUNT; i++) ones[i] = 1;
    cl_mem a = buffer(BYTES, CL_MEM_COPY_HOST_PTR, ones), sum = buffer(BYTES, CL_MEM_COPY_HOST_PTR, out),
           second = buffer(BYTES, CL_MEM_COPY_HOST_PTR, out);
    void *c = made(q, MUTABLE), *all = 0, *fixed = 0;
    OK(clSetKernelArg(add, 0, sizeof sum, &sum)); OK(clSetKernelArg(add, 1, sizeof a, &a)); OK(clSetKernelArg(add, 2, 4, &one));
    OK(launch(c, 0, 0, add, 1, 0, &items, 0, 0, 0, 0, &all));
    cl_ulong only[] = {UPDATABLE, ARGUMENTS, 0}, unknown[] = {UPDATABLE, 1 << 9, 0};
    OK(launch(c, 0, only, add, 1, 0, &items, 0, 0, 0, 0, &fixed));
    IS(launch(c, 0, unknown, add, 1, 0, &items, 0, 0, 0, 0, 0), CL_INVALID_VALUE);
    change_arg times = {2, 4, &ten}, target = {0, sizeof second, &second}, missing = {7, 4, &ten};
    size_t half = COUNT / 2, quarter = COUNT / 4;
    change by = {.command = all, .args = 1, .arg_list = &times};
    IS(changed_to(c, by), CL_INVALID_OPERATION);
    OK(finalize(c));
    OK(run(0, 0, c, 0, 0, 0)); OK(clFinish(q));
    /* The second half, ten times as much; the other launch goes elsewhere. */
    by.dimensions = 1; by.offset = &half; by.global = &half; by.local = &quarter;
    OK(changed_to(c, by));
    OK(changed_to(c, (change){.command = fixed, .args = 1, .arg_list = &target}));
    OK(run(0, 0, c, 0, 0, 0)); OK(clFinish(q));
    OK(clEnqueueReadBuffer(q, sum, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    for (int i = 0; i < COUNT; i++) CHECK(out[i] == (i < COUNT / 2 ? 2 : 12));
    OK(clEnqueueReadBuffer(q, second, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    for (int i = 0; i < COUNT; i++) CHECK(out[i] == 1);
    size_t is = 0;
    cl_kernel of = 0;
    OK(command_info(all, 0x12a6, sizeof is, &is, 0)); CHECK(is == half);
    OK(command_info(all, 0x12a5, sizeof is, &is, 0)); CHECK(is == half);
    OK(command_info(all, 0x12a7, sizeof is, &is, 0)); CHECK(is == quarter);
    OK(command_info(fixed, 0x12a7, sizeof is, &is, 0)); CHECK(is == 0);
    OK(command_info(all, 0x12a3, sizeof of, &of, 0)); CHECK(of == add);
    void *in = 0;
    OK(command_info(all, 0x12a1, sizeof in, &in, 0)); CHECK(in == c);
    IS(command_info(all, 77, sizeof in, &in, 0), CL_INVALID_VALUE);

    by.command = fixed;
    IS(changed_to(c, by), CL_INVALID_OPERATION);
    by.command = all; by.dimensions = 2;
    IS(changed_to(c, by), CL_INVALID_VALUE);
    IS(changed_to(c, (change){.command = all, .args = 1, .arg_list = &missing}), CL_INVALID_ARG_INDEX);
    IS(changed_to(c, (change){.command = c}), INVALID); IS(changed_to(c, (change){0}), INVALID);
    IS(update(c, 1, 0, 0), CL_INVALID_VALUE); OK(update(c, 0, 0, 0));
    /* Several at once: all of them, or none. */
    change_arg none = {2, 4, &one}, elsewhere = {0, sizeof sum, &sum};
    size_t zero = 0, all_items = COUNT;
    change first = {.command = all, .args = 1, .arg_list = &none, .dimensions = 1, .offset = &zero, .global = &all_items};
    change second_one = {.command = fixed, .args = 1, .arg_list = &elsewhere}, wrong = {.command = fixed, .args = 1, .arg_list = &missing};
    cl_uint kinds[] = {0, 0};
    memset(out, 0, sizeof out);
    OK(clEnqueueWriteBuffer(q, sum, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    IS(update(c, 2, kinds, (const void *[]){&first, &wrong}), CL_INVALID_ARG_INDEX);
    OK(command_info(all, 0x12a6, sizeof is, &is, 0)); CHECK(is == half);
    OK(run(0, 0, c, 0, 0, 0)); OK(clFinish(q));
    OK(clEnqueueReadBuffer(q, sum, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    for (int i = 0; i < COUNT; i++) CHECK(out[i] == (i < COUNT / 2 ? 0 : 10));
    OK(changed_to(c, (change){.command = all, .dimensions = 1, .offset = &half}));
    OK(run(0, 0, c, 0, 0, 0)); OK(clFinish(q));
    OK(clEnqueueReadBuffer(q, sum, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    for (int i = 0; i < COUNT; i++) CHECK(out[i] == (i < COUNT / 2 ? 0 : 20));
    memset(out, 0, sizeof out);
    OK(clEnqueueWriteBuffer(q, sum, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    OK(update(c, 2, kinds, (const void *[]){&first, &second_one}));
    OK(run(0, 0, c, 0, 0, 0)); OK(clFinish(q));
    OK(clEnqueueReadBuffer(q, sum, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    for (int i = 0; i < COUNT; i++) CHECK(out[i] == 2);
    void *plain = made(q, 0), *mine = 0;
    OK(launch(plain, 0, 0, add, 1, 0, &items, 0, 0, 0, 0, &mine)); OK(finalize(plain));
    IS(changed_to(plain, (change){.command = mine}), CL_INVALID_OPERATION);
    IS(changed_to(c, (change){.command = mine}), INVALID);
    OK(release(plain)); OK(release(c));
    IS(command_info(mine, 0x12a1, sizeof in, &in, 0), INVALID); IS(command_info(all, 0x12a1, sizeof in, &in, 0), INVALID);
    OK(clReleaseMemObject(a)); OK(clReleaseMemObject(sum)); OK(clReleaseMemObject(second));
}

int main(void) {
    start(CL_QUEUE_PROFILING_ENABLE);
    find();
    char names[8192];
    cl_ulong able = 0, needed = 9;
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof names, names, 0)); CHECK(strstr(names, "cl_khr_command_buffer"));
    OK(clGetDeviceInfo(device, 0x12a9, 8, &able, 0)); OK(clGetDeviceInfo(device, 0x12aa, 8, &needed, 0)); CHECK(able == 5 && needed == 0);
    cl_program program = program_in(context, "kernel void add(global int *sum, global int *a, int n) { sum[get_global_id(0)] += a[get_global_id(0)] * n; }", "");
    cl_kernel add = kernel_of(program, "add");
    cl_command_queue other = queue_with(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    everything(add, queue, other);
    again_and_again(add, queue);
    changed(add, queue);
    OK(clReleaseKernel(add)); OK(clReleaseProgram(program)); OK(clReleaseCommandQueue(other));
    return ended();
}
