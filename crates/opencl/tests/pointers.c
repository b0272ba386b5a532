/* Memory that host and device name by the same pointers: SVM, coarse and fine, and Intel's USM of three kinds. Prints what failed;
   exits with the number of failures. */
#include "device.h"

typedef struct node { struct node *next; long value; } node;
typedef struct { float *data; int count; } view;

static const char *SOURCE =
    "typedef struct node { global struct node *next; long value; } node;\n"
    "typedef struct { global float *data; int count; } view;\n"
    "kernel void list(global node *n, global int *o) { int s = 0; while (n) { s = s * 3 + (int)n->value; n->value += 100; n = n->next; } o[0] = s; }\n"
    "kernel void count(global int *a) { atomic_inc(a + get_global_id(0) % 4); }\n"
    "kernel void twice(global view *v) { int i = get_global_id(0); if (i < v->count) v->data[i] *= 2; }\n"
    "kernel void gather(global ulong *table, global int *o) { int i = get_global_id(0); o[i] = *(global int *)table[i] + i; }\n";

static cl_program program;

/* Pointers in shared memory are followed. */
static void shared_virtual_memory(void) {
    cl_device_svm_capabilities can;
    OK(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, 0));
    cl_svm_mem_flags fine = can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0;
    node *nodes[5];
    int *out = clSVMAlloc(context, CL_MEM_READ_WRITE | fine, 64, 0), got[16];
    for (int i = 0; i < 5; i++) nodes[i] = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(node), 0);
    for (int i = 0; i < 5; i++) {
        OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, nodes[i], sizeof(node), 0, 0, 0));
        nodes[i]->next = i < 4 ? nodes[i + 1] : 0; nodes[i]->value = i + 1;
        OK(clEnqueueSVMUnmap(queue, nodes[i], 0, 0, 0));
    }
    cl_kernel list = kernel_of(program, "list"), count = kernel_of(program, "count"), twice = kernel_of(program, "twice");
    OK(clSetKernelArgSVMPointer(list, 0, nodes[0])); OK(clSetKernelArgSVMPointer(list, 1, out));
    OK(clSetKernelExecInfo(list, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof nodes, nodes));
    size_t one = 1, many = 1000, some = 64;
    OK(clEnqueueNDRangeKernel(queue, list, 1, 0, &one, 0, 0, 0, 0)); OK(clFinish(queue));
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, out, 64, 0, 0, 0)); CHECK(out[0] == 179);
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, nodes[4], sizeof(node), 0, 0, 0)); CHECK(nodes[4]->value == 105);
    OK(clEnqueueSVMUnmap(queue, out, 0, 0, 0)); OK(clEnqueueSVMUnmap(queue, nodes[4], 0, 0, 0));

    int seven = 7;
    OK(clEnqueueSVMMemFill(queue, out, &seven, 4, 64, 0, 0, 0));
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, got, out, 64, 0, 0, 0)); CHECK(got[0] == 7 && got[15] == 7);
    IS(clEnqueueSVMMemcpy(queue, CL_TRUE, out + 1, out, 16, 0, 0, 0), CL_MEM_COPY_OVERLAP);
    /* A pointer into the middle, and a buffer in the same place. */
    OK(clSetKernelArgSVMPointer(count, 0, out + 4)); OK(clEnqueueNDRangeKernel(queue, count, 1, 0, &many, 0, 0, 0, 0));
    cl_mem same = buffer(64, CL_MEM_USE_HOST_PTR, out);
    OK(clSetKernelArg(count, 0, sizeof same, &same)); OK(clEnqueueNDRangeKernel(queue, count, 1, 0, &many, 0, 0, 0, 0));
    OK(clEnqueueReadBuffer(queue, same, CL_TRUE, 0, 64, got, 0, 0, 0)); CHECK(got[0] == 257 && got[4] == 257 && got[8] == 7);
    cl_int err;
    CHECK(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 68, out, &err) == 0); IS(err, CL_INVALID_BUFFER_SIZE);
    cl_bool shared;
    OK(clGetMemObjectInfo(same, CL_MEM_USES_SVM_POINTER, sizeof shared, &shared, 0)); CHECK(shared);
    OK(clReleaseMemObject(same));

    view *v = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(view), 0);
    float *data = clSVMAlloc(context, CL_MEM_READ_WRITE, 400, 64);
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, v, sizeof *v, 0, 0, 0)); OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, data, 400, 0, 0, 0));
    *v = (view){data + 10, 50};
    for (int i = 0; i < 100; i++) data[i] = i;
    OK(clEnqueueSVMUnmap(queue, v, 0, 0, 0)); OK(clEnqueueSVMUnmap(queue, data, 0, 0, 0));
    void *reached[] = {data}, *both[] = {v, data};
    OK(clSetKernelArgSVMPointer(twice, 0, v)); OK(clSetKernelExecInfo(twice, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof reached, reached));
    OK(clEnqueueNDRangeKernel(queue, twice, 1, 0, &some, 0, 0, 0, 0));
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data, 400, 0, 0, 0));
    OK(clSetKernelExecInfo(twice, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, 0));
    CHECK(data[9] == 9 && data[10] == 20 && data[59] == 118 && data[60] == 60);
    OK(clEnqueueSVMUnmap(queue, data, 0, 0, 0));
    OK(clEnqueueSVMFree(queue, 2, both, 0, 0, 0, 0, 0)); OK(clFinish(queue));
    for (int i = 0; i < 5; i++) clSVMFree(context, nodes[i]);
    clSVMFree(context, out);
    CHECK(clSVMAlloc(context, 0, 0, 0) == 0 && clSVMAlloc(context, 0, 64, 3) == 0);
    CHECK(clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 64, 0) == 0);
    clSVMFree(context, 0);
    IS(clSetKernelArgSVMPointer(twice, 1, 0), CL_INVALID_ARG_INDEX);
    OK(clReleaseKernel(list)); OK(clReleaseKernel(count)); OK(clReleaseKernel(twice));
}

