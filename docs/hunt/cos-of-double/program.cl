#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void k(__global double *p) { p[get_global_id(0)] = cos(p[get_global_id(0)]); }
