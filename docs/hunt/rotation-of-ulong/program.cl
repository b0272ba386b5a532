__kernel void k(__global ulong *p, ulong n) { p[get_global_id(0)] = rotate(p[get_global_id(0)], n); }
