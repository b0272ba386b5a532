__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global float2 *o0) {
  float2 v0 = (float2)(-4.432355f, 0.0007784735f);
  o0[get_global_id(0)] = -v0;
}
