// Kernels in SYCL C++, compiled at run time (sycl_ext_oneapi_kernel_compiler), so that any C++ compiler does for the rest:
// c++ -std=c++17 -w -IVENV/include kernels.cpp -LVENV/lib -lsycl -Wl,-rpath-link,VENV/lib -o kernels
// Prints what each part did; exits with the number of parts that failed. With "assert" as argument, an assertion fails;
// otherwise arguments name what the device need not have: double, matrix, ESIMD, graphs, changes.
#include <cmath>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <sycl/sycl.hpp>
#include <vector>

namespace sx = sycl::ext::oneapi::experimental;
static int failures;
static std::set<std::string> lacks;
static sycl::queue q{sycl::property::queue::in_order()};

static void part(const char *name, const std::function<std::string()> &body) {
  std::string said;
  try {
    said = body();
  } catch (const std::exception &e) {
    said = std::string("exception: ") + e.what();
  }
  failures += !said.empty();
  std::cout << name << ": " << (said.empty() ? "right" : said) << std::endl;
}

// Whether the device has something. It fails if it does not, and need not lack it.
static bool has(const char *what, bool really) {
  if (!really) {
    bool known = lacks.count(what);
    failures += !known;
    std::cout << what << ": " << (known ? "NOT RUN, as the device has it not" : "the device has it not") << std::endl;
  }
  return really;
}

using Bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;

static Bundle built(const std::string &text) {
  std::string all = "#include <sycl/sycl.hpp>\n"
                    "#include <sycl/ext/intel/esimd.hpp>\n"
                    "#include <cassert>\n"
                    "namespace sx = sycl::ext::oneapi::experimental;\n"
                    "namespace xe = sycl::ext::intel::esimd;\n"
                    "#define ITEMS extern \"C\" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sx::nd_range_kernel<1>)) void\n"
                    "#define TASK extern \"C\" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sx::single_task_kernel)) void\n"
                    "#define ESIMD extern \"C\" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sx::nd_range_kernel<1>)) "
                    "SYCL_ESIMD_KERNEL void\n"
                    "#define ITEM sycl::ext::oneapi::this_work_item::get_nd_item<1>()\n" +
                    text;
  auto source = sx::create_kernel_bundle_from_source(q.get_context(), sx::source_language::sycl, all);
  return sx::build(source);
}

template <class T> struct Shared {
  T *at;
  size_t count;
  explicit Shared(size_t count, T from = 0, T step = 0) : at(sycl::malloc_shared<T>(count, q)), count(count) {
    for (size_t i = 0; i < count; i++) at[i] = T(from + T(i) * step);
  }
  ~Shared() { sycl::free(at, q); }
  std::string is(const std::function<double(size_t)> &wanted, double tolerance = 0) const {
    for (size_t i = 0; i < count; i++) {
      double w = wanted(i);
      if (!(std::abs(double(at[i]) - w) <= tolerance * (1 + std::abs(w))))
        return "element " + std::to_string(i) + " is " + std::to_string(double(at[i])) + ", not " + std::to_string(w);
    }
    return "";
  }
};

template <class... A> static void run(const sycl::kernel &k, size_t global, size_t local, A... args) {
  q.submit([&](sycl::handler &h) {
     h.set_args(args...);
     h.parallel_for(sycl::nd_range<1>(global, local), k);
   }).wait();
}

