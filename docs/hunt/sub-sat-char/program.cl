#pragma OPENCL FP_CONTRACT OFF

struct p0_s0 { char f0; };
__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global char *o0) {
  char v0 = (char)0;
  struct p0_s0 v1 = {(char)0};
  v0 = sub_sat(v1.f0, (char)1);
  o0[get_global_id(0)] = v0;
}
