#pragma OPENCL FP_CONTRACT OFF
__attribute__((overloadable)) float no_nan(float x) { return isnan(x) ? (0.0f) : x; }

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global uint *g0) {
  uint v0 = 0u;
  v0 = convert_uint_sat(no_nan(convert_float(4294967295u)));
  g0[get_global_id(0) * 4 + (0)] = v0;
}
