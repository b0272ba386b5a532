#pragma OPENCL FP_CONTRACT OFF

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global ulong *o0) {
  ulong v0 = 0UL;
  v0 = 1UL;
  v0 = (v0 << 0UL);
  o0[get_global_id(0)] = v0;
}
