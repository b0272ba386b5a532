/* Kernels of sixty arguments, local memory of odd sizes, clones, all kernels of a program, variables that stay from launch to
   launch, binaries, options, printf, and what is wrong. Prints what failed; exits with the number of failures. */
#include "device.h"

enum { ARGUMENTS = 60 };

/* A kernel of sixty arguments of ten types, each with a weight of its own. */
static void sixty(void) {
    static const char *types[] = {"int", "global int *", "float", "char", "short4", "long", "uchar2", "constant int *", "ulong", "ushort"};
    static const char *terms[] = {"a%d", "a%d[%d]", "(int)a%d", "a%d", "a%d.x * a%d.w", "(int)(a%d >> 3)", "a%d.y", "a%d[%d]", "(int)(a%d >> 32)", "a%d"};
    static char source[1 << 14];
    char *at = source;
    at += sprintf(at, "kernel void f(");
    for (int i = 0; i < ARGUMENTS; i++) at += sprintf(at, "%s a%d, ", types[i % 10], i);
    at += sprintf(at, "global int *out) { int s = 0;");
    for (int i = 0; i < ARGUMENTS; i++) {
        at += sprintf(at, " s += (");
        at += sprintf(at, terms[i % 10], i, i);
        at += sprintf(at, ") * %d;", i + 1);
    }
    sprintf(at, " out[get_global_id(0)] = s + get_global_id(0); }");
    cl_program program = program_in(context, source, "");
    cl_kernel kernel = kernel_of(program, "f");
    int numbers[64], wanted = 0, out[100];
    for (int i = 0; i < 64; i++) numbers[i] = i * i;
    cl_mem m = buffer(sizeof numbers, CL_MEM_COPY_HOST_PTR, numbers), to = buffer(sizeof out, CL_MEM_READ_WRITE, 0);
    cl_uint count;
    OK(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, 0)); CHECK(count == ARGUMENTS + 1);
    for (int i = 0; i < ARGUMENTS; i++) {
        int whole = i * 3, value = 0;
        float real = i + 0.5f;
        signed char small = i - 50;
        cl_short4 shorts = {{i, 1, 2, -i}};
        long large = i * -9999999L;
        cl_uchar2 bytes = {{1, i + 100}};
        unsigned long huge = (unsigned long)i << 32;
        unsigned short tall = i * 1000;
        size_t size = 0;
        const void *given = 0;
        switch (i % 10) {
        case 0: given = &whole; size = 4; value = whole; break;
        case 1: case 7: given = &m; size = sizeof m; value = i * i; break;
        case 2: given = &real; size = 4; value = i; break;
        case 3: given = &small; size = 1; value = small; break;
        case 4: given = &shorts; size = 8; value = -i * i; break;
        case 5: given = &large; size = 8; value = (int)(large >> 3); break;
        case 6: given = &bytes; size = 2; value = i + 100; break;
        case 8: given = &huge; size = 8; value = i; break;
        default: given = &tall; size = 2; value = tall;
        }
        OK(clSetKernelArg(kernel, i, size, given));
        if (i % 10 == 1 || i % 10 == 7) IS(clSetKernelArg(kernel, i, size + 1, given), CL_INVALID_ARG_SIZE);
        wanted = (int)((unsigned)wanted + (unsigned)value * (i + 1u));
    }
    OK(clSetKernelArg(kernel, ARGUMENTS, sizeof to, &to));
    IS(clSetKernelArg(kernel, ARGUMENTS + 1, sizeof to, &to), CL_INVALID_ARG_INDEX);
    size_t global = 100;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &global, 0, 0, 0, 0));
    OK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, 0, 0));
    for (int i = 0; i < 100; i++) if (out[i] != wanted + i) { failures++; printf("sixty: %d is %d, not %d\n", i, out[i], wanted + i); break; }
    OK(clReleaseKernel(kernel)); OK(clReleaseProgram(program)); OK(clReleaseMemObject(m)); OK(clReleaseMemObject(to));
}

