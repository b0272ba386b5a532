#pragma OPENCL FP_CONTRACT OFF

__constant int p0_t0[4] = {(-2049), (-2147483647 - 1), 1073741823, 8};
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void k0(__global int *o0) {
  int v0 = (-2147483647 - 1);
  int v1[16] = {1, 0, 1048576, (-16777217), 8, 63, 67108863, 0, 1, 1073741824, (-2147483647 - 1), 134217728, (-1820371791), (-1), 6, (-448545926)};
  uint v2 = 0;
  for (v2 = 0; v2 < 1u; ++v2) {
    v1[0] = ((p0_t0[1] >> 16) * (v0 >> 16));
  }
  o0[get_global_id(0)] = v1[0];
}
