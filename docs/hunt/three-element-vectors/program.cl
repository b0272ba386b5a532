__kernel void k0(__global int *out, uint index) {
  int3 values[4] = {(int3)(1, 2, 3), (int3)(4, 5, 6), (int3)(7, 8, 9), (int3)(10, 11, 12)};
  values[index & 3u] = (int3)(0);
  out[0] = values[1].s0;
  out[1] = values[1].s1;
  out[2] = values[1].s2;
}
