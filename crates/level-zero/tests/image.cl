__kernel void flip(__read_only image2d_t from, __write_only image2d_t to, sampler_t s) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(to, at, read_imageui(from, s, (int2)(at.y, at.x)));
}