static void groups() {
  Bundle all = built(R"(
ITEMS scan(int *p, sycl::local_accessor<int, 1> l) {
  auto g = ITEM.get_group();
  int i = ITEM.get_local_linear_id();
  l[i] = i * 3;
  sycl::group_barrier(g);
  int v = l[(i + 5) % 64];
  p[ITEM.get_global_linear_id()] = sycl::exclusive_scan_over_group(g, v, sycl::plus<int>()) + sycl::any_of_group(g, v == 3) +
    sycl::group_broadcast(g, v, 7) + sycl::shift_group_left(ITEM.get_sub_group(), v, 1) * 0;
  if (ITEM.get_global_linear_id() == 5) sx::printf("from a kernel: %d %.1f\n", v, 1.5f);
}
ITEMS count(float *p) {
  sycl::atomic_ref<float, sycl::memory_order::relaxed, sycl::memory_scope::device> a(p[0]);
  a.fetch_add(1.0f);
}
TASK math(double *p) {
  sycl::half h = 1.5f;
  p[0] = sycl::sin(p[0]) + sycl::pow(p[1], 2.5) + double(h * h) + sycl::lgamma(p[1]) + double(sycl::mul_hi(1l << 62, 12l));
}
)");
  part("groups and local memory", [&] {
    Shared<int> p(128);
    q.submit([&](sycl::handler &h) {
       sycl::local_accessor<int, 1> l(64, h);
       h.set_args(p.at, l);
       h.parallel_for(sycl::nd_range<1>(128, 64), all.ext_oneapi_get_kernel("scan"));
     }).wait();
    return p.is([](size_t i) {
      int sum = 1 + 12 * 3;
      for (size_t j = 0; j < i % 64; j++) sum += int((j + 5) % 64) * 3;
      return double(sum);
    });
  });
  part("atomics", [&] {
    Shared<float> p(1);
    run(all.ext_oneapi_get_kernel("count"), 1024, 64, p.at);
    return p.is([](size_t) { return 1024; });
  });
  if (has("double", q.get_device().has(sycl::aspect::fp64))) part("math", [&] {
    Shared<double> p(2);
    p.at[0] = .3, p.at[1] = 1.7;
    q.submit([&](sycl::handler &h) { h.set_args(p.at); h.single_task(all.ext_oneapi_get_kernel("math")); }).wait();
    return p.is([](size_t i) { return i ? 1.7 : std::sin(.3) + std::pow(1.7, 2.5) + 2.25 + std::lgamma(1.7) + 3; }, 1e-12);
  });
}

static void root_group() {
  part("barriers of the root group", [] {
    Bundle all = built("ITEMS mirror(int *p, int *r) {\n"
                       "  auto root = sx::this_work_item::get_root_group<1>();\n"
                       "  int i = ITEM.get_global_linear_id(), n = ITEM.get_global_range(0);\n"
                       "  p[i] = i;\n"
                       "  sycl::group_barrier(root);\n"
                       "  r[i] = p[n - 1 - i];\n"
                       "  sycl::group_barrier(root);\n"
                       "  p[i] = r[i] + 1;\n"
                       "}\n");
    Shared<int> p(24 * 32), r(24 * 32);
    sx::launch_config config{sycl::nd_range<1>(24 * 32, 32), sx::properties{sx::use_root_sync}};
    q.submit([&](sycl::handler &h) { sx::nd_launch(h, config, all.ext_oneapi_get_kernel("mirror"), p.at, r.at); }).wait();
    return p.is([](size_t i) { return 24 * 32. - i; });
  });
}

static void matrices() {
  if (!has("matrix", q.get_device().has(sycl::aspect::ext_intel_matrix))) return;
  part("joint matrix", [&] {
    Bundle all = built(R"(
using namespace sx::matrix;
using b16 = sycl::ext::oneapi::bfloat16;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sx::nd_range_kernel<2>)) void product(b16 *a, b16 *b, float *c) {
  auto global = [](auto *p) {
    return sycl::address_space_cast<sycl::access::address_space::global_space, sycl::access::decorated::no>(p);
  };
  auto sg = sycl::ext::oneapi::this_work_item::get_sub_group();
  joint_matrix<sycl::sub_group, b16, use::a, 8, 16, layout::row_major> A;
  joint_matrix<sycl::sub_group, b16, use::b, 16, 16, layout::row_major> B;
  joint_matrix<sycl::sub_group, float, use::accumulator, 8, 16> C;
  joint_matrix_fill(sg, C, 1.0f);
  for (int i = 0; i < 2; i++) {
    joint_matrix_load(sg, A, global(a) + i * 16, 32);
    joint_matrix_load(sg, B, global(b) + i * 256, 16);
    joint_matrix_mad(sg, C, A, B, C);
  }
  joint_matrix_store(sg, C, global(c), 16, layout::row_major);
}
)");
    using b16 = sycl::ext::oneapi::bfloat16;
    b16 *a = sycl::malloc_shared<b16>(256, q), *b = sycl::malloc_shared<b16>(512, q);
    for (int i = 0; i < 256; i++) a[i] = float(i % 13) - 6;
    for (int i = 0; i < 512; i++) b[i] = float(i % 7) - 3;
    Shared<float> c(128);
    q.submit([&](sycl::handler &h) {
       h.set_args(a, b, c.at);
       h.parallel_for(sycl::nd_range<2>({1, 16}, {1, 16}), all.ext_oneapi_get_kernel("product"));
     }).wait();
    auto said = c.is([&](size_t at) {
      float sum = 1;
      for (size_t l = 0; l < 32; l++) sum += float(a[at / 16 * 32 + l]) * float(b[l * 16 + at % 16]);
      return double(sum);
    });
    sycl::free(a, q), sycl::free(b, q);
    return said;
  });
}

