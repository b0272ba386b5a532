__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global long *o0, __global const long *a0, __global const long *a1) {
  o0[get_global_id(0)] = sub_sat(a0[get_global_id(0)], a1[get_global_id(0)]);
}