static const char *SOURCE =
    "global int counter = 5; global int numbers[4] = {1, 2, 3, 4}; global int *middle = &numbers[2]; constant int table[5] = {1, 2, 3, 5, 8};\n"
    "constant char word[6] = \"word\\0\";\n"
    "kernel void stay(global int *o) { o[0] = counter; counter += 10; o[1] = numbers[1]++; o[2] = *middle; }\n"
    "kernel void places(global int *o, local char *a, local int *b, local short *c, int n) { int i = get_local_id(0);\n"
    "  a[i % 7] = i % 7; if (i < 5) b[i] = i * 100; if (i < 3) c[i] = i + 7; barrier(CLK_LOCAL_MEM_FENCE); int s = n;\n"
    "  for (int k = 0; k < 7; k++) s += a[k]; for (int k = 0; k < 5; k++) s += b[k]; for (int k = 0; k < 3; k++) s += c[k];\n"
    "  o[get_global_id(0)] = s; }\n"
    "kernel void look(global int *o, constant int *c, int n) { int i = get_global_id(0); o[i] = table[i % 5] * c[i % 3] + n; }\n"
    "kernel void say(int n, float f) { printf(\"%d|%5d|%-5d|%x|%.2f|%s|%c%%|%v4d|%ld|%s|%s\\n\", n, n, n, n, f, n > 5 ? \"big\" : \"small\", 'c',\n"
    "  (int4)(1, -2, 3, n), (long)n << 33, \"\", word); }\n";

static void run(cl_kernel kernel, size_t global, size_t local) {
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &global, local ? &local : 0, 0, 0, 0));
}

static void kernels(void) {
    cl_int err;
    int out[48], factors[3] = {10, 20, 30}, n = 1000;
    cl_mem to = buffer(sizeof out, CL_MEM_READ_WRITE, 0), constants = buffer(sizeof factors, CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, factors);
    cl_program program = program_in(context, SOURCE, "-cl-std=CL2.0 -cl-kernel-arg-info");
#define FETCH() OK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, 0, 0))
    /* Variables are those of the program: another kernel object sees them. */
    cl_kernel stay = kernel_of(program, "stay"), again = kernel_of(program, "stay");
    OK(clSetKernelArg(stay, 0, sizeof to, &to)); OK(clSetKernelArg(again, 0, sizeof to, &to));
    run(stay, 1, 0); FETCH(); CHECK(out[0] == 5 && out[1] == 2 && out[2] == 3);
    run(again, 1, 0); FETCH(); CHECK(out[0] == 15 && out[1] == 3 && out[2] == 3);
    size_t bytes;
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes, &bytes, 0)); CHECK(bytes >= 28);

    cl_kernel places = kernel_of(program, "places");
    OK(clSetKernelArg(places, 0, sizeof to, &to)); OK(clSetKernelArg(places, 1, 7, 0)); OK(clSetKernelArg(places, 2, 20, 0));
    OK(clSetKernelArg(places, 3, 6, 0)); OK(clSetKernelArg(places, 4, sizeof n, &n));
    run(places, 48, 24); FETCH(); CHECK(out[0] == 1000 + 21 + 1000 + 24 && out[47] == out[0]);
    cl_ulong used;
    OK(clGetKernelWorkGroupInfo(places, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof used, &used, 0)); CHECK(used >= 33);
    IS(clSetKernelArg(places, 1, 7, out), CL_INVALID_ARG_VALUE); IS(clSetKernelArg(places, 1, 0, 0), CL_INVALID_ARG_SIZE);

    /* A clone has the arguments that were set, and its own from there on. */
    cl_kernel look = kernel_of(program, "look");
    OK(clSetKernelArg(look, 0, sizeof to, &to)); OK(clSetKernelArg(look, 1, sizeof constants, &constants));
    cl_kernel clone = clCloneKernel(look, &err); OK(err);
    n = 99; OK(clSetKernelArg(clone, 2, sizeof n, &n));
    run(clone, 17, 0); FETCH();
    static const int table[] = {1, 2, 3, 5, 8};
    for (int i = 0; i < 17; i++) CHECK(out[i] == table[i % 5] * factors[i % 3] + 99);
    size_t one = 1;
    IS(clEnqueueNDRangeKernel(queue, look, 1, 0, &one, 0, 0, 0, 0), CL_INVALID_KERNEL_ARGS);
    char name[64];
    cl_kernel_arg_address_qualifier space;
    OK(clGetKernelArgInfo(look, 1, CL_KERNEL_ARG_NAME, sizeof name, name, 0)); CHECK(!strcmp(name, "c"));
    OK(clGetKernelArgInfo(look, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, 0)); CHECK(!strcmp(name, "int*"));
    OK(clGetKernelArgInfo(look, 1, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, 0)); CHECK(space == CL_KERNEL_ARG_ADDRESS_CONSTANT);

    cl_uint count, arguments, sum = 0;
    cl_kernel all[8];
    OK(clCreateKernelsInProgram(program, 0, 0, &count)); CHECK(count == 4);
    IS(clCreateKernelsInProgram(program, 2, all, 0), CL_INVALID_VALUE);
    OK(clCreateKernelsInProgram(program, 8, all, &count));
    for (cl_uint i = 0; i < count; i++) {
        OK(clGetKernelInfo(all[i], CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, 0)); sum += arguments;
        OK(clReleaseKernel(all[i]));
    }
    CHECK(sum == 1 + 5 + 3 + 2);

    /* What a kernel prints comes out in order with what the host prints. */
    cl_kernel say = kernel_of(program, "say");
    float real = -3.14159f;
    n = 7;
    OK(clSetKernelArg(say, 0, sizeof n, &n)); OK(clSetKernelArg(say, 1, sizeof real, &real));
    run(say, 2, 0); OK(clFinish(queue));

    /* Binaries: built in another context, whose variables start anew. */
    unsigned char *binary;
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, 0));
    binary = malloc(bytes);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, 0));
    cl_int status;
    cl_program loaded = clCreateProgramWithBinary(context, 1, &device, &bytes, (const unsigned char **)&binary, &status, &err); OK(err); OK(status);
    OK(clBuildProgram(loaded, 0, 0, "", 0, 0));
    cl_kernel fresh = kernel_of(loaded, "stay");
    OK(clSetKernelArg(fresh, 0, sizeof to, &to)); run(fresh, 1, 0); FETCH(); CHECK(out[0] == 5 && out[1] == 2);
    for (size_t cut = 0; cut < bytes; cut += bytes / 7 + 1) {
        cl_program bad = clCreateProgramWithBinary(context, 1, &device, &cut, (const unsigned char **)&binary, &status, &err);
        CHECK(err == (cut ? CL_INVALID_BINARY : CL_INVALID_VALUE) && status != CL_SUCCESS && !bad);
    }
    free(binary);
    cl_kernel made[] = {stay, again, places, look, clone, say, fresh};
    for (int i = 0; i < 7; i++) OK(clReleaseKernel(made[i]));
    OK(clReleaseProgram(program)); OK(clReleaseProgram(loaded)); OK(clReleaseMemObject(to)); OK(clReleaseMemObject(constants));
}

