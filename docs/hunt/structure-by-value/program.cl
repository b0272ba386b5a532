#pragma OPENCL FP_CONTRACT OFF
__attribute__((overloadable)) float no_nan(float x) { return isnan(x) ? (0.0f) : x; }

struct p0_s0 { char2 f0; float f1; float f2; };
float p0_f0(struct p0_s0 v0) {
  v0.f2 = (0.0f);
  return (0.0f);
}
__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global float *o0) {
  float v0[8] = {(0.0f), (0.0f), (0.0f), (0.0f), (0.0f), (0.0f), (0.0f), (0.0f)};
  struct p0_s0 v1 = {(char2)(0, (-88)), (-0.86589324f), (0.0008719975f)};
  v0[0] = (p0_f0(v1) + v1.f2);
  o0[get_global_id(0)] = no_nan(v0[0]);
}