// One kernel each: 4 threads of 16 elements; element i of `p` (64 floats) and of `n` (64 ints) is i before.
struct Explicit {
  const char *name, *body;
  std::function<double(size_t)> p, n;
};

static double same(size_t i) { return double(i); }

static const std::vector<Explicit> EXPLICIT = {
    {"blocks", "v = v * 2 + 1;", [](size_t i) { return 2. * i + 1; }, same},
    {"regions", "auto even = v.select<8, 2>(0); even = even + 100; v.select<8, 2>(1) = -1;",
     [](size_t i) { return i % 2 ? -1. : i + 100.; }, same},
    {"masks", "v.merge(-v, (m & 1) == 1);", [](size_t i) { return i % 2 ? -double(i) : i; }, same},
    {"sums", "v = xe::reduce<float>(v, std::plus<>());", [](size_t i) { return 16. * (i / 16 * 16) + 120; }, same},
    {"largest", "v = xe::hmax<float>(v) - xe::hmin<float>(v); m = xe::hmax<int>(m);", [](size_t) { return 15.; },
     [](size_t i) { return i / 16 * 16 + 15.; }},
    {"gathers", "xe::simd<uint32_t, 16> o(60, -4); v = xe::gather<float, 16>(p + i * 16, o);",
     [](size_t i) { return i / 16 * 16 + 15. - i % 16; }, same},
    {"scatters", "xe::simd<uint32_t, 16> o(60, -4); xe::scatter<int, 16>(n + i * 16, o, m * 10); "
                 "m = xe::gather<int, 16>(n + i * 16, o) / 5; xe::scatter<int, 16>(n + i * 16, o, m); "
                 "m.copy_from(n + i * 16);",
     same, [](size_t i) { return 2 * (i / 16 * 16 + 15. - i % 16); }},
    {"masked gathers", "xe::simd<uint32_t, 16> o(0, 4); v = xe::gather<float, 16>(p + i * 16, o, m < 8, xe::simd<float, 16>(-5.f));",
     [](size_t i) { return i < 8 ? i : -5.; }, same},
    {"square roots", "v = xe::sqrt(v * v) + xe::inv(v + 1) * (v + 1);", [](size_t i) { return i + 1.; }, same},
    {"exponents", "v = xe::log2(xe::exp2(v * 0.25f)) * 4;", same, same},
    {"angles", "v = xe::sin(v) * xe::sin(v) + xe::cos(v) * xe::cos(v);", [](size_t) { return 1.; }, same},
    {"rounding", "v = xe::floor<float>(v * 0.5f) + xe::ceil<float>(v * 0.5f);", same, same},
    {"saturation", "xe::simd<unsigned char, 16> u = xe::convert<unsigned char>(xe::saturate<unsigned char>(m * 8)); m = u;", same,
     [](size_t i) { return std::min(8. * i, 255.); }},
    {"bits", "xe::simd<uint32_t, 16> u = m; m = xe::cbit(u);", same, [](size_t i) { return __builtin_popcount(i); }},
    {"first bits", "xe::simd<uint32_t, 16> u = m | 0x10000; m = xe::fbl(u);", same,
     [](size_t i) { return i ? __builtin_ctz(i) : 16.; }},
    {"shifts", "xe::simd<uint32_t, 16> u = m; m = xe::rol<uint32_t>(u, 4) + xe::ror<uint32_t>(u << 8, 8) + xe::lsr<uint32_t>(u, 1);",
     same, [](size_t i) { return 17. * i + i / 2; }},
    {"packed masks", "bool four = xe::pack_mask((m & 3) == 0) == 0x1111; m = 0; "
                     "if (four) m.merge(1, xe::unpack_mask<16>(0x00ff));",
     same, [](size_t i) { return i % 16 < 8; }},
    {"local memory", "xe::slm_init<256>(); xe::slm_block_store<int, 16>(i * 64, m); xe::barrier(); "
                     "m = xe::slm_block_load<int, 16>((i ^ 1) * 64);",
     same, [](size_t i) { return (i / 16 ^ 1) * 16 + i % 16; }},
    {"atomics", "xe::simd<uint32_t, 16> o(0, 4); "
                "v = xe::convert<float>(xe::atomic_update<xe::atomic_op::add, int, 16>(n + i * 16, o, xe::simd<int, 16>(3), 1)); "
                "m.copy_from(n + i * 16);",
     same, [](size_t i) { return i + 3.; }},
    {"products of bytes", "m = xe::dp4a<int, int, int, int, 16>(m, m * 0 + 0x01010101, m * 0 + 0x02020202);", same,
     [](size_t i) { return i + 8.; }},
    {"long products", "xe::simd<int64_t, 16> w = m; w = w * (int64_t(1) << 32) * 3; m = xe::convert<int>(w >> 32);", same,
     [](size_t i) { return 3. * i; }},
    {"views", "auto w = v.bit_cast_view<int, 4, 4>(); auto column = w.select<4, 1, 1, 1>(0, 2); "
              "xe::simd<int, 4> z = column; z = 0; column = z;",
     [](size_t i) { return i % 4 == 2 ? 0. : i; }, same},
    {"indices", "xe::simd<uint16_t, 16> o(15, -1); v = v.iselect(o);", [](size_t i) { return i / 16 * 16 + 15. - i % 16; }, same},
    {"halves", "xe::simd<sycl::half, 16> h = xe::convert<sycl::half>(v); h = h * sycl::half(0.5f); v = xe::convert<float>(h);",
     [](size_t i) { return i * .5; }, same},
    {"loops", "for (int k = 0; k < i + 1; k++) { if (k % 2) v += 10; else m += 1; }",
     [](size_t i) { return i + 10. * ((i / 16 + 1) / 2); }, [](size_t i) { return i + double((i / 16 + 2) / 2); }},
    {"division", "v = v / (v + 1); m = m / 7 * 7 + m % 7;", [](size_t i) { return i / (i + 1.); }, same},
    {"minima", "v = xe::min(v, 20.f) + xe::max(xe::abs<float>(-v), 30.f);",
     [](size_t i) { return std::min<double>(i, 20) + std::max<double>(i, 30); }, same},
};

