__kernel void k0(__global double *out, __global const double *in) {
  out[get_global_id(0)] = round(in[get_global_id(0)]);
}
