struct s { float a; char b; char c; float d; };
__attribute__((noinline)) struct s same(struct s x) { return x; }
__kernel void k0(__global float *out, __global const float *in) {
  struct s x = {0.0f, 0, 0, 0.0f};
  x.a = in[0];
  x = same(x);
  out[0] = x.a;
}
