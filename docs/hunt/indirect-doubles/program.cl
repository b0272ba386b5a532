#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__attribute__((overloadable)) float no_nan(float x) { return isnan(x) ? (0.0f) : x; }
__attribute__((overloadable)) double no_nan(double x) { return isnan(x) ? (0.0) : x; }

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global double *o0, const __global float2 *i0) {
  double v0[16] = {(-0.3319354043342173), as_double(9218868437227405312UL), (-0.0010345224109187257), (0.0072856648366723675), (-0.4688441436737776), (255.0), (22.967538490891457), (-0.0007275024699993082), (0.0013577212630480062), (-124.0), (-108.0), (-0.19104886311106384), (120.0), as_double(9221120237041090560UL), (-0.005902266115299426), as_double(9221120237041090560UL)};
  v0[as_uint(no_nan((i0[(uint)get_local_id(0) & 127u]).s1)) & 15u] = (0.0);
  o0[get_global_id(0)] = no_nan(v0[0]);
}
