__kernel void k(__global uint *p) {
  uint x = p[get_global_id(0)], r = 0;
  for (int j = 0; j < 6; ++j) {
    r = (r << 1) | (x & 1);
    x >>= 1;
  }
  p[get_global_id(0)] = r;
}
