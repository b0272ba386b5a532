#pragma OPENCL FP_CONTRACT OFF

__attribute__((intel_reqd_sub_group_size(8)))
__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global int *o0, __global int *o1, __global int *o2, __global int *o3, const __global int *i0, const __global ushort *i1) {
  int v0 = 0;
  int v1 = 0;
  int v2 = 0;
  int v3 = 0;
  v0 = intel_sub_group_i8_i8_matrix_mad_k32(((const __global int *)i0)[get_sub_group_local_id()], as_int8((int8)(i0[((uint)get_global_id(0) + 0u) & 63u], i0[((uint)get_global_id(0) + 1u) & 63u], i0[((uint)get_global_id(0) + 2u) & 63u], i0[((uint)get_global_id(0) + 3u) & 63u], i0[((uint)get_global_id(0) + 4u) & 63u], i0[((uint)get_global_id(0) + 5u) & 63u], i0[((uint)get_global_id(0) + 6u) & 63u], i0[((uint)get_global_id(0) + 7u) & 63u])), (convert_int((uint)get_global_id(0))) >> 1);
  v1 = intel_sub_group_i8_u8_matrix_mad_k32(((const __global int *)i0)[get_sub_group_local_id()], as_uint8((int8)(i0[((uint)get_global_id(0) + 0u) & 63u], i0[((uint)get_global_id(0) + 1u) & 63u], i0[((uint)get_global_id(0) + 2u) & 63u], i0[((uint)get_global_id(0) + 3u) & 63u], i0[((uint)get_global_id(0) + 4u) & 63u], i0[((uint)get_global_id(0) + 5u) & 63u], i0[((uint)get_global_id(0) + 6u) & 63u], i0[((uint)get_global_id(0) + 7u) & 63u])), (convert_int((uint)get_global_id(0))) >> 1);
  v2 = intel_sub_group_u8_i8_matrix_mad_k32(((const __global uint *)i0)[get_sub_group_local_id()], as_int8((int8)(i0[((uint)get_global_id(0) + 0u) & 63u], i0[((uint)get_global_id(0) + 1u) & 63u], i0[((uint)get_global_id(0) + 2u) & 63u], i0[((uint)get_global_id(0) + 3u) & 63u], i0[((uint)get_global_id(0) + 4u) & 63u], i0[((uint)get_global_id(0) + 5u) & 63u], i0[((uint)get_global_id(0) + 6u) & 63u], i0[((uint)get_global_id(0) + 7u) & 63u])), (convert_int((uint)get_global_id(0))) >> 1);
  v3 = intel_sub_group_u8_u8_matrix_mad_k32(((const __global uint *)i0)[get_sub_group_local_id()], as_uint8((int8)(i0[((uint)get_global_id(0) + 0u) & 63u], i0[((uint)get_global_id(0) + 1u) & 63u], i0[((uint)get_global_id(0) + 2u) & 63u], i0[((uint)get_global_id(0) + 3u) & 63u], i0[((uint)get_global_id(0) + 4u) & 63u], i0[((uint)get_global_id(0) + 5u) & 63u], i0[((uint)get_global_id(0) + 6u) & 63u], i0[((uint)get_global_id(0) + 7u) & 63u])), (convert_int((uint)get_global_id(0))) >> 1);
  o0[get_global_id(0)] = v0;
  o1[get_global_id(0)] = v1;
  o2[get_global_id(0)] = v2;
  o3[get_global_id(0)] = v3;
}