static void options(void) {
    /* Sources in pieces, some with a length; definitions of every form. */
    const char *pieces[] = {"kernel void z(global int *a)XX", "", "{ a[0] = N + K(2); a[2] = FLAG; a[3] = __OPENCL_C_VERSION__; }"};
    size_t lengths[] = {28, 0, 0};
    cl_int err;
    int out[4];
    cl_program program = clCreateProgramWithSource(context, 3, pieces, lengths, &err); OK(err);
    OK(clBuildProgram(program, 1, &device, " -D N=42  -DK(x)=(x*100) -D FLAG -cl-std=CL1.2 -w ", 0, 0));
    cl_kernel kernel = kernel_of(program, "z");
    cl_mem to = buffer(sizeof out, CL_MEM_READ_WRITE, 0);
    OK(clSetKernelArg(kernel, 0, sizeof to, &to)); run(kernel, 1, 0); FETCH();
    CHECK(out[0] == 242 && out[2] == 1 && out[3] == 120);
    char text[256];
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, 0)); CHECK(strstr(text, "-D N=42"));
    OK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, 0)); CHECK(!strncmp(text, "kernel void z(global int *a){ a[0]", 33));
    IS(clBuildProgram(program, 1, &device, "", 0, 0), CL_INVALID_OPERATION);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program)); OK(clReleaseMemObject(to));

    const char *wrong = "kernel void f() { nothing; }";
    size_t length;
    cl_build_status status;
    program = clCreateProgramWithSource(context, 1, &wrong, 0, &err); OK(err);
    IS((clCreateKernel(program, "f", &err), err), CL_INVALID_PROGRAM_EXECUTABLE);
    IS(clBuildProgram(program, 0, 0, "", 0, 0), CL_BUILD_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, 0)); CHECK(status == CL_BUILD_ERROR);
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, 0, &length)); CHECK(length > 20);
    IS((clCreateKernel(program, "f", &err), err), CL_INVALID_PROGRAM_EXECUTABLE);
    OK(clReleaseProgram(program));
    program = program_in(context, "kernel void f() {}", "");
    IS((clCreateKernel(program, "g", &err), err), CL_INVALID_KERNEL_NAME);
    IS((clCreateKernel(program, 0, &err), err), CL_INVALID_VALUE);
    OK(clReleaseProgram(program));
    IS((clCreateProgramWithSource(context, 0, 0, 0, &err), err), CL_INVALID_VALUE);
}

