#pragma OPENCL FP_CONTRACT OFF
__attribute__((overloadable)) float no_nan(float x) { return isnan(x) ? (0.0f) : x; }

struct p0_s0 { uchar f0; int f1; float f2; uchar f3; };
__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global float *o0) {
  struct p0_s0 v0 = {(uchar)0, 0, (0.0f), (uchar)0};
  v0.f2 = ((0.0f) - fabs((0.0f)));
  o0[get_global_id(0)] = no_nan(v0.f2);
}
