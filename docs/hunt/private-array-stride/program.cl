#pragma OPENCL FP_CONTRACT OFF

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global uchar *o0) {
  uchar v0[2] = {(uchar)0, (uchar)0};
  uchar v1 = (uchar)1;
  long2 v2 = (long2)(0L);
  v2.s0 = convert_long_sat(v1);
  o0[get_global_id(0)] = v0[0];
}
