// What frameworks ask of a device before they use it: the properties of devices in PyTorch (`torch.xpu.get_device_properties`),
// and what a query of memory returns. Any C++ compiler builds it; there are no kernels.
#include <iostream>
#include <sycl/sycl.hpp>

namespace info = sycl::info::device;
namespace intel = sycl::ext::intel::info::device;
namespace experimental = sycl::ext::oneapi::experimental::info::device;

static int failures;

template <typename Query> auto ask(const sycl::device &device, const char *name) {
  using Answer = typename Query::return_type;
  try {
    return device.get_info<Query>();
  } catch (const sycl::exception &error) {
    std::cout << name << ": " << error.what() << "\n";
    failures++;
    return Answer{};
  }
}
#define ASK(query) ask<query>(device, #query)

static void check(bool holds, const char *what) {
  if (!holds) {
    std::cout << what << "\n";
    failures++;
  }
}

static void ask_all(const sycl::device &device, bool is_level_zero) {
  ASK(info::version), ASK(info::is_available), ASK(info::max_work_item_dimensions), ASK(info::max_parameter_size);
  ASK(info::preferred_vector_width_char), ASK(info::preferred_vector_width_short), ASK(info::preferred_vector_width_int);
  ASK(info::preferred_vector_width_long), ASK(info::preferred_vector_width_float), ASK(info::preferred_vector_width_double);
  ASK(info::preferred_vector_width_half), ASK(info::native_vector_width_char), ASK(info::native_vector_width_short);
  ASK(info::native_vector_width_int), ASK(info::native_vector_width_long), ASK(info::native_vector_width_float);
  ASK(info::native_vector_width_double), ASK(info::native_vector_width_half), ASK(info::max_clock_frequency);
  ASK(info::global_mem_cache_type), ASK(info::global_mem_cache_line_size), ASK(info::local_mem_type);
  ASK(info::half_fp_config), ASK(info::single_fp_config), ASK(info::double_fp_config), ASK(info::error_correction_support);
  ASK(info::profiling_timer_resolution), ASK(info::mem_base_addr_align), ASK(info::max_num_sub_groups);
  ASK(info::sub_group_independent_forward_progress), ASK(info::partition_max_sub_devices), ASK(info::aspects);
  ASK(info::atomic_memory_order_capabilities), ASK(info::atomic_fence_scope_capabilities), ASK(intel::uuid);
  ASK(intel::pci_address), ASK(intel::device_id), ASK(intel::max_compute_queue_indices), ASK(experimental::architecture);
  ASK(experimental::matrix_combinations), ASK(experimental::max_global_work_groups);

  check(ASK(info::vendor) == "Intel(R) Corporation", "the vendor");
  check(ASK(info::name).find("visakit") != std::string::npos, "the name");
  check(!ASK(info::driver_version).empty(), "the driver's version");
  check(ASK(info::address_bits) == 64, "bits of addresses");
  auto lanes = ASK(info::sub_group_sizes);
  check(!lanes.empty() && lanes.back() <= 32, "sizes of sub-groups");
  check(ASK(info::max_work_group_size) >= 256, "the size of groups");
  check(ASK(info::local_mem_size) >= 65536, "local memory");
  auto memory = ASK(info::global_mem_size);
  check(ASK(info::max_mem_alloc_size) <= memory && memory > 0, "memory");
  check(ASK(info::global_mem_cache_size) > 0, "the cache");
  auto units = ASK(intel::gpu_eu_count);
  check(units == ASK(info::max_compute_units), "vector engines");
  check(units == ASK(intel::gpu_slices) * ASK(intel::gpu_subslices_per_slice) * ASK(intel::gpu_eu_count_per_subslice), "slices");
  check(ASK(intel::gpu_hw_threads_per_eu) >= 7, "threads of a vector engine");
  // The runtime has no such queries of OpenCL's devices.
  if (is_level_zero) {
    check(ASK(intel::gpu_eu_simd_width) >= 8, "lanes of a vector engine");
    check(ASK(intel::free_memory) <= memory, "free memory");
    check(ASK(intel::memory_clock_rate) > 0 && ASK(intel::memory_bus_width) > 0, "the bus of the memory");
  }
}

int main() {
  auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
  for (const auto &device : devices)
    ask_all(device, device.get_backend() == sycl::backend::ext_oneapi_level_zero);
  std::cout << devices.size() << " devices asked, " << failures << " failures\n";
  return devices.empty() || failures ? 1 : 0;
}
