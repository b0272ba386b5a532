#pragma OPENCL FP_CONTRACT OFF
__attribute__((overloadable)) float no_nan(float x) { return isnan(x) ? (0.0f) : x; }
__attribute__((overloadable)) float8 no_nan(float8 x) { return select(x, (float8)((0.0f)), isnan(x)); }

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global ushort *o0, const __global int *i0) {
  float v0 = (1.0f);
  float v1 = (0.001f);
  float v2 = (-84.0f);
  float v3 = (107.0f);
  uint3 v4 = (uint3)(4150477135u, 23u, 4294967295u);
  ushort3 v5 = (ushort3)(65535);
  if ((convert_int8_sat(no_nan(convert_float8((short8)(1))))).s0) {
    v0 -= ((((((as_uint(no_nan(v0)) + (uint)get_local_id(0)) & 3u) <= 1u) ? v2 : v3) - v2) + ((v2 - v3) - (v1 - v0)));
    if (((((as_uint((int)((uint)((int)((uint)i0[(uint)get_local_id(0) & 63u] - (uint)as_int(no_nan(v0))) ^ ((int)((uint)i0[(uint)get_local_id(0) & 63u] - (uint)as_int(no_nan(v0))) >> 31)) - (uint)((int)((uint)i0[(uint)get_local_id(0) & 63u] - (uint)as_int(no_nan(v0))) >> 31))) ^ as_uint(no_nan(v3))) ^ (uint)get_global_id(0)) & 1u) != 1u)) {
      v5 = ((ushort3)(convert_ushort_sat(no_nan(v0))) | convert_ushort3(v4));
      v5 = (((v5 & (ushort3)(3855)) << (ushort3)(4)) | ((v5 >> (ushort3)(4)) & (ushort3)(3855)));
      v5 = (((v5 >> (ushort3)(8)) & (ushort3)(255)) | ((v5 << (ushort3)(8)) & (ushort3)(65280)));
    }
  }
  vstore3(v5, get_global_id(0), o0);
}