#define FIND(name) name##_fn name = (name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name)
typedef void *(*clDeviceMemAllocINTEL_fn)(cl_context, cl_device_id, const cl_mem_properties_intel *, size_t, cl_uint, cl_int *);
typedef clDeviceMemAllocINTEL_fn clSharedMemAllocINTEL_fn;
typedef void *(*clHostMemAllocINTEL_fn)(cl_context, const cl_mem_properties_intel *, size_t, cl_uint, cl_int *);
typedef cl_int (*clSetKernelArgMemPointerINTEL_fn)(cl_kernel, cl_uint, const void *);
typedef cl_int (*clEnqueueMemcpyINTEL_fn)(cl_command_queue, cl_bool, void *, const void *, size_t, cl_uint, const cl_event *, cl_event *);
typedef cl_int (*clEnqueueMemFillINTEL_fn)(cl_command_queue, void *, const void *, size_t, size_t, cl_uint, const cl_event *, cl_event *);
typedef cl_int (*clMemFreeINTEL_fn)(cl_context, void *);
typedef clMemFreeINTEL_fn clMemBlockingFreeINTEL_fn;
typedef cl_int (*clGetMemAllocInfoINTEL_fn)(cl_context, const void *, cl_mem_info_intel, size_t, void *, size_t *);

