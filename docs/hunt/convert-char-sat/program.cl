#pragma OPENCL FP_CONTRACT OFF

__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void k0(__global char *o0) {
  char v0 = (char)25;
  int8 v1 = (int8)((-65537));
  uint v2 = 0;
  uint v3 = 0;
  for (v2 = 0; v2 < 1u; ++v2) {
    for (v3 = 0; v3 < 4u; ++v3) {
      v0 = convert_char_sat(v1.s3);
      v1.s2 ^= convert_int(v3);
    }
  }
  o0[get_global_id(0)] = v0;
}
