#pragma OPENCL FP_CONTRACT OFF

__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void k0(__global char2 *o0, const __global char2 *i0) {
  char2 v0 = (char2)(12, 1);
  uint v1 = 2708104479u;
  v1 = 0u;
  v0 = min(((uchar2)(0) != sub_sat((uchar2)(1), (uchar2)(convert_uchar_sat((uint)get_global_id(0))))), (((as_uchar2(i0[0]) - (uchar2)(0)) - (uchar2)(0)) > (uchar2)(0)));
  o0[get_global_id(0)] = v0;
}
