/* Images of every format that the device has, read and written by kernels; volumes, arrays, images of buffers, maps, copies and
   fills. Prints what failed; exits with the number of failures. */
#include "device.h"
#include <math.h>

enum { WIDTH = 7, HEIGHT = 5, PIXELS = WIDTH * HEIGHT };

static const char *SOURCE =
    "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "#define AT ((int)get_global_id(1) * (int)get_global_size(0) + (int)get_global_id(0))\n"
    "#define PLACE (int2)(get_global_id(0), get_global_id(1))\n"
    "kernel void read_f(read_only image2d_t i, global float4 *o) { o[AT] = read_imagef(i, s, PLACE - 1); }\n"
    "kernel void read_i(read_only image2d_t i, global int4 *o) { o[AT] = read_imagei(i, s, PLACE - 1); }\n"
    "kernel void read_u(read_only image2d_t i, global uint4 *o) { o[AT] = read_imageui(i, s, PLACE - 1); }\n"
    "kernel void write_f(write_only image2d_t i, global const float4 *o) { write_imagef(i, PLACE, o[AT]); }\n"
    "kernel void write_i(write_only image2d_t i, global const int4 *o) { write_imagei(i, PLACE, o[AT]); }\n"
    "kernel void write_u(write_only image2d_t i, global const uint4 *o) { write_imageui(i, PLACE, o[AT]); }\n"
    "kernel void volume(read_only image3d_t i, sampler_t q, global float *o) {\n"
    "  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "  o[(z * 4 + y) * 4 + x] = read_imagef(i, q, (float4)(0.5f + x * 0.75f, 0.5f + y * 0.5f, 0.5f + z * 0.25f, 0)).x; }\n"
    "kernel void layers(read_only image2d_array_t a, read_only image1d_array_t b, read_only image1d_buffer_t c, global float4 *o) {\n"
    "  int l = get_global_id(0); o[l] = read_imagef(a, s, (int4)(1, 2, l, 0));\n"
    "  o[8 + l] = convert_float4(read_imageui(b, s, (int2)(3, l))); o[16 + l] = convert_float4(read_imagei(c, l * 3)); }\n"
    "kernel void sizes(read_only image2d_t a, read_only image3d_t b, read_only image2d_array_t c, global int *o) {\n"
    "  o[0] = get_image_width(a); o[1] = get_image_height(a); o[2] = get_image_channel_data_type(a) == CLK_UNORM_INT8;\n"
    "  o[3] = get_image_channel_order(a) == CLK_RGBA; o[4] = get_image_depth(b); o[5] = get_image_array_size(c); }\n";

static cl_program program;
static cl_mem values;

static int size_of(cl_channel_type type) {
    switch (type) {
    case CL_SNORM_INT8: case CL_UNORM_INT8: case CL_SIGNED_INT8: case CL_UNSIGNED_INT8: return 1;
    case CL_SNORM_INT16: case CL_UNORM_INT16: case CL_SIGNED_INT16: case CL_UNSIGNED_INT16: case CL_HALF_FLOAT: return 2;
    case CL_SIGNED_INT32: case CL_UNSIGNED_INT32: case CL_FLOAT: return 4;
    default: return 0;
    }
}

/* Where each channel of a pixel goes: 0 to 3 for red to alpha; 4: to red, green and blue; 5: to all. Gives how many there are. */
static int channels_of(cl_channel_order order, const int **to) {
    static const int R[] = {0}, A[] = {3}, RG[] = {0, 1}, RA[] = {0, 3}, RGBA[] = {0, 1, 2, 3}, BGRA[] = {2, 1, 0, 3}, ARGB[] = {3, 0, 1, 2},
                     LUMINANCE[] = {4}, INTENSITY[] = {5};
    switch (order) {
    case CL_R: *to = R; return 1;
    case CL_A: *to = A; return 1;
    case CL_RG: *to = RG; return 2;
    case CL_RA: *to = RA; return 2;
    case CL_RGBA: *to = RGBA; return 4;
    case CL_BGRA: *to = BGRA; return 4;
    case CL_ARGB: *to = ARGB; return 4;
    case CL_LUMINANCE: *to = LUMINANCE; return 1;
    case CL_INTENSITY: *to = INTENSITY; return 1;
    default: return 0;
    }
}

