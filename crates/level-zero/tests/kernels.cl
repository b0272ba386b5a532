__constant int table[4] = {1, 2, 3, 4};
__global int counter = 40;

__kernel void add(__global const float *a, __global const float *b, __global float *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

__kernel void scale(__global int *x, int by, __local int *l) {
    size_t i = get_global_id(0);
    l[get_local_id(0)] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = l[get_local_size(0) - 1 - get_local_id(0)] * by + table[i % 4];
}

__kernel void count(__global int *x) {
    x[get_global_id(0)] = counter++ + get_global_offset(0);
}

__kernel void chase(__global int * __global *all, __global int *sum) {
    *sum = all[0][1] + all[1][2];
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void fixed(__global int *x) {
    x[get_global_id(0)] = get_group_id(0);
}

/* Each group waits until all have come. */
__kernel void meet(__global int *x, volatile __global int *count) {
    if (get_local_id(0) == 0) {
        atomic_inc(count);
        while (atomic_add(count, 0) < (int)get_num_groups(0));
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[get_global_id(0)] = *count;
}