static void explicit_vectors() {
  if (!has("ESIMD", q.get_device().has(sycl::aspect::ext_intel_esimd))) return;
  std::string text;
  for (size_t k = 0; k < EXPLICIT.size(); k++)
    text += "ESIMD e" + std::to_string(k) + "(float *p, int *n) {\n  int i = ITEM.get_global_id(0);\n"
            "  xe::simd<float, 16> v; xe::simd<int, 16> m;\n  v.copy_from(p + i * 16); m.copy_from(n + i * 16);\n  " +
            EXPLICIT[k].body + "\n  v.copy_to(p + i * 16); m.copy_to(n + i * 16);\n}\n";
  part("ESIMD", [&] {
    Bundle all = built(text);
    for (size_t k = 0; k < EXPLICIT.size(); k++) part((std::string("ESIMD, ") + EXPLICIT[k].name).c_str(), [&] {
      Shared<float> p(64, 0, 1);
      Shared<int> n(64, 0, 1);
      run(all.ext_oneapi_get_kernel("e" + std::to_string(k)), 4, 4, p.at, n.at);
      std::string said = p.is(EXPLICIT[k].p, 1e-3);
      return said.empty() ? n.is(EXPLICIT[k].n) : said;
    });
    return std::string();
  });
}

static void graphs() {
  bool whole = q.get_device().has(sycl::aspect::ext_oneapi_graph);
  if (!has("graphs", whole || q.get_device().has(sycl::aspect::ext_oneapi_limited_graph))) return;
  Bundle all = built("ITEMS twice(int *p) { p[ITEM.get_global_id(0)] *= 2; }\n"
                     "ITEMS add(int *p, int by) { p[ITEM.get_global_id(0)] += by; }\n");
  auto twice = all.ext_oneapi_get_kernel("twice"), add = all.ext_oneapi_get_kernel("add");
  auto on = [](const sycl::kernel &k, auto... args) {
    return [=](sycl::handler &h) {
      h.set_args(args...);
      h.parallel_for(sycl::nd_range<1>(64, 16), k);
    };
  };
  part("a graph that was recorded", [&] {
    Shared<int> p(64, 0, 1);
    sx::command_graph graph(q.get_context(), q.get_device());
    graph.begin_recording(q);
    q.submit(on(twice, p.at));
    q.submit(on(add, p.at, 3));
    graph.end_recording();
    auto ready = graph.finalize();
    for (int i = 0; i < 3; i++) q.ext_oneapi_graph(ready);
    q.wait();
    return p.is([](size_t i) { return 8. * i + 21; });
  });
  part("a graph of nodes", [&] {
    Shared<int> p(64, 0, 1), r(64);
    sx::command_graph graph(q.get_context(), q.get_device());
    auto first = graph.add(on(twice, p.at));
    auto second = graph.add(on(add, p.at, 1), sx::property::node::depends_on(first));
    graph.add([&](sycl::handler &h) { h.memcpy(r.at, p.at, 256); }, sx::property::node::depends_on(second));
    auto ready = graph.finalize();
    q.ext_oneapi_graph(ready);
    q.ext_oneapi_graph(ready);
    q.wait();
    return r.is([](size_t i) { return 4. * i + 3; });
  });
  if (has("changes", whole)) part("a graph that is changed", [&] {
    Shared<int> p(64, 0, 1), r(64, 0, 1);
    sx::command_graph graph(q.get_context(), q.get_device());
    sx::dynamic_parameter at(p.at);
    auto node = graph.add([&](sycl::handler &h) {
      h.set_arg(0, at);
      h.set_arg(1, 5);
      h.parallel_for(sycl::nd_range<1>(64, 16), add);
    });
    auto ready = graph.finalize(sx::property::graph::updatable{});
    q.ext_oneapi_graph(ready).wait();
    at.update(r.at);
    node.update_nd_range(sycl::nd_range<1>(32, 16));
    ready.update(node);
    q.ext_oneapi_graph(ready).wait();
    auto said = p.is([](size_t i) { return i + 5.; });
    return said.empty() ? r.is([](size_t i) { return i < 32 ? i + 5. : i; }) : said;
  });
}