static double of_half(unsigned short h) {
    int exponent = h >> 10 & 31, part = h & 1023;
    double value = exponent ? ldexp(1024 + part, exponent - 25) : ldexp(part, -24);
    return h >> 15 ? -value : value;
}

/* A channel as the specification converts it. */
static double channel(cl_channel_type type, const void *at) {
    signed char c; short s; int i; unsigned u; float f; unsigned short us;
    memcpy(&c, at, 1); memcpy(&s, at, size_of(type) > 1 ? 2 : 1); us = s;
    switch (type) {
    case CL_SNORM_INT8: return fmax(c / 127.0, -1);
    case CL_UNORM_INT8: return (unsigned char)c / 255.0;
    case CL_SIGNED_INT8: return c;
    case CL_UNSIGNED_INT8: return (unsigned char)c;
    case CL_SNORM_INT16: return fmax(s / 32767.0, -1);
    case CL_UNORM_INT16: return us / 65535.0;
    case CL_SIGNED_INT16: return s;
    case CL_UNSIGNED_INT16: return us;
    case CL_HALF_FLOAT: return of_half(us);
    case CL_SIGNED_INT32: memcpy(&i, at, 4); return i;
    case CL_UNSIGNED_INT32: memcpy(&u, at, 4); return u;
    default: memcpy(&f, at, 4); return f;
    }
}

static void pixel(const cl_image_format *format, const char *at, double to[4]) {
    const int *where;
    int channels = channels_of(format->image_channel_order, &where), size = size_of(format->image_channel_data_type);
    to[0] = to[1] = to[2] = 0; to[3] = 1;
    for (int c = 0; c < channels; c++) {
        double value = channel(format->image_channel_data_type, at + c * size);
        if (where[c] < 4) to[where[c]] = value;
        else for (int all = 0; all < where[c] - 1; all++) to[all] = value;
    }
}

static void run(const char *name, cl_mem image, size_t width, size_t height) {
    cl_kernel kernel = kernel_of(program, name);
    size_t global[2] = {width, height};
    OK(clSetKernelArg(kernel, 0, sizeof image, &image)); OK(clSetKernelArg(kernel, 1, sizeof values, &values));
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, 0, global, 0, 0, 0, 0));
    OK(clReleaseKernel(kernel));
}

