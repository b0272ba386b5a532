#pragma OPENCL FP_CONTRACT OFF

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global long *o0, const __global ulong *i0) {
  long v0 = 0L;
  v0 = mad_sat(as_long(i0[1]), 1L, 0L);
  o0[get_global_id(0)] = v0;
}
