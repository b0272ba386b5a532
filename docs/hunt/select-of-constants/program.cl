#pragma OPENCL FP_CONTRACT OFF

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0() {
  float2 v0 = (float2)((0.0f));
  v0 = ((float2)((0.0f)) + select((float2)((0.0f)), (float2)((0.0f)), (int2)(0)));
}
