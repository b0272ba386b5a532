// A source that belongs to lines.visaasm.
kernel void lines(global int *data, int factor) {
  int value = data[get_global_id(0)];
  value = value * factor;
  if (value > 100)
    value = 100;
  data[get_global_id(0)] = value;
}
