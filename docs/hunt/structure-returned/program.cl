#pragma OPENCL FP_CONTRACT OFF

struct p0_s0 { ulong f0; ulong f1; };
__attribute__((noinline)) struct p0_s0 p0_f0(void) {
  struct p0_s0 v0 = {4472339267305861320UL, 7UL};
  v0.f1 = 0UL;
  return v0;
}
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void k0(__global long2 *o0) {
  long2 v0 = (long2)(2147483648L);
  struct p0_s0 v1 = {18445208119162236675UL, 0UL};
  v1 = p0_f0();
  v0 = (1 ? (long2)(as_long(v1.f0)) : (long2)(0L));
  o0[get_global_id(0)] = v0;
}
