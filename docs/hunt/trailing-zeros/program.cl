#pragma OPENCL FP_CONTRACT OFF
__attribute__((overloadable)) float no_nan(float x) { return isnan(x) ? (0.0f) : x; }

__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void k0(__global float *o0) {
  float v0 = (0.5f);
  v0 = (((popcount(((~(uint)get_local_id(0)) & ((uint)get_local_id(0) - 1u))) & 1u) > 0u) ? (0.0f) : (1.0f));
  o0[get_global_id(0)] = no_nan(v0);
}
