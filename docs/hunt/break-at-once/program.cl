__kernel void k0(void) {
  for (uint i = 0; i < 1u; ++i) {
    if (1) break;
  }
}
