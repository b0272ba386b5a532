/* Parts of buffers: sub-buffers, maps, rectangles, fills, copies that overlap, memory of the host at any address. Prints what
   failed; exits with the number of failures. */
#include "device.h"

static unsigned char *host, *out, *wanted;
static size_t step, bytes;

static void same(int line, const char *what, cl_mem m) {
    memset(out, 0xee, bytes);
    OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, bytes, out, 0, 0, 0));
    for (size_t i = 0; i < bytes; i++)
        if (out[i] != wanted[i]) {
            failures++;
            printf("line %d: %s: byte %zu is %d, not %d\n", line, what, i, out[i], wanted[i]);
            return;
        }
}
#define SAME(what) same(__LINE__, what, all)

int main(void) {
    start(0);
    cl_int err;
    cl_uint bits;
    OK(clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, 0));
    step = bits / 8; bytes = step * 64;
    CHECK(bits >= 1024);
    host = malloc(bytes); out = malloc(bytes); wanted = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) wanted[i] = host[i] = i * 7 + (i >> 8);
    cl_program program = program_in(context,
        "kernel void mix(global uchar *a, global const ushort *b) { size_t i = get_global_id(0); a[i] += (uchar)(b[i] * 3 + i); }\n", "");
    cl_kernel mix = kernel_of(program, "mix");
    cl_mem all = buffer(bytes, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, host);

    /* Sub-buffers of odd sizes, and a kernel that goes from one to the other. */
    cl_buffer_region odd = {step * 2, step + 37}, next = {step * 4, step * 2}, across = {step + 1, 16}, past = {bytes - step, step + 1},
                     empty = {0, 0};
    cl_mem a = clCreateSubBuffer(all, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &odd, &err); OK(err);
    cl_mem b = clCreateSubBuffer(all, 0, CL_BUFFER_CREATE_TYPE_REGION, &next, &err); OK(err);
    IS((clCreateSubBuffer(all, 0, CL_BUFFER_CREATE_TYPE_REGION, &across, &err), err), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    IS((clCreateSubBuffer(all, 0, CL_BUFFER_CREATE_TYPE_REGION, &past, &err), err), CL_INVALID_VALUE);
    IS((clCreateSubBuffer(all, 0, CL_BUFFER_CREATE_TYPE_REGION, &empty, &err), err), CL_INVALID_BUFFER_SIZE);
    IS((clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &next, &err), err), CL_INVALID_MEM_OBJECT);
    OK(clSetKernelArg(mix, 0, sizeof a, &a)); OK(clSetKernelArg(mix, 1, sizeof b, &b));
    size_t global = step, one = 1;
    OK(clEnqueueNDRangeKernel(queue, mix, 1, 0, &global, &one, 0, 0, 0));
    for (size_t i = 0; i < step; i++) {
        unsigned short at;
        memcpy(&at, host + step * 4 + i * 2, 2);
        wanted[step * 2 + i] += (unsigned char)(at * 3 + i);
    }
    SAME("a kernel on sub-buffers");

    /* Maps with an offset: what is written there arrives, and nothing else changes. */
    unsigned char *p = clEnqueueMapBuffer(queue, all, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 13, 100, 0, 0, 0, &err); OK(err);
    CHECK(memcmp(p, wanted + 13, 100) == 0);
    memset(p, 0xab, 100); memset(wanted + 13, 0xab, 100);
    unsigned char *q = clEnqueueMapBuffer(queue, all, CL_TRUE, CL_MAP_READ, 500, 10, 0, 0, 0, &err); OK(err);
    cl_uint maps;
    OK(clGetMemObjectInfo(all, CL_MEM_MAP_COUNT, sizeof maps, &maps, 0)); CHECK(maps == 2);
    OK(clEnqueueUnmapMemObject(queue, all, p, 0, 0, 0)); OK(clEnqueueUnmapMemObject(queue, all, q, 0, 0, 0)); OK(clFinish(queue));
    IS(clEnqueueUnmapMemObject(queue, all, p, 0, 0, 0), CL_INVALID_VALUE);
    p = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 5, 11, 0, 0, 0, &err); OK(err);
    memset(p, 0x11, 11); memset(wanted + step * 2 + 5, 0x11, 11);
    OK(clEnqueueUnmapMemObject(queue, a, p, 0, 0, 0));
    SAME("maps");
    cl_event user = clCreateUserEvent(context, &err), mapped; OK(err);
    p = clEnqueueMapBuffer(queue, all, CL_FALSE, CL_MAP_WRITE, bytes - 9, 9, 1, &user, &mapped, &err); OK(err);
    OK(clSetUserEventStatus(user, CL_COMPLETE)); OK(clWaitForEvents(1, &mapped));
    memset(p, 0x22, 9); memset(wanted + bytes - 9, 0x22, 9);
    OK(clEnqueueUnmapMemObject(queue, all, p, 0, 0, 0));
    SAME("a map that waits");
    OK(clReleaseEvent(user)); OK(clReleaseEvent(mapped));
    IS((clEnqueueMapBuffer(queue, all, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_READ, 0, 4, 0, 0, 0, &err), err), CL_INVALID_VALUE);
    IS((clEnqueueMapBuffer(queue, all, CL_TRUE, CL_MAP_READ, bytes - 3, 4, 0, 0, 0, &err), err), CL_INVALID_VALUE);

    /* Rectangles with pitches, in both directions and within the buffer. */
    size_t in_buffer[3] = {3, 2, 1}, in_host[3] = {1, 1, 0}, region[3] = {5, 4, 2};
    unsigned char part[200];
    memset(part, 0, sizeof part);
    OK(clEnqueueReadBufferRect(queue, all, CL_TRUE, in_buffer, in_host, region, 17, 17 * 9, 11, 11 * 7, part, 0, 0, 0));
    for (size_t i = 0; i < sizeof part; i++) {
        size_t x = i % 11 - 1, y = i % 77 / 11 - 1, z = i / 77;
        unsigned char is = x < 5 && y < 4 && z < 2 ? wanted[(z + 1) * 153 + (y + 2) * 17 + x + 3] : 0;
        if (part[i] != is) { failures++; printf("rectangle: byte %zu\n", i); break; }
    }
    for (size_t i = 0; i < sizeof part; i++) part[i] = i;
    OK(clEnqueueWriteBufferRect(queue, all, CL_TRUE, in_buffer, in_host, region, 17, 17 * 9, 11, 11 * 7, part, 0, 0, 0));
    for (size_t z = 0; z < 2; z++) for (size_t y = 0; y < 4; y++) for (size_t x = 0; x < 5; x++)
        wanted[(z + 1) * 153 + (y + 2) * 17 + x + 3] = z * 77 + (y + 1) * 11 + x + 1;
    SAME("a rectangle that is written");
    size_t to[3] = {7, 20, 0};
    OK(clEnqueueCopyBufferRect(queue, all, all, in_buffer, to, region, 17, 17 * 40, 17, 17 * 40, 0, 0, 0));
    size_t start_of[3] = {0, 0, 0}, lower[3] = {0, 0, 4}, some[3] = {4, 2, 2};
    IS(clEnqueueCopyBufferRect(queue, all, all, start_of, lower, some, 8, 16, 16, 32, 0, 0, 0), CL_INVALID_VALUE);
    for (size_t z = 0; z < 2; z++) for (size_t y = 0; y < 4; y++) for (size_t x = 0; x < 5; x++)
        out[z * 20 + y * 5 + x] = wanted[(z + 1) * 680 + (y + 2) * 17 + x + 3];
    for (size_t z = 0; z < 2; z++) for (size_t y = 0; y < 4; y++) for (size_t x = 0; x < 5; x++)
        wanted[z * 680 + (y + 20) * 17 + x + 7] = out[z * 20 + y * 5 + x];
    SAME("a rectangle that is copied");
    IS(clEnqueueReadBufferRect(queue, all, CL_TRUE, in_buffer, in_host, region, 4, 0, 0, 0, part, 0, 0, 0), CL_INVALID_VALUE);

    cl_ushort pattern = 0x1234;
    OK(clEnqueueFillBuffer(queue, a, &pattern, 2, 4, 20, 0, 0, 0));
    for (size_t i = 0; i < 20; i++) wanted[step * 2 + 4 + i] = i % 2 ? 0x12 : 0x34;
    OK(clEnqueueCopyBuffer(queue, a, all, 0, 0, 64, 0, 0, 0));
    memcpy(wanted, wanted + step * 2, 64);
    SAME("fill and copy");
    IS(clEnqueueFillBuffer(queue, a, &pattern, 2, 3, 20, 0, 0, 0), CL_INVALID_VALUE);
    IS(clEnqueueFillBuffer(queue, a, &pattern, 3, 3, 21, 0, 0, 0), CL_INVALID_VALUE);
    IS(clEnqueueCopyBuffer(queue, all, all, 0, 10, 64, 0, 0, 0), CL_MEM_COPY_OVERLAP);
    IS(clEnqueueCopyBuffer(queue, a, all, 0, step * 2 + 10, 64, 0, 0, 0), CL_MEM_COPY_OVERLAP);

    /* Memory of the host at an odd address. */
    unsigned char own[1001];
    for (size_t i = 0; i < sizeof own; i++) own[i] = i * 5;
    cl_mem in_place = buffer(999, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE, own + 1);
    OK(clSetKernelArg(mix, 0, sizeof in_place, &in_place)); OK(clSetKernelArg(mix, 1, sizeof all, &all));
    global = 999;
    OK(clEnqueueNDRangeKernel(queue, mix, 1, 0, &global, 0, 0, 0, 0));
    p = clEnqueueMapBuffer(queue, in_place, CL_TRUE, CL_MAP_READ, 10, 989, 0, 0, 0, &err); OK(err);
    CHECK(p == own + 11);
    for (size_t i = 10; i < 999; i++) {
        unsigned short at;
        memcpy(&at, wanted + i * 2, 2);
        if (own[i + 1] != (unsigned char)((i + 1) * 5 + at * 3 + i)) { failures++; printf("in place: byte %zu\n", i); break; }
    }
    CHECK(own[0] == 0 && own[1000] == (unsigned char)5000);
    OK(clEnqueueUnmapMemObject(queue, in_place, p, 0, 0, 0)); OK(clFinish(queue));

    IS((clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4, 0, &err), err), CL_INVALID_HOST_PTR);
    IS((clCreateBuffer(context, 0, 4, host, &err), err), CL_INVALID_HOST_PTR);
    IS((clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, 0, &err), err), CL_INVALID_VALUE);
    IS((clCreateBuffer(context, 0, 0, 0, &err), err), CL_INVALID_BUFFER_SIZE);
    cl_mem secret = buffer(64, CL_MEM_HOST_WRITE_ONLY, 0);
    IS(clEnqueueReadBuffer(queue, secret, CL_TRUE, 0, 4, out, 0, 0, 0), CL_INVALID_OPERATION);
    IS((clEnqueueMapBuffer(queue, secret, CL_TRUE, CL_MAP_READ, 0, 4, 0, 0, 0, &err), err), CL_INVALID_OPERATION);

    cl_mem these[] = {a, b, all, in_place, secret};
    for (int i = 0; i < 5; i++) OK(clReleaseMemObject(these[i]));
    OK(clReleaseKernel(mix)); OK(clReleaseProgram(program));
    free(host); free(out); free(wanted);
    return ended();
}
