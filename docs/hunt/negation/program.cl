__kernel void k0(__global float *out, __global const float *in) {
  out[get_global_id(0)] = -in[get_global_id(0)];
}
