#pragma OPENCL FP_CONTRACT OFF

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global short2 *o0) {
  short2 v0 = (short2)(0);
  v0 = as_short2(as_ushort2((short2)(0)) + as_ushort2(convert_short2_sat((uint2)(1u))));
  o0[get_global_id(0)] = v0;
}
