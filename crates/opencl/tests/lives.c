/* Buffers keep their addresses for their lives: pointers that kernels leave in memory mean the same in later launches, whatever
   the arguments are, and what was released is not taken for another buffer. With an argument, a kernel follows a pointer to a
   released buffer. Prints what failed; exits with the number of failures. */
#include "device.h"

static const char *SOURCE =
    "typedef struct node { global struct node *next; int value; } node;\n"
    "global int *kept; global int own[4] = {3, 1, 4, 1};\n"
    "kernel void keep(global ulong *slot, global int *p) { *slot = (ulong)p; }\n"
    "kernel void follow(global int *o, global ulong *slot) { *o = *(global int *)*slot; }\n"
    "kernel void follow_too(global int *o, global ulong *slot, global int *p) { *o = *(global int *)*slot + *p; }\n"
    "kernel void set(global int *p) { kept = p; }\n"
    "kernel void add(int n) { for (int i = 0; i < 4; i++) kept[i] += n; }\n"
    "kernel void name(global ulong *slot) { *slot = (ulong)(own + 2); }\n"
    "kernel void push(global node *n, global ulong *head, int value) { n->next = (global node *)*head; n->value = value; *head = (ulong)n; }\n"
    "kernel void sum(global int *o, global ulong *head) { int s = 0; for (global node *n = (global node *)*head; n; n = n->next) s = s * 3 + n->value; *o = s; }\n"
    "int any_sum(int *a) { int s = 0; for (int i = 0; i < 4; i++) s = s * 10 + a[i]; return s; }\n"
    "kernel void either(global int *a, global int *o, int which) { int l[4] = {1, 2, 3, which}; int *p = a; if (which) p = l; *o = any_sum(p); }\n";

static cl_program program;

static void run(cl_kernel kernel) {
    size_t one = 1;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &one, 0, 0, 0, 0));
}

static cl_kernel with(const char *name, cl_mem a, cl_mem b) {
    cl_kernel kernel = kernel_of(program, name);
    if (a) OK(clSetKernelArg(kernel, 0, sizeof a, &a));
    if (b) OK(clSetKernelArg(kernel, 1, sizeof b, &b));
    return kernel;
}

static void once(const char *name, cl_mem a, cl_mem b) {
    cl_kernel kernel = with(name, a, b);
    run(kernel);
    OK(clReleaseKernel(kernel));
}

static int first(cl_mem m) {
    int value;
    OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof value, &value, 0, 0, 0));
    return value;
}

static cl_mem holding(int a, int b, int c, int d) {
    int values[] = {a, b, c, d};
    return buffer(sizeof values, CL_MEM_COPY_HOST_PTR, values);
}

static void pointers_in_buffers(void) {
    cl_mem a = holding(41, 42, 43, 44), b = holding(3, 3, 3, 3), slot = buffer(8, 0, 0);
    once("keep", slot, a); once("follow", b, slot); CHECK(first(b) == 41);
    cl_kernel too = with("follow_too", b, slot);
    OK(clSetKernelArg(too, 2, sizeof a, &a)); run(too); CHECK(first(b) == 82);
    OK(clReleaseKernel(too));
    /* A part of a buffer is where the buffer is. */
    cl_mem whole = buffer(1024, 0, 0); int err, seven = 7;
    cl_buffer_region region = {512, 64};
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err); OK(err);
    OK(clEnqueueFillBuffer(queue, whole, &seven, 4, 512, 4, 0, 0, 0));
    once("keep", slot, part); once("follow", b, slot); CHECK(first(b) == 7);
    cl_ulong at, start;
    OK(clEnqueueReadBuffer(queue, slot, CL_TRUE, 0, 8, &at, 0, 0, 0));
    once("keep", slot, whole); OK(clEnqueueReadBuffer(queue, slot, CL_TRUE, 0, 8, &start, 0, 0, 0)); CHECK(at == start + 512);
    OK(clReleaseMemObject(part)); OK(clReleaseMemObject(whole));
    OK(clReleaseMemObject(a)); OK(clReleaseMemObject(b)); OK(clReleaseMemObject(slot));
}

static void lists(void) {
    enum { NODES = 100 };
    cl_mem nodes[NODES], out = holding(0, 0, 0, 0); cl_ulong none = 0;
    cl_mem head = buffer(8, CL_MEM_COPY_HOST_PTR, &none);
    cl_kernel push = with("push", 0, head);
    for (int i = 0; i < NODES; i++) {
        nodes[i] = buffer(16, 0, 0);
        OK(clSetKernelArg(push, 0, sizeof nodes[i], nodes + i)); OK(clSetKernelArg(push, 2, sizeof i, &i));
        run(push);
    }
    once("sum", out, head);
    unsigned wanted = 0;
    for (int i = NODES - 1; i >= 0; i--) wanted = wanted * 3 + (unsigned)i;
    CHECK((unsigned)first(out) == wanted);
    for (int i = 0; i < NODES; i++) OK(clReleaseMemObject(nodes[i]));
    OK(clReleaseKernel(push)); OK(clReleaseMemObject(head)); OK(clReleaseMemObject(out));
}

static void variables(void) {
    cl_mem a = holding(1, 2, 3, 4), slot = buffer(8, 0, 0), out = buffer(16, 0, 0);
    once("set", a, 0);
    cl_kernel add = kernel_of(program, "add"); int forty = 40;
    OK(clSetKernelArg(add, 0, sizeof forty, &forty)); run(add); CHECK(first(a) == 41);
    /* Another program reaches the variables of this one. */
    cl_program other = program_in(context, SOURCE, "-cl-std=CL2.0"), mine = program;
    once("name", slot, 0);
    program = other; once("follow", out, slot); program = mine;
    CHECK(first(out) == 4);
    OK(clReleaseKernel(add)); OK(clReleaseProgram(other));
    OK(clReleaseMemObject(a)); OK(clReleaseMemObject(slot)); OK(clReleaseMemObject(out));
}

/* Addresses that were never given out before, also beyond 47 and 48 bits. */
static void many(void) {
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 14000; i++) OK(clReleaseMemObject(buffer(4, 0, 0)));
        cl_mem a = holding(5, 6, 7, 8), out = holding(0, 0, 0, 0);
        for (int which = 0; which < 10; which += 9) {
            cl_kernel kernel = with("either", a, out);
            OK(clSetKernelArg(kernel, 2, sizeof which, &which)); run(kernel);
            CHECK(first(out) == (which ? 1239 : 5678));
            OK(clReleaseKernel(kernel));
        }
        OK(clReleaseMemObject(a)); OK(clReleaseMemObject(out));
    }
    lists();
}

static void released(void) {
    cl_mem a = holding(41, 42, 43, 44), b = holding(3, 3, 3, 3), slot = buffer(8, 0, 0);
    once("keep", slot, a); OK(clFinish(queue)); OK(clReleaseMemObject(a));
    cl_mem again = holding(51, 52, 53, 54);
    cl_kernel follow = with("follow", b, slot); size_t one = 1;
    clEnqueueNDRangeKernel(queue, follow, 1, 0, &one, 0, 0, 0, 0); clFinish(queue);
    CHECK(first(b) != 51);
    OK(clReleaseKernel(follow));
    OK(clReleaseMemObject(again)); OK(clReleaseMemObject(b)); OK(clReleaseMemObject(slot));
}

int main(int count, char **arguments) {
    (void)arguments;
    start(0);
    program = program_in(context, SOURCE, "-cl-std=CL2.0");
    if (count > 1) {
        released();
    } else {
        pointers_in_buffers(); lists(); variables(); many();
    }
    OK(clReleaseProgram(program));
    return ended();
}
