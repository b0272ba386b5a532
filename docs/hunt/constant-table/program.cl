__constant int table[8] = {1, 2};
int second(void) { return table[1]; }
__kernel void k(__global int *out) { out[get_global_id(0)] = second(); }
