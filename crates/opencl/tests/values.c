/* Structures as arguments, with and without padding; transfers of nothing; slices that are no whole number of rows apart.
   Prints what failed; exits with the number of failures. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

static int failures;
#define CHECK(what) do { if (!(what)) { failures++; printf("line %d: %s\n", __LINE__, #what); } } while (0)
#define OK(call) CHECK((call) == CL_SUCCESS)

#define STRUCTURES(V3, V4, U8, PACKED) \
    typedef struct { int a; float b; } unused_end; \
    typedef struct { long a; char b; } padded; \
    typedef struct { int n; int all[10]; } array; \
    typedef struct { padded a; char b[5]; unused_end c; } nested; \
    typedef union { int a; float b; long c; } either; \
    typedef struct PACKED { char a; int b; short c; } packed; \
    typedef struct { V3 a; int b; } vector; \
    typedef struct { char a; float b; short c[3]; V4 d; long e; } mixed; \
    typedef struct { U8 a, b, c; } bytes;
#define TEXT(...) #__VA_ARGS__
#define EXPANDED(...) TEXT(__VA_ARGS__)

STRUCTURES(cl_int3, cl_float4, cl_uchar, __attribute__((packed)))

static const char *SOURCE = EXPANDED(STRUCTURES(int3, float4, uchar, __attribute__((packed))))
    "__kernel void f(__global int *o, unused_end a, padded b, array c, nested d, either e, packed f, vector g, mixed h,"
    "                bytes i, int at) {\n"
    "  o[0] = a.a; o[1] = (int)b.a + b.b; o[2] = c.all[at] + c.n; o[3] = d.a.b + d.b[4] + (int)d.c.b; o[4] = e.a;\n"
    "  o[5] = f.a + f.b + f.c; o[6] = g.a.x + g.a.z * 10 + g.b * 100;\n"
    "  o[7] = h.a + (int)h.b + h.c[2] + (int)h.d.w + (int)(h.e >> 32); o[8] = i.a * 10000 + i.b * 100 + i.c; }\n";

int main(void) {
    cl_platform_id platform; cl_device_id device; cl_int err;
    OK(clGetPlatformIDs(1, &platform, 0)); OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, 0));
    cl_context context = clCreateContext(0, 1, &device, 0, 0, &err); OK(err);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, 0, &err); OK(err);
    cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, 0, &err); OK(err);
    OK(clBuildProgram(program, 0, 0, "", 0, 0));
    cl_kernel kernel = clCreateKernel(program, "f", &err); OK(err);
    int host[9] = {0};
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, 0, &err); OK(err);

    unused_end a = {7, 1.5f};
    padded b = {1000, -3};
    array c = {5, {0, 1, 2, 3, 4, 5, 6, 7, 8, 90}};
    nested d = {{1, 20}, {0, 0, 0, 0, 3}, {0, 400.0f}};
    either e = {.a = 77};
    packed f = {1, 200, 30};
    vector g = {{{1, 0, 3}}, 9};
    mixed h = {-1, 10.5f, {0, 0, 200}, {{0, 0, 0, 3000}}, 4L << 32};
    bytes i = {1, 2, 3};
    int at = 9;
    struct { size_t size; const void *value; } values[] = {
        {sizeof out, &out}, {sizeof a, &a}, {sizeof b, &b}, {sizeof c, &c}, {sizeof d, &d}, {sizeof e, &e},
        {sizeof f, &f}, {sizeof g, &g}, {sizeof h, &h}, {sizeof i, &i}, {sizeof at, &at}};
    for (unsigned n = 0; n < sizeof values / sizeof *values; n++) {
        OK(clSetKernelArg(kernel, n, values[n].size, values[n].value));
        if (n == 0) { CHECK(clSetKernelArg(kernel, n, values[n].size + 16, values[n].value) == CL_INVALID_ARG_SIZE); continue; }
        /* Of longer values the first bytes are taken, of shorter ones those that there are. */
        char longer[256]; memset(longer, 0x55, sizeof longer); memcpy(longer, values[n].value, values[n].size);
        OK(clSetKernelArg(kernel, n, values[n].size + 16, longer));
        OK(clSetKernelArg(kernel, n, 1, longer));
    }
    size_t one = 1;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &one, 0, 0, 0, 0));
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof host, host, 0, 0, 0));
    const int wanted[9] = {7, 997, 95, 423, 77, 231, 931, 3213, 10203};
    for (int n = 0; n < 9; n++) if (host[n] != wanted[n]) { failures++; printf("%d: %d\n", n, host[n]); }

    /* Arguments that are aligned to more than a register, behind those that are loaded first. */
    const char *wide = "kernel void wide(local long16 *l, global long *o, int n, long16 v, local int16 *m, char c, int16 w, int2 last) {\n"
        "  int i = get_local_id(0); l[i] = v + i; m[i] = w * c; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "  o[get_global_id(0)] = l[n - 1 - i].sf + m[n - 1 - i].s3 * 1000 + (long)last.y * 1000000 + get_enqueued_local_size(0) * 100000000L; }\n";
    cl_program wide_program = clCreateProgramWithSource(context, 1, &wide, 0, &err); OK(err);
    OK(clBuildProgram(wide_program, 0, 0, "-cl-std=CL2.0", 0, 0));
    cl_kernel wide_kernel = clCreateKernel(wide_program, "wide", &err); OK(err);
    cl_long16 longs = {{0}}; cl_int16 ints = {{0}}; cl_int2 last = {{1, 5}};
    cl_long sums[16];
    int eight = 8; char three = 3;
    for (int n = 0; n < 16; n++) { longs.s[n] = n; ints.s[n] = n; }
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof sums, 0, &err); OK(err);
    OK(clSetKernelArg(wide_kernel, 0, 8 * sizeof longs, 0)); OK(clSetKernelArg(wide_kernel, 1, sizeof to, &to));
    OK(clSetKernelArg(wide_kernel, 2, sizeof eight, &eight)); OK(clSetKernelArg(wide_kernel, 3, sizeof longs, &longs));
    OK(clSetKernelArg(wide_kernel, 4, 8 * sizeof ints, 0)); OK(clSetKernelArg(wide_kernel, 5, sizeof three, &three));
    OK(clSetKernelArg(wide_kernel, 6, sizeof ints, &ints)); OK(clSetKernelArg(wide_kernel, 7, sizeof last, &last));
    size_t sixteen = 16, eights = 8;
    OK(clEnqueueNDRangeKernel(queue, wide_kernel, 1, 0, &sixteen, &eights, 0, 0, 0));
    OK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof sums, sums, 0, 0, 0));
    for (int n = 0; n < 16; n++) CHECK(sums[n] == 15 + (7 - n % 8) + 9000 + 5000000 + 800000000);
    OK(clReleaseMemObject(to)); OK(clReleaseKernel(wide_kernel)); OK(clReleaseProgram(wide_program));

    /* Nothing is moved, up to the end of a buffer and not beyond. */
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 0, host, 0, 0, 0));
    OK(clEnqueueWriteBuffer(queue, out, CL_TRUE, sizeof host, 0, host, 0, 0, 0));
    OK(clEnqueueCopyBuffer(queue, out, out, 0, 0, 0, 0, 0, 0)); OK(clFinish(queue));
    CHECK(clEnqueueReadBuffer(queue, out, CL_TRUE, sizeof host + 1, 0, host, 0, 0, 0) == CL_INVALID_VALUE);
    CHECK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 0, 0, 0, 0, 0) == CL_INVALID_VALUE);

    cl_bool images; OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, 0));
    if (images) {
        cl_image_format format = {CL_R, CL_UNSIGNED_INT8};
        cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 4, .image_height = 2, .image_array_size = 3};
        unsigned char pixels[24], part[40] = {0};
        for (unsigned n = 0; n < sizeof pixels; n++) pixels[n] = n;
        cl_mem image = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, pixels, &err); OK(err);
        size_t origin[3] = {1, 0, 1}, region[3] = {2, 2, 2};
        OK(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 4, 11, part, 0, 0, 0));
        CHECK(part[0] == 9 && part[1] == 10 && part[4] == 13 && part[11] == 17 && part[15] == 21 && part[8] == 0);
        CHECK(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 4, 7, part, 0, 0, 0) == CL_INVALID_VALUE);
        OK(clReleaseMemObject(image));
    }
    OK(clReleaseMemObject(out)); OK(clReleaseKernel(kernel)); OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(queue)); OK(clReleaseContext(context));
    printf("%d failures\n", failures);
    return failures > 100 ? 100 : failures;
}
