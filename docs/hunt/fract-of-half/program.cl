#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void k(__global half *p, __global half *q) {
  half whole;
  p[get_global_id(0)] = fract(p[get_global_id(0)], &whole);
  q[get_global_id(0)] = whole;
}