static void variables() {
  part("a variable of the device", [&] {
    Bundle all = built("sx::device_global<int[4]> table;\n"
                       "ITEMS put(int *p) { int i = ITEM.get_global_id(0); p[i] = table[i]; table[i] = i + 40; }\n");
    Shared<int> p(4), r(4, 7, 1);
    void *table = all.ext_oneapi_get_device_global_address("table", q.get_device());
    q.memcpy(table, r.at, 16).wait();
    run(all.ext_oneapi_get_kernel("put"), 4, 4, p.at);
    q.memcpy(r.at, table, 16).wait();
    auto said = p.is([](size_t i) { return i + 7.; });
    return said.empty() ? r.is([](size_t i) { return i + 40.; }) : said;
  });
}

static void assertion() {
  Bundle all = built("TASK checked(int *p) { assert(p[0] == 1); p[0] = 2; }\n");
  Shared<int> p(1, 3);
  q.submit([&](sycl::handler &h) { h.set_args(p.at); h.single_task(all.ext_oneapi_get_kernel("checked")); }).wait();
}

int main(int argc, char **argv) {
  if (argc > 1 && std::string(argv[1]) == "assert") {
    assertion();
    return 1;
  }
  lacks.insert(argv + 1, argv + argc);
  std::cout << q.get_device().get_info<sycl::info::device::name>() << std::endl;
  groups();
  root_group();
  matrices();
  explicit_vectors();
  graphs();
  variables();
  std::cout << failures << " failed" << std::endl;
  return failures;
}
