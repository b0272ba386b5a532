// A program in SYCL that any C++ compiler builds: the runtime compiles the kernel, which is given as text.
#include <iostream>
#include <sycl/sycl.hpp>

namespace experimental = sycl::ext::oneapi::experimental;

const char *const text = R"(
#include <sycl/sycl.hpp>
namespace experimental = sycl::ext::oneapi::experimental;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((experimental::nd_range_kernel<1>))
void squares(int *to) {
  int i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
  to[i] = i * i;
}
)";

int main() {
  sycl::queue queue;
  auto source = experimental::create_kernel_bundle_from_source(queue.get_context(),
                                                               experimental::source_language::sycl, std::string(text));
  auto bundle = experimental::build(source);
  int *squares = sycl::malloc_shared<int>(16, queue);
  queue.submit([&](sycl::handler &handler) {
    handler.set_args(squares);
    handler.parallel_for(sycl::nd_range<1>(16, 16), bundle.ext_oneapi_get_kernel("squares"));
  });
  queue.wait();
  int last = squares[15];
  sycl::free(squares, queue);
  std::cout << queue.get_device().get_info<sycl::info::device::name>() << ": 15 * 15 = " << last << "\n";
  return last == 15 * 15 ? 0 : 1;
}