/* kernel void constants(global ulong *out) { *out = (number + wide) << flag; }, assembled by spirv-as: the specialization
   constants are uint number = 3 (5), bool flag = false (6), ulong wide = 40 (7). */
static const cl_uint MODULE[] = {
    0x7230203, 0x10000, 0x70000, 19, 0, 0x20011, 4, 0x20011, 6, 0x20011, 11, 0x3000e, 2, 2, 0x6000f, 6, 1, 0x736e6f63,
    0x746e6174, 115, 0x40047, 2, 1, 5, 0x40047, 3, 1, 6, 0x40047, 4, 1, 7, 0x20013, 5, 0x20014, 6, 0x40015, 7, 32, 0,
    0x40015, 8, 64, 0, 0x40020, 9, 5, 8, 0x40021, 10, 5, 9, 0x40032, 7, 2, 3, 0x50032, 8, 4, 40, 0, 0x30031, 6, 3, 0x5002b,
    8, 11, 1, 0, 0x5002b, 8, 12, 0, 0, 0x50036, 5, 1, 0, 10, 0x30037, 9, 13, 0x200f8, 14, 0x40071, 8, 15, 2, 0x50080, 8, 16,
    15, 4, 0x600a9, 8, 17, 3, 11, 12, 0x500c4, 8, 18, 16, 17, 0x5003e, 13, 18, 2, 8, 0x100fd, 0x10038,
};

static cl_ulong constants(cl_program program) {
    cl_ulong out = 0;
    cl_mem to = buffer(sizeof out, CL_MEM_READ_WRITE, 0);
    OK(clBuildProgram(program, 0, 0, 0, 0, 0));
    cl_kernel kernel = kernel_of(program, "constants");
    OK(clSetKernelArg(kernel, 0, sizeof to, &to));
    run(kernel, 1, 0); OK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, &out, 0, 0, 0));
    OK(clReleaseKernel(kernel)); OK(clReleaseMemObject(to));
    return out;
}

static void specialization(void) {
    cl_int err;
    cl_uint number = 1000;
    cl_ulong wide = 1ul << 40;
    cl_uchar flag = 1;
    cl_program program = clCreateProgramWithIL(context, MODULE, sizeof MODULE, &err); OK(err);
    CHECK(constants(program) == 43);
    OK(clSetProgramSpecializationConstant(program, 5, sizeof number, &number));
    OK(clSetProgramSpecializationConstant(program, 7, sizeof wide, &wide));
    CHECK(constants(program) == wide + 1000);
    OK(clSetProgramSpecializationConstant(program, 6, sizeof flag, &flag));
    CHECK(constants(program) == 2 * (wide + 1000));
    IS(clSetProgramSpecializationConstant(program, 8, sizeof number, &number), CL_INVALID_SPEC_ID);
    IS(clSetProgramSpecializationConstant(program, 7, sizeof number, &number), CL_INVALID_VALUE);
    IS(clSetProgramSpecializationConstant(program, 5, sizeof number, 0), CL_INVALID_VALUE);
    OK(clReleaseProgram(program));
    program = program_in(context, "kernel void k() {}", 0);
    IS(clSetProgramSpecializationConstant(program, 5, sizeof number, &number), CL_INVALID_PROGRAM);
    OK(clReleaseProgram(program));
}

int main(void) {
    setvbuf(stdout, 0, _IOLBF, 0);
    start(0);
    sixty();
    kernels();
    options();
    specialization();
    return ended();
}
