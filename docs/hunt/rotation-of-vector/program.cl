__kernel void k(__global uint4 *p) {
  uint4 v = p[get_global_id(0)];
  p[get_global_id(0)] = (v << 13) | (v >> 19);
}
