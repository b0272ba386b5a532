__kernel void k(__global int *o) {
  o[get_global_id(0)] = all((short2)(0));
}
