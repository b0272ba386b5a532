/* What the device announces is what its compiler offers: one program uses all of it, in OpenCL C 3.0. */
#include "device.h"

static const struct { const char *name, *kernel; } USES[] = {
    {"cl_khr_fp16", "global half *h) { *h *= (half)2; }"},
    {"cl_khr_fp64", "global double *d) { *d *= 2; }"},
    {"cl_khr_int64_base_atomics", "global long *l) { atom_add(l, 1L); }"},
    {"cl_khr_int64_extended_atomics", "global long *l) { atom_max(l, 1L); }"},
    {"cl_khr_extended_bit_ops", "global uint *u) { *u = bitfield_insert(bit_reverse(*u), bitfield_extract_unsigned(*u, 3, 4), 2, 5) + bitfield_extract_signed(*u, 1, 9); }"},
    {"cl_khr_integer_dot_product", "global uint *u) { *u = dot_4x8packed_uu_uint(*u, 7u); }"},
    {"cl_khr_expect_assume", "global uint *u) { if (__builtin_expect(*u, 1)) *u = 3; }"},
    {"cl_khr_subgroups", "global int *i) { *i = sub_group_reduce_add(*i); }"},
    {"cl_khr_subgroup_extended_types", "global short *s) { *s = sub_group_reduce_add(*s); }"},
    {"cl_khr_subgroup_non_uniform_vote", "global int *i) { *i = sub_group_elect(); }"},
    {"cl_khr_subgroup_ballot", "global uint4 *u) { *u = sub_group_ballot(1); }"},
    {"cl_khr_subgroup_non_uniform_arithmetic", "global int *i) { *i = sub_group_non_uniform_reduce_add(*i); }"},
    {"cl_khr_subgroup_shuffle", "global int *i) { *i = sub_group_shuffle(*i, 2u); }"},
    {"cl_khr_subgroup_shuffle_relative", "global int *i) { *i = sub_group_shuffle_up(*i, 1u); }"},
    {"cl_khr_subgroup_clustered_reduce", "global int *i) { *i = sub_group_clustered_reduce_add(*i, 4u); }"},
    {"cl_ext_float_atomics", "global atomic_float *f) { atomic_fetch_add_explicit(f, 1.0f, memory_order_relaxed, memory_scope_device); }"},
    {"cl_khr_3d_image_writes", "write_only image3d_t i) { write_imagef(i, (int4)(0), (float4)(0)); }"},
    {"cl_intel_subgroups", "global uint *u) { *u = intel_sub_group_block_read(u); }"},
    {"cl_intel_subgroups_char", "global uchar *u) { *u = intel_sub_group_block_read_uc(u); }"},
    {"cl_intel_subgroups_short", "global ushort *u) { *u = intel_sub_group_block_read_us(u); }"},
    {"cl_intel_subgroups_long", "global ulong *u) { *u = intel_sub_group_block_read_ul(u); }"},
    {"cl_intel_subgroup_local_block_io", "local uint *u) { intel_sub_group_block_write(u, intel_sub_group_block_read(u) + 1); }"},
    {"cl_intel_media_block_io", "read_only image2d_t i, global uint *u) { *u = intel_sub_group_media_block_read_ui((int2)(0), 8, 1, i); }"},
    {"cl_intel_split_work_group_barrier", "global int *i) { intel_work_group_barrier_arrive(CLK_GLOBAL_MEM_FENCE); intel_work_group_barrier_wait(CLK_GLOBAL_MEM_FENCE); }"},
    {"cl_intel_bfloat16_conversions", "global float *f) { *f = intel_convert_bfloat16_as_ushort(*f); }"},
    {"cl_intel_subgroup_matrix_multiply_accumulate", "global ROWS *a, global int8 *b) { *b = intel_sub_group_i8_i8_matrix_mad_k32(*a, *b, (int8)(0)); }"},
    {"cl_intel_subgroup_split_matrix_multiply_accumulate", "global int4 *a, global int8 *b) { *b = intel_sub_group_i8_i8_split_matrix_mad_k32(*a, *b, (int8)(0)); }"},
    {"cl_intel_subgroup_matrix_multiply_accumulate_tf32", "global float4 *a, global float8 *b) { *b = intel_sub_group_tf32_tf32_matrix_mad_k8(*a, *b, (float8)(0)); }"},
    {"cl_intel_subgroup_2d_block_io", "global void *p) { intel_sub_group_2d_block_prefetch_16b_8r16x1c(p, 64, 8, 64, (int2)(0)); }"},
    {"cl_intel_subgroup_buffer_prefetch", "global uint *u) { intel_sub_group_block_prefetch_ui(u); }"},
};

int main(void) {
    static char extensions[8192], source[16384];
    start(0);
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions - 2, extensions + 1, 0));
    extensions[0] = ' ';
    strcat(extensions, " ");
    size_t lanes[8] = {0};
    OK(clGetDeviceInfo(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof lanes, lanes, 0));
    char options[100];
    sprintf(options, "-cl-std=CL3.0 -DROWS=%s", lanes[0] == 8 ? "int8" : "short8");
    char *end = source;
    int used = 0;
    for (size_t i = 0; i < sizeof USES / sizeof *USES; i++) {
        char word[100];
        sprintf(word, " %s ", USES[i].name);
        if (!strstr(extensions, word)) continue;
        end += sprintf(end, "__attribute__((intel_reqd_sub_group_size(%zu)))\nkernel void k%d(%s\n",
                       lanes[0], used++, USES[i].kernel);
    }
    CHECK(used > 15);
    cl_program program = program_in(context, source, options);
    cl_uint count = 0;
    OK(clCreateKernelsInProgram(program, 0, 0, &count));
    CHECK(count == (cl_uint)used);
    OK(clReleaseProgram(program));

    /* The numbers of engines agree with each other. */
    cl_uint units, slices, parts, engines, ip;
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, 0));
    OK(clGetDeviceInfo(device, CL_DEVICE_NUM_SLICES_INTEL, sizeof slices, &slices, 0));
    OK(clGetDeviceInfo(device, CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL, sizeof parts, &parts, 0));
    OK(clGetDeviceInfo(device, CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL, sizeof engines, &engines, 0));
    CHECK(units == slices * parts * engines);
    OK(clGetDeviceInfo(device, CL_DEVICE_IP_VERSION_INTEL, sizeof ip, &ip, 0));
    CHECK(ip >> 22 >= 9);
    /* Without 64-bit floats there are no atomics of them. */
    cl_ulong doubles = 0, atomics = 0;
    OK(clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, 0));
    OK(clGetDeviceInfo(device, 0x4232, sizeof atomics, &atomics, 0));
    CHECK(!doubles == !atomics);
    return ended();
}
