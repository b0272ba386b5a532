__kernel void k0(__global double *out) {
  out[0] = rint(1.8e19);
  out[1] = rint(1.9e19);
  out[2] = rint(-1e300);
  out[3] = rint((double)INFINITY);
}
