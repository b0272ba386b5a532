__kernel void k(__global int *o, __global long2 *s) {
  o[get_global_id(0)] = all(rotate((long2)(0L), s[1]));
}