static void one_format(const cl_image_format *format) {
    static char pixels[PIXELS * 16], back[PIXELS * 16];
    static union { float f; int i; unsigned u; } got[(WIDTH + 2) * (HEIGHT + 2)][4], given[PIXELS][4];
    const int *to;
    cl_channel_type type = format->image_channel_data_type;
    cl_channel_order order = format->image_channel_order;
    int size = size_of(type), channels = channels_of(order, &to), bytes = size * channels, said = failures;
    if (!bytes) return;
    char kind = type >= CL_SIGNED_INT8 && type <= CL_SIGNED_INT32 ? 'i' : type >= CL_UNSIGNED_INT8 && type <= CL_UNSIGNED_INT32 ? 'u' : 'f';
    char reads[] = "read_?", writes[] = "write_?";
    reads[5] = writes[6] = kind;
    for (int i = 0; i < PIXELS * channels; i++) {
        char *at = pixels + i * size;
        if (type == CL_FLOAT) { float f = i * 0.37f - 3; memcpy(at, &f, 4); }
        else if (type == CL_HALF_FLOAT) { short h = 0x3000 + i * 13; memcpy(at, &h, 2); }
        else for (int j = 0; j < size; j++) at[j] = (i * 4 + j) * 37 + (i >> 1);
    }
    cl_int err;
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT};
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, format, &desc, pixels, &err); OK(err);
    run(reads, image, WIDTH + 2, HEIGHT + 2);
    OK(clEnqueueReadBuffer(queue, values, CL_TRUE, 0, sizeof got, got, 0, 0, 0));
    int has_alpha = order != CL_R && order != CL_RG && order != CL_LUMINANCE;
    for (int y = -1; y <= HEIGHT; y++) for (int x = -1; x <= WIDTH; x++) {
        double wanted[4] = {0, 0, 0, !has_alpha};
        if (x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT) pixel(format, pixels + (y * WIDTH + x) * bytes, wanted);
        for (int c = 0; c < 4; c++) {
            int at = (y + 1) * (WIDTH + 2) + x + 1;
            double is = kind == 'i' ? (double)got[at][c].i : kind == 'u' ? (double)got[at][c].u : got[at][c].f;
            if (fabs(is - wanted[c]) > (kind == 'f' ? 1e-6 * fmax(1, fabs(wanted[c])) : 0) && failures++ - said < 3)
                printf("%x %x: (%d, %d).%d is %g, not %g\n", order, type, x, y, c, is, wanted[c]);
        }
    }
    /* Written values are clamped to what the type can hold. */
    for (int i = 0; i < PIXELS; i++) for (int c = 0; c < 4; c++)
        if (kind == 'f') given[i][c].f = (i - 10) * 0.11f * (c + 1) - c;
        else if (kind == 'i') given[i][c].i = (i - 17) * (c == 1 ? 9000000 : 11) * (c + 1);
        else given[i][c].u = i * (c == 1 ? 90000000u : 21u) * (c + 1);
    OK(clEnqueueWriteBuffer(queue, values, CL_TRUE, 0, sizeof given, given, 0, 0, 0));
    run(writes, image, WIDTH, HEIGHT);
    size_t zero[3] = {0, 0, 0}, region[3] = {WIDTH, HEIGHT, 1};
    OK(clEnqueueReadImage(queue, image, CL_TRUE, zero, region, 0, 0, back, 0, 0, 0));
    for (int i = 0; i < PIXELS; i++) for (int c = 0; c < channels; c++) {
        int from = to[c] < 4 ? to[c] : 0;
        double wanted = kind == 'i' ? (double)given[i][from].i : kind == 'u' ? (double)given[i][from].u : given[i][from].f, near = 0;
        double is = channel(type, back + i * bytes + c * size), most = ldexp(1, size * 8 - (kind == 'i')) - 1;
        switch (type) {
        case CL_UNORM_INT8: case CL_UNORM_INT16: wanted = fmin(fmax(wanted, 0), 1); near = 0.6 / most; break;
        case CL_SNORM_INT8: case CL_SNORM_INT16: wanted = fmin(fmax(wanted, -1), 1); near = 1.2 / most; break;
        case CL_HALF_FLOAT: near = fabs(wanted) / 1024; break;
        case CL_FLOAT: break;
        default: wanted = fmin(fmax(wanted, kind == 'i' ? -most - 1 : 0), most);
        }
        if (fabs(is - wanted) > near && failures++ - said < 6)
            printf("%x %x: channel %d of pixel %d was written as %g, not %g\n", order, type, c, i, is, wanted);
    }
    OK(clReleaseMemObject(image));
}