static void unified_memory(void) {
    static char extensions[1 << 14];
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, 0));
    if (!strstr(extensions, "cl_intel_unified_shared_memory")) return;
    FIND(clDeviceMemAllocINTEL); FIND(clSharedMemAllocINTEL); FIND(clHostMemAllocINTEL); FIND(clSetKernelArgMemPointerINTEL);
    FIND(clEnqueueMemcpyINTEL); FIND(clEnqueueMemFillINTEL); FIND(clMemFreeINTEL); FIND(clMemBlockingFreeINTEL); FIND(clGetMemAllocInfoINTEL);
    cl_int err;
    int *own = clDeviceMemAllocINTEL(context, device, 0, 4096, 0, &err); OK(err);
    int *shared = clSharedMemAllocINTEL(context, device, 0, 4096, 64, &err); OK(err);
    int *host = clHostMemAllocINTEL(context, 0, 4096, 0, &err); OK(err);
    int *three[] = {own + 8, shared, host + 4}, seven = 7;
    OK(clEnqueueMemFillINTEL(queue, own, &seven, 4, 4096, 0, 0, 0)); OK(clFinish(queue));
    for (int i = 0; i < 1024; i++) { host[i] = i; shared[i] = 0; }
    cl_kernel count = kernel_of(program, "count"), gather = kernel_of(program, "gather");
    size_t eight = 8, three_items = 3;
    for (int i = 0; i < 3; i++) {
        OK(clSetKernelArgMemPointerINTEL(count, 0, three[i]));
        OK(clEnqueueNDRangeKernel(queue, count, 1, 0, &eight, 0, 0, 0, 0));
    }
    OK(clEnqueueMemcpyINTEL(queue, CL_TRUE, shared + 100, own, 64, 0, 0, 0)); OK(clFinish(queue));
    CHECK(shared[0] == 2 && shared[3] == 2 && shared[4] == 0 && shared[100] == 7 && shared[108] == 9 && host[3] == 3 && host[4] == 6 && host[8] == 8);
    /* A table of pointers to all three. */
    cl_ulong *table = (cl_ulong *)(shared + 200);
    for (int i = 0; i < 3; i++) table[i] = (cl_ulong)(size_t)three[i];
    OK(clSetKernelArgMemPointerINTEL(gather, 0, table)); OK(clSetKernelArgMemPointerINTEL(gather, 1, host + 500));
    cl_bool yes = CL_TRUE;
    OK(clSetKernelExecInfo(gather, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, sizeof yes, &yes));
    OK(clSetKernelExecInfo(gather, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, sizeof yes, &yes));
    OK(clSetKernelExecInfo(gather, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, sizeof yes, &yes));
    OK(clEnqueueNDRangeKernel(queue, gather, 1, 0, &three_items, 0, 0, 0, 0)); OK(clFinish(queue));
    CHECK(host[500] == 9 && host[501] == 3 && host[502] == 8);

    cl_unified_shared_memory_type_intel type;
    const struct { const void *at; cl_unified_shared_memory_type_intel is; } types[] = {
        {own + 5, CL_MEM_TYPE_DEVICE_INTEL}, {shared + 5, CL_MEM_TYPE_SHARED_INTEL}, {host, CL_MEM_TYPE_HOST_INTEL}, {&err, CL_MEM_TYPE_UNKNOWN_INTEL}};
    for (int i = 0; i < 4; i++) {
        OK(clGetMemAllocInfoINTEL(context, types[i].at, CL_MEM_ALLOC_TYPE_INTEL, sizeof type, &type, 0));
        CHECK(type == types[i].is);
    }
    size_t bytes; void *base;
    OK(clGetMemAllocInfoINTEL(context, own + 5, CL_MEM_ALLOC_SIZE_INTEL, sizeof bytes, &bytes, 0)); CHECK(bytes == 4096);
    OK(clGetMemAllocInfoINTEL(context, own + 5, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof base, &base, 0)); CHECK(base == own);
    OK(clMemFreeINTEL(context, own)); OK(clMemBlockingFreeINTEL(context, shared)); OK(clMemFreeINTEL(context, host)); OK(clMemFreeINTEL(context, 0));
    IS(clMemFreeINTEL(context, own), CL_INVALID_VALUE);
    OK(clReleaseKernel(count)); OK(clReleaseKernel(gather));
}

int main(void) {
    start(0);
    program = program_in(context, SOURCE, "-cl-std=CL2.0");
    shared_virtual_memory();
    unified_memory();
    OK(clReleaseProgram(program));
    return ended();
}
