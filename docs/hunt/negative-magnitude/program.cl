__kernel void k0(__global float *out, __global const float *in) {
  float x = in[get_global_id(0)];
  out[get_global_id(0)] = x <= 0.0f ? x : -x;
}