int main(void) {
    start(0);
    cl_bool images;
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, 0));
    if (!images) return ended();
    program = program_in(context, SOURCE, "");
    values = buffer(4096, CL_MEM_READ_WRITE, 0);
    cl_image_format formats[256];
    cl_uint count;
    OK(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 256, formats, &count));
    CHECK(count >= 20 && count <= 256);
    for (cl_uint i = 0; i < count; i++) one_format(&formats[i]);

    /* Between the texels of a volume of planes, linear filtering is exact. */
    static float voxels[4 * 3 * 5 * 4];
    for (int i = 0; i < 60; i++) voxels[i] = i % 4 + i / 4 % 3 * 10 + i / 12 * 100;
    cl_int err;
    cl_image_format gray = {CL_R, CL_FLOAT}, wide = {CL_RGBA, CL_FLOAT}, pairs = {CL_RG, CL_UNSIGNED_INT16}, bytes = {CL_RGBA, CL_SIGNED_INT8},
                    color = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 3, .image_depth = 5};
    cl_mem volume = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &gray, &desc, voxels, &err); OK(err);
    cl_sampler_properties smooth[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_CLAMP_TO_EDGE,
                                      CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
    cl_sampler linear = clCreateSamplerWithProperties(context, smooth, &err); OK(err);
    cl_kernel kernel = kernel_of(program, "volume");
    OK(clSetKernelArg(kernel, 0, sizeof volume, &volume)); OK(clSetKernelArg(kernel, 1, sizeof linear, &linear));
    OK(clSetKernelArg(kernel, 2, sizeof values, &values));
    size_t box[3] = {4, 4, 16};
    float got[256];
    OK(clEnqueueNDRangeKernel(queue, kernel, 3, 0, box, 0, 0, 0, 0));
    OK(clEnqueueReadBuffer(queue, values, CL_TRUE, 0, sizeof got, got, 0, 0, 0));
    int wrong = 0;
    for (int i = 0; i < 256; i++)
        wrong += fabs(got[i] - (i % 4 * 0.75 + i / 4 % 4 * 5 + i / 16 * 25)) > 1e-4;
    CHECK(wrong == 0);
    OK(clReleaseKernel(kernel)); OK(clReleaseSampler(linear));

    /* Layers: those outside are the last one. Rows of the host have padding. */
    for (int i = 0; i < 240; i++) voxels[i] = i;
    desc = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 3, .image_height = 3, .image_array_size = 5,
                           .image_row_pitch = 64, .image_slice_pitch = 192};
    cl_mem layers = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &wide, &desc, voxels, &err); OK(err);
    unsigned short shorts[2 * 9 * 6];
    for (int i = 0; i < 108; i++) shorts[i] = i * 601;
    desc = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 9, .image_array_size = 6};
    cl_mem rows = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &pairs, &desc, shorts, &err); OK(err);
    signed char chars[100];
    for (int i = 0; i < 100; i++) chars[i] = i * 5;
    cl_mem of = buffer(sizeof chars, CL_MEM_COPY_HOST_PTR, chars);
    desc = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 25, .buffer = of};
    cl_mem line = clCreateImage(context, 0, &bytes, &desc, 0, &err); OK(err);
    kernel = kernel_of(program, "layers");
    cl_mem all[4] = {layers, rows, line, values};
    for (int i = 0; i < 4; i++) OK(clSetKernelArg(kernel, i, sizeof *all, &all[i]));
    size_t seven = 7;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &seven, 0, 0, 0, 0));
    OK(clEnqueueReadBuffer(queue, values, CL_TRUE, 0, sizeof got, got, 0, 0, 0));
    for (int l = 0; l < 7; l++) {
        int in_volume = l < 5 ? l : 4, in_rows = l < 6 ? l : 5;
        for (int c = 0; c < 4; c++) {
            CHECK(got[l * 4 + c] == in_volume * 48 + 2 * 16 + 4 + c);
            CHECK(got[32 + l * 4 + c] == (c < 2 ? shorts[(in_rows * 9 + 3) * 2 + c] : c == 3));
            CHECK(got[64 + l * 4 + c] == chars[l * 12 + c]);
        }
    }
    OK(clReleaseKernel(kernel));

    /* Maps of a part; fills, copies to a buffer and back. */
    unsigned char pixels[36 * 4], part[36 * 4];
    for (int i = 0; i < 144; i++) pixels[i] = i * 3;
    desc = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 6, .image_height = 6};
    cl_mem flat = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &color, &desc, pixels, &err); OK(err);
    int sizes[6];
    kernel = kernel_of(program, "sizes");
    cl_mem asked[4] = {flat, volume, layers, values};
    for (int i = 0; i < 4; i++) OK(clSetKernelArg(kernel, i, sizeof *asked, &asked[i]));
    size_t one = 1;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &one, 0, 0, 0, 0));
    OK(clEnqueueReadBuffer(queue, values, CL_TRUE, 0, sizeof sizes, sizes, 0, 0, 0));
    CHECK(sizes[0] == 6 && sizes[1] == 6 && sizes[2] && sizes[3] && sizes[4] == 5 && sizes[5] == 5);
    size_t origin[3] = {1, 2, 0}, region[3] = {3, 2, 1}, whole[3] = {6, 6, 1}, zero[3] = {0, 0, 0}, pitch, slice;
    unsigned char *map = clEnqueueMapImage(queue, flat, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin, region, &pitch, &slice, 0, 0, 0, &err); OK(err);
    CHECK(pitch >= 12 && memcmp(map, pixels + 52, 12) == 0 && memcmp(map + pitch, pixels + 76, 12) == 0);
    map[pitch] = pixels[76] = 77;
    OK(clEnqueueUnmapMemObject(queue, flat, map, 0, 0, 0));
    float orange[4] = {1, 0.6f, 0, 0.2f};
    OK(clEnqueueFillImage(queue, flat, orange, origin, region, 0, 0, 0));
    for (int y = 2; y < 4; y++) for (int x = 1; x < 4; x++) memcpy(pixels + (y * 6 + x) * 4, "\xff\x99\x00\x33", 4);
    OK(clEnqueueReadImage(queue, flat, CL_TRUE, zero, whole, 0, 0, part, 0, 0, 0));
    CHECK(memcmp(part, pixels, sizeof pixels) == 0);
    OK(clEnqueueCopyImageToBuffer(queue, flat, values, origin, region, 8, 0, 0, 0));
    OK(clEnqueueCopyBufferToImage(queue, values, flat, 8, zero, region, 0, 0, 0));
    OK(clEnqueueReadImage(queue, flat, CL_TRUE, zero, region, 40, 0, part, 0, 0, 0));
    CHECK(memcmp(part, pixels + 52, 12) == 0 && memcmp(part + 40, pixels + 76, 12) == 0);
    region[0] = 7;
    IS(clEnqueueReadImage(queue, flat, CL_TRUE, zero, region, 0, 0, part, 0, 0, 0), CL_INVALID_VALUE);
    desc.image_row_pitch = 64;
    IS((clCreateImage(context, 0, &color, &desc, 0, &err), err), CL_INVALID_IMAGE_DESCRIPTOR);
    cl_image_format no_type = {CL_RGBA, 1}, no_order = {1, CL_UNORM_INT8};
    IS((clCreateImage(context, 0, &no_type, &desc, 0, &err), err), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    IS((clCreateImage(context, 0, &no_order, &desc, 0, &err), err), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    desc.image_row_pitch = 0; desc.image_width = 0;
    IS((clCreateImage(context, 0, &color, &desc, 0, &err), err), CL_INVALID_IMAGE_DESCRIPTOR);
    cl_image_format unknown = {CL_RGB, CL_FLOAT};
    desc.image_width = 4;
    IS((clCreateImage(context, 0, &unknown, &desc, 0, &err), err), CL_IMAGE_FORMAT_NOT_SUPPORTED);

    cl_mem these[] = {volume, layers, rows, line, of, flat, values};
    for (int i = 0; i < 7; i++) OK(clReleaseMemObject(these[i]));
    OK(clReleaseKernel(kernel)); OK(clReleaseProgram(program));
    return ended();
}
