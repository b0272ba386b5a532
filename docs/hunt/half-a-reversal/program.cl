__kernel void k(__global float *o, const __global uint *in) {
  uint v = in[get_global_id(0)];
  v = (v << 1) & 0xaaaaaaaau;
  v = (v << 1) & 0xccccccccu;
  v = v & 0x0f0f0f0fu;
  v = v & 0x00ff00ffu;
  v = (v << 16) | (v >> 16);
  o[get_global_id(0)] = convert_float(v);
}
