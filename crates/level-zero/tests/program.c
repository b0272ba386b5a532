/* Modules, kernels, lists and events as programs use them: the arguments are modules in SPIR-V; with
   another one, no kernel does what checkers report instead. */
#include "device.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1024 };

static const ze_group_count_t GROUPS = {N / 64, 1, 1};

static void set(ze_kernel_handle_t kernel, uint32_t index, const void *pointer) {
    OK(zeKernelSetArgumentValue(kernel, index, sizeof pointer, &pointer));
}

static void vectors(ze_module_handle_t module) {
    float *a = shared(N * 4), *b = shared(N * 4), *c = shared(N * 4);
    for (int i = 0; i < N; i++) { a[i] = i; b[i] = 2 * i; }
    ze_kernel_handle_t add = kernel_of(module, "add");
    set(add, 0, a); set(add, 1, b); set(add, 2, c);
    OK(zeKernelSetGroupSize(add, 64, 1, 1));
    /* A regular list, twice, with a fence. */
    ze_command_queue_handle_t queue;
    ze_command_queue_desc_t order = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    OK(zeCommandQueueCreate(context, device, &order, &queue));
    ze_command_list_handle_t list;
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    OK(zeCommandListCreate(context, device, &desc, &list));
    OK(zeCommandListAppendLaunchKernel(list, add, &GROUPS, 0, 0, 0));
    OK(zeCommandListAppendBarrier(list, 0, 0, 0));
    OK(zeCommandListAppendMemoryCopy(list, a, c, N * 4, 0, 0, 0));
    IS(zeCommandQueueExecuteCommandLists(queue, 1, &list, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListClose(list));
    OK(zeCommandListAppendBarrier(list, 0, 0, 0));
    /* The arguments are those of the time of the append. */
    set(add, 0, b);
    ze_fence_handle_t fence;
    ze_fence_desc_t fresh = {ZE_STRUCTURE_TYPE_FENCE_DESC};
    OK(zeFenceCreate(queue, &fresh, &fence));
    IS(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    for (int turn = 1; turn <= 2; turn++) {
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
        OK(zeFenceHostSynchronize(fence, UINT64_MAX));
        OK(zeFenceQueryStatus(fence));
        OK(zeFenceReset(fence));
        for (int i = 0; i < N; i += 101) CHECK(a[i] == i + 2.0f * turn * i);
    }
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    OK(zeCommandListReset(list));
    OK(zeCommandListDestroy(list));
    OK(zeFenceDestroy(fence));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(add));
    OK(zeMemFree(context, a)); OK(zeMemFree(context, b)); OK(zeMemFree(context, c));
}

/* Commands that wait for the host do not hold the call that appends them. */
static void events(ze_module_handle_t module) {
    int *x = shared(N * 4);
    ze_kernel_handle_t scale = kernel_of(module, "scale");
    int by = 3;
    set(scale, 0, x);
    OK(zeKernelSetArgumentValue(scale, 1, sizeof by, &by));
    OK(zeKernelSetArgumentValue(scale, 2, 64 * 4, 0));
    OK(zeKernelSetGroupSize(scale, 64, 1, 1));
    ze_event_pool_handle_t pool = pool_of(4, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_event_handle_t go = event_of(pool, 0), done = event_of(pool, 1), other = event_of(pool, 2), none;
    ze_event_desc_t beyond = {ZE_STRUCTURE_TYPE_EVENT_DESC, 0, 4, 0, 0};
    IS(zeEventCreate(pool, &beyond, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t second = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    int one = 1;
    OK(zeCommandListAppendMemoryFill(list, x, &one, sizeof one, N * 4, 0, 1, &go));
    /* Memory that is freed when no command is left. */
    int *kept = shared(4);
    ze_kernel_handle_t count = kernel_of(module, "count");
    set(count, 0, kept);
    OK(zeKernelSetGroupSize(count, 1, 1, 1));
    OK(zeCommandListAppendLaunchKernel(list, count, &(ze_group_count_t){1, 1, 1}, 0, 0, 0));
    ze_memory_free_ext_desc_t deferred = {ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, 0, ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    OK(zeMemFreeExt(context, &deferred, kept));
    OK(zeKernelDestroy(count));
    OK(zeCommandListAppendLaunchKernel(list, scale, &GROUPS, done, 0, 0));
    OK(zeCommandListAppendSignalEvent(second, other));
    OK(zeEventHostSynchronize(other, UINT64_MAX));
    IS(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
    IS(zeEventHostSynchronize(done, 1000), ZE_RESULT_NOT_READY);
    CHECK(x[0] == 0);
    OK(zeEventHostSignal(go));
    OK(zeEventHostSynchronize(done, UINT64_MAX));
    for (int i = 0; i < N; i += 101) CHECK(x[i] == 3 + 1 + i % 4);
    ze_kernel_timestamp_result_t times;
    OK(zeEventQueryKernelTimestamp(done, &times));
    CHECK(times.global.kernelEnd > times.global.kernelStart && times.context.kernelEnd == times.global.kernelEnd);
    ze_kernel_timestamp_result_t *there = shared(2 * sizeof *there);
    ze_event_handle_t both[2] = {done, other};
    OK(zeCommandListAppendQueryKernelTimestamps(list, 2, both, there, 0, 0, 0, 0));
    uint64_t *clock = shared(8);
    OK(zeCommandListAppendWriteGlobalTimestamp(list, clock, 0, 0, 0));
    /* Events are reset by the host and by commands. */
    OK(zeEventHostReset(go));
    IS(zeEventQueryStatus(go), ZE_RESULT_NOT_READY);
    OK(zeCommandListAppendEventReset(list, done));
    OK(zeCommandListAppendSignalEvent(list, go));
    OK(zeCommandListAppendWaitOnEvents(second, 1, &go));
    OK(zeCommandListAppendBarrier(second, 0, 0, 0));
    ze_command_list_handle_t sync = immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    OK(zeCommandListAppendWaitOnEvents(sync, 1, &go));
    OK(zeEventQueryStatus(go));
    IS(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
    CHECK(!memcmp(there, &times, sizeof times) && *clock >= times.global.kernelEnd);
    OK(zeCommandListDestroy(sync)); OK(zeCommandListDestroy(second));
    /* A list that waits for what never comes can be destroyed. */
    OK(zeCommandListAppendWaitOnEvents(list, 1, &done));
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(go)); OK(zeEventDestroy(done)); OK(zeEventDestroy(other));
    OK(zeEventPoolDestroy(pool));
    OK(zeKernelDestroy(scale));
    OK(zeMemFree(context, x)); OK(zeMemFree(context, there)); OK(zeMemFree(context, clock));
}

static void modules(ze_module_handle_t module) {
    uint32_t count = 0;
    OK(zeModuleGetKernelNames(module, &count, 0));
    const char *names[8] = {0};
    OK(zeModuleGetKernelNames(module, &count, names));
    CHECK(count == 6 && !strcmp(names[0], "add"));
    ze_kernel_desc_t missing = {ZE_STRUCTURE_TYPE_KERNEL_DESC, 0, 0, "missing"};
    ze_kernel_handle_t none;
    IS(zeKernelCreate(module, &missing, &none), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    /* As a binary, and back. */
    size_t size = 0;
    OK(zeModuleGetNativeBinary(module, &size, 0));
    uint8_t *bytes = malloc(size);
    OK(zeModuleGetNativeBinary(module, &size, bytes));
    ze_module_handle_t again = module_of(ZE_MODULE_FORMAT_NATIVE, bytes, size, ZE_RESULT_SUCCESS);
    module_of(ZE_MODULE_FORMAT_NATIVE, bytes, size / 2, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    module_of(ZE_MODULE_FORMAT_IL_SPIRV, (const uint8_t *)"no module", 9, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    free(bytes);
    /* Variables of a module are those of its kernels; the host reads and writes them by copies. */
    void *counter = 0;
    OK(zeModuleGetGlobalPointer(again, "counter", &size, &counter));
    CHECK(size == 4 && counter);
    IS(zeModuleGetGlobalPointer(again, "missing", &size, &counter), ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    int value = 7, read = 0, *x = shared(4);
    OK(zeCommandListAppendMemoryCopy(list, counter, &value, 4, 0, 0, 0));
    ze_kernel_handle_t kernel = kernel_of(again, "count");
    set(kernel, 0, x);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){1, 1, 1}, 0, 0, 0));
    OK(zeCommandListAppendMemoryCopy(list, &read, counter, 4, 0, 0, 0));
    CHECK(x[0] == 7 && read == 8);
    IS(zeCommandListAppendMemoryCopy(list, &read, (char *)counter + 2, 1 << 20, 0, 0, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    OK(zeModuleDynamicLink(1, &again, 0));
    ze_module_properties_t properties = {ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    OK(zeModuleGetProperties(again, &properties));
    CHECK(properties.flags == 0);
    /* Kernels and commands keep the module. */
    OK(zeModuleDestroy(again));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){1, 1, 1}, 0, 0, 0));
    CHECK(x[0] == 8);
    OK(zeKernelDestroy(kernel)); OK(zeCommandListDestroy(list)); OK(zeMemFree(context, x));
}

static void kernels(ze_module_handle_t module, int checked) {
    ze_kernel_handle_t fixed = kernel_of(module, "fixed"), chase = kernel_of(module, "chase");
    ze_kernel_properties_t properties = {ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    OK(zeKernelGetProperties(fixed, &properties));
    CHECK(properties.numKernelArgs == 1 && properties.requiredGroupSizeX == 16 && properties.maxSubgroupSize >= 8);
    IS(zeKernelSetGroupSize(fixed, 32, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    IS(zeKernelSetGroupSize(chase, 1 << 20, 1 << 20, 1 << 20), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    IS(zeKernelSetArgumentValue(fixed, 1, 8, 0), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    IS(zeKernelSetArgumentValue(fixed, 0, 4, &module), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    uint32_t x, y, z;
    OK(zeKernelSuggestGroupSize(fixed, 64, 1, 1, &x, &y, &z));
    CHECK(x == 16 && y == 1 && z == 1);
    OK(zeKernelSuggestGroupSize(chase, 96, 6, 1, &x, &y, &z));
    CHECK(x && y && z && 96 % x == 0 && 6 % y == 0);
    char name[8];
    size_t size = sizeof name;
    OK(zeKernelGetName(fixed, &size, name));
    CHECK(size == 6 && !strcmp(name, "fixed"));
    /* Groups that memory says, and pointers in memory. */
    int *a = shared(64 * 4), *b = shared(64 * 4), *sum = shared(4), **all = shared(2 * sizeof *all);
    ze_group_count_t *groups = shared(sizeof *groups);
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    *groups = (ze_group_count_t){3, 1, 1};
    set(fixed, 0, a);
    OK(zeCommandListAppendLaunchKernelIndirect(list, fixed, groups, 0, 0, 0));
    CHECK(a[15] == 0 && a[16] == 1 && a[47] == 2 && a[48] == 0);
    all[0] = a + 16; all[1] = b; b[2] = 40;
    set(chase, 0, all); set(chase, 1, sum);
    OK(zeKernelSetIndirectAccess(chase, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
    OK(zeCommandListAppendLaunchKernel(list, chase, &(ze_group_count_t){1, 1, 1}, 0, 0, 0));
    CHECK(*sum == 41);
    /* Groups that wait for each other: all that can, and no more. */
    ze_kernel_handle_t meet = kernel_of(module, "meet");
    uint32_t most = 0, more = 0;
    OK(zeKernelSetGroupSize(meet, 16, 1, 1));
    OK(zeKernelSuggestMaxCooperativeGroupCount(meet, &most));
    OK(zeKernelSetGroupSize(meet, 8, 1, 1));
    OK(zeKernelSuggestMaxCooperativeGroupCount(meet, &more));
    CHECK(most > 1 && more >= most);
    if (more > 200) more = 200;
    int *met = shared(more * 8 * 4), *count = shared(4);
    set(meet, 0, met); set(meet, 1, count);
    OK(zeCommandListAppendLaunchCooperativeKernel(list, meet, &(ze_group_count_t){more, 1, 1}, 0, 0, 0));
    for (uint32_t i = 0; i < more * 8; i++) CHECK(met[i] == (int)more);
    IS(zeCommandListAppendLaunchCooperativeKernel(list, meet, &(ze_group_count_t){1 << 20, 1, 1}, 0, 0, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeKernelDestroy(meet)); OK(zeMemFree(context, met)); OK(zeMemFree(context, count));
    /* A fault is the list's, and the next wait starts anew. */
    all[0] = 0;
    if (!checked) IS(zeCommandListAppendLaunchKernel(list, chase, &(ze_group_count_t){1, 1, 1}, 0, 0, 0), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeCommandListAppendBarrier(list, 0, 0, 0));
    OK(zeCommandListDestroy(list)); OK(zeKernelDestroy(fixed)); OK(zeKernelDestroy(chase));
    OK(zeMemFree(context, a)); OK(zeMemFree(context, b)); OK(zeMemFree(context, sum)); OK(zeMemFree(context, all));
    OK(zeMemFree(context, groups));
}

/* Small copies between memory of a device and what is the host's alone end before the call returns, unless they wait for an
   event; what takes long is before them. Devices that are part of the processor have no memory of their own. */
static void copies_at_once(void) {
    enum { SMALL = 1 << 10, LARGE = 1 << 22, ROUNDS = 8 };
    static char small[SMALL], large[LARGE];
    ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(device, &properties));
    if (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) return;
    ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    char *there, *much;
    OK(zeMemAllocDevice(context, &desc, LARGE, 64, device, (void **)&there));
    OK(zeMemAllocDevice(context, &desc, 1 << 24, 64, device, (void **)&much));
    ze_event_pool_handle_t pool = pool_of(2, 0);
    ze_event_handle_t event = event_of(pool, 0), copied = event_of(pool, 1);
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    for (char round = 1; round <= ROUNDS; round++) {
        memset(large, round, LARGE);
        OK(zeCommandListAppendMemoryFill(list, much, &round, 1, 1 << 24, 0, 0, 0));
        OK(zeCommandListAppendMemoryCopy(list, there, large, LARGE, 0, 0, 0));
        memset(large, 0, LARGE);
        OK(zeCommandListAppendMemoryFill(list, much, &round, 1, 1 << 24, 0, 0, 0));
        OK(zeCommandListAppendMemoryCopy(list, small, there + LARGE - SMALL, SMALL, 0, 0, 0));
        CHECK(small[0] == round && small[SMALL - 1] == round);
    }
    memset(small, 0, SMALL);
    OK(zeCommandListAppendMemoryCopy(list, small, there, SMALL, copied, 1, &event));
    CHECK(small[0] == 0);
    OK(zeEventHostSignal(event));
    OK(zeEventHostSynchronize(copied, UINT64_MAX));
    CHECK(small[0] == ROUNDS);
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(event)); OK(zeEventDestroy(copied)); OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(context, there)); OK(zeMemFree(context, much));
}

static void memory(void) {
    char *a = shared(4096);
    ze_memory_allocation_properties_t properties = {ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t on = 0;
    OK(zeMemGetAllocProperties(context, a + 100, &properties, &on));
    CHECK(properties.type == ZE_MEMORY_TYPE_SHARED && on == device);
    OK(zeMemGetAllocProperties(context, &properties, &properties, &on));
    CHECK(properties.type == ZE_MEMORY_TYPE_UNKNOWN && !on);
    void *base; size_t size;
    OK(zeMemGetAddressRange(context, a + 100, &base, &size));
    CHECK(base == a && size == 4096);
    /* Boxes: 4 by 3 bytes from (1, 1) to (5, 2). */
    char host[8 * 8];
    for (int i = 0; i < 64; i++) host[i] = i;
    ze_copy_region_t to = {5, 2, 0, 4, 3, 0}, from = {1, 1, 0, 4, 3, 0};
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    OK(zeCommandListAppendMemoryCopyRegion(list, a, &to, 16, 0, host, &from, 8, 0, 0, 0, 0));
    for (int y = 0; y < 8; y++) for (int x = 0; x < 16; x++) {
        int inside = x >= 5 && x < 9 && y >= 2 && y < 5;
        CHECK(a[y * 16 + x] == (inside ? (y - 1) * 8 + x - 4 : 0));
    }
    /* Rows may reach into each other, and the pitch of a single row does not count. */
    ze_copy_region_t rows = {0, 0, 0, 4, 3, 0}, row = {0, 0, 0, 4, 1, 1};
    OK(zeCommandListAppendMemoryCopyRegion(list, a, &rows, 4, 0, host, &rows, 2, 0, 0, 0, 0));
    CHECK(a[3] == 3 && a[4] == 2 && a[8] == 4 && a[11] == 7);
    OK(zeCommandListAppendMemoryCopyRegion(list, a, &row, 1, 1, host + 8, &row, 1, 1, 0, 0, 0));
    CHECK(a[0] == 8 && a[3] == 11 && a[4] == 2);
    ze_copy_region_t dense = {0, 0, 0, 1024, 1 << 30, 1}, deep = {0, 0, 0, 1, ~0u, ~0u};
    IS(zeCommandListAppendMemoryCopyRegion(list, a, &dense, 1, 0, host, &dense, 1, 0, 0, 0, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    IS(zeCommandListAppendMemoryCopyRegion(list, a, &deep, 1, 1, host, &deep, 1, 1, 0, 0, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    char *odd;
    OK(zeMemAllocDevice(context, &(ze_device_mem_alloc_desc_t){ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC}, 100, 24, device, (void **)&odd));
    CHECK((size_t)odd % 32 == 0);
    OK(zeMemFree(context, odd));
    short pattern = 0x1234;
    OK(zeCommandListAppendMemoryFill(list, a, &pattern, 2, 100, 0, 0, 0));
    CHECK(a[0] == 0x34 && a[99] == 0x12);
    IS(zeCommandListAppendMemoryFill(list, a, &pattern, 3, 99, 0, 0, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    IS(zeCommandListAppendMemoryFill(list, a, &pattern, 2, 1 << 20, 0, 0, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(context, a));
    IS(zeMemFree(context, a), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void images(const char *path) {
    ze_device_image_properties_t limits = {ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES};
    OK(zeDeviceGetImageProperties(device, &limits));
    ze_image_desc_t desc = {ZE_STRUCTURE_TYPE_IMAGE_DESC, 0, ZE_IMAGE_FLAG_KERNEL_WRITE, ZE_IMAGE_TYPE_2D,
        {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UINT, 0, 1, 2, 3}, 8, 8, 0, 0, 0};
    ze_image_handle_t from = 0, to = 0;
    if (!limits.maxImageDims2D) {
        IS(zeImageCreate(context, device, &desc, &from), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        return;
    }
    OK(zeImageCreate(context, device, &desc, &from));
    OK(zeImageCreate(context, device, &desc, &to));
    ze_sampler_handle_t sampler;
    ze_sampler_desc_t nearest = {ZE_STRUCTURE_TYPE_SAMPLER_DESC, 0, ZE_SAMPLER_ADDRESS_MODE_CLAMP, ZE_SAMPLER_FILTER_MODE_NEAREST, 0};
    OK(zeSamplerCreate(context, device, &nearest, &sampler));
    unsigned texels[64], back[64];
    for (int i = 0; i < 64; i++) texels[i] = i * 0x01010101u;
    ze_module_handle_t module = module_in(path);
    ze_kernel_handle_t flip = kernel_of(module, "flip");
    set(flip, 0, from); set(flip, 1, to); set(flip, 2, sampler);
    OK(zeKernelSetGroupSize(flip, 8, 8, 1));
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    OK(zeCommandListAppendImageCopyFromMemory(list, from, texels, 0, 0, 0, 0));
    OK(zeCommandListAppendLaunchKernel(list, flip, &(ze_group_count_t){1, 1, 1}, 0, 0, 0));
    OK(zeCommandListAppendImageCopyToMemory(list, back, to, 0, 0, 0, 0));
    for (int i = 0; i < 64; i++) CHECK(back[i] == texels[i % 8 * 8 + i / 8]);
    ze_image_region_t corner = {6, 6, 0, 2, 2, 1}, outside = {7, 7, 0, 2, 2, 1};
    OK(zeCommandListAppendImageCopyRegion(list, to, from, &corner, &corner, 0, 0, 0));
    OK(zeCommandListAppendImageCopyToMemory(list, back, to, &corner, 0, 0, 0));
    CHECK(back[1] == texels[6 * 8 + 7] && back[2] == texels[7 * 8 + 6]);
    IS(zeCommandListAppendImageCopyToMemory(list, back, to, &outside, 0, 0, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    IS(zeKernelSetArgumentValue(flip, 0, sizeof sampler, &sampler), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    /* The same bytes as other texels: halves of rows, and words that a kernel reads. */
    ze_image_desc_t bytes = desc, words = desc, large = desc, line = desc;
    bytes.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8; bytes.width = 16;
    words.format.layout = ZE_IMAGE_FORMAT_LAYOUT_32;
    large.height = 9; line.type = ZE_IMAGE_TYPE_1D;
    ze_image_handle_t narrow = 0, wide = 0, none = 0;
    OK(zeImageViewCreateExp(context, device, &bytes, from, &narrow));
    OK(zeImageViewCreateExp(context, device, &words, from, &wide));
    IS(zeImageViewCreateExp(context, device, &large, from, &none), ZE_RESULT_ERROR_INVALID_SIZE);
    IS(zeImageViewCreateExp(context, device, &line, from, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    IS(zeImageViewCreateExp(context, device, &words, (ze_image_handle_t)sampler, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    unsigned char half[8 * 16];
    OK(zeCommandListAppendImageCopyToMemory(list, half, narrow, 0, 0, 0, 0));
    for (int i = 0; i < 128; i++) CHECK(half[i] == (i / 16 * 8 + i % 16 / 4));
    ze_image_region_t first = {0, 0, 0, 1, 1, 1};
    half[0] = 77;
    OK(zeCommandListAppendImageCopyFromMemory(list, narrow, half, &first, 0, 0, 0));
    OK(zeImageDestroy(from));
    set(flip, 0, wide);
    OK(zeCommandListAppendLaunchKernel(list, flip, &(ze_group_count_t){1, 1, 1}, 0, 0, 0));
    OK(zeCommandListAppendImageCopyToMemory(list, back, to, 0, 0, 0, 0));
    /* Words become the first channel of a byte each. */
    for (int i = 0; i < 64; i++) {
        unsigned wanted = i ? texels[i % 8 * 8 + i / 8] : 77;
        CHECK((back[i] & 0xff) == (wanted > 255 ? 255 : wanted));
    }
    OK(zeImageDestroy(narrow)); OK(zeImageDestroy(wide));
    OK(zeImageDestroy(to)); OK(zeSamplerDestroy(sampler));
    OK(zeCommandListDestroy(list)); OK(zeKernelDestroy(flip)); OK(zeModuleDestroy(module));
}

/* The group of each of 32 work-items, at an address. */
static void groups_at(ze_module_handle_t module, int *at) {
    ze_kernel_handle_t fixed = kernel_of(module, "fixed");
    set(fixed, 0, at);
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    OK(zeCommandListAppendLaunchKernel(list, fixed, &(ze_group_count_t){2, 1, 1}, 0, 0, 0));
    OK(zeCommandListDestroy(list));
    OK(zeKernelDestroy(fixed));
}

static void ranges(ze_module_handle_t module) {
    size_t page, bytes;
    char *range;
    ze_memory_access_attribute_t access;
    OK(zeVirtualMemQueryPageSize(context, device, 1, &page));
    OK(zeVirtualMemReserve(context, 0, 4 * page, (void **)&range));
    IS(zeVirtualMemReserve(context, 0, (size_t)1 << 62, (void **)&access), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    IS(zeVirtualMemReserve(context, 0, page + 1, (void **)&access), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    ze_physical_mem_handle_t pages;
    ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, 0, 0, 2 * page};
    OK(zePhysicalMemCreate(context, device, &desc, &pages));
    OK(zeVirtualMemMap(context, range + page, 2 * page, pages, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    IS(zeVirtualMemMap(context, range + page, page, pages, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    IS(zeVirtualMemMap(context, range + 1, page, pages, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    IS(zeVirtualMemMap(context, range, page, pages, 2 * page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    IS(zeVirtualMemMap(context, range, page, pages, 0, 3), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    groups_at(module, (int *)(range + page));
    OK(zeVirtualMemMap(context, range, page, pages, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    for (int i = 0; i < 32; i++) CHECK(((int *)range)[i] == i / 16 && ((int *)(range + page))[i] == i / 16);
    OK(zeVirtualMemSetAccessAttribute(context, range + page, page, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    OK(zeVirtualMemGetAccessAttribute(context, range, page, &access, &bytes));
    CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE && bytes == page);
    IS(zeVirtualMemUnmap(context, range + 2 * page, page), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zePhysicalMemDestroy(context, pages));
    IS(zePhysicalMemDestroy(context, pages), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(((int *)range)[16] == 1);
    OK(zeVirtualMemUnmap(context, range, 3 * page));
    CHECK(((int *)range)[16] == 0);
    IS(zeMemFree(context, range), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    IS(zeVirtualMemFree(context, range, page), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeVirtualMemFree(context, range, 4 * page));
}

static int *opened(const ze_ipc_mem_handle_t *handle) {
    void *there = 0;
    OK(zeMemOpenIpcHandle(context, device, *handle, 0, &there));
    return there;
}

static void read_hex(const char *text, void *to, size_t size) {
    for (size_t i = 0; i < size; i++) sscanf(text + 2 * i, "%2hhx", (unsigned char *)to + i);
}

static void write_hex(char *text, const void *from, size_t size) {
    for (size_t i = 0; i < size; i++) sprintf(text + 2 * i, "%02x", ((const unsigned char *)from)[i]);
}

/* Another process, with the handles of the first one as its arguments: memory, a pool of events, an event. */
static int second_process(char **handles) {
    ze_ipc_mem_handle_t given;
    ze_ipc_event_pool_handle_t events;
    read_hex(handles[0], &given, sizeof given);
    read_hex(handles[1], &events, sizeof events);
    start();
    int *there = opened(&given);
    if (there && there[7] == 42) there[9] = 44;
    OK(zeMemCloseIpcHandle(context, there));
    ze_event_pool_handle_t pool;
    OK(zeEventPoolOpenIpcHandle(context, events, &pool));
    ze_event_handle_t set = event_of(pool, 0), go = event_of(pool, 1), back = event_of(pool, 2), none;
    ze_event_desc_t beyond = {ZE_STRUCTURE_TYPE_EVENT_DESC, 0, 3, 0, 0};
    IS(zeEventCreate(pool, &beyond, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeEventQueryStatus(set));
    /* A command waits for the other process. */
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    OK(zeCommandListAppendWaitOnEvents(list, 1, &go));
    OK(zeCommandListAppendSignalEvent(list, back));
    OK(zeEventHostReset(set));
    OK(zeEventHostSynchronize(back, UINT64_MAX));
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(set)); OK(zeEventDestroy(go)); OK(zeEventDestroy(back));
    OK(zeEventPoolCloseIpcHandle(pool));
    return ended();
}

static void processes(ze_module_handle_t module, char *self) {
    int *a = shared(100000);
    a[7] = 42;
    ze_ipc_mem_handle_t handle, wrong;
    OK(zeMemGetIpcHandle(context, a, &handle));
    IS(zeMemGetIpcHandle(context, &handle, &wrong), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    int *b = opened(&handle);
    CHECK(b && b != a && b[7] == 42);
    groups_at(module, b + 100);
    CHECK(a[100] == 0 && a[116] == 1);
    ze_event_pool_handle_t pool = pool_of(3, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC), alone = pool_of(1, 0);
    ze_event_handle_t set = event_of(pool, 0), go = event_of(pool, 1), back = event_of(pool, 2);
    ze_ipc_event_pool_handle_t events;
    IS(zeEventPoolGetIpcHandle(alone, &events), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeEventPoolGetIpcHandle(pool, &events));
    OK(zeEventHostSignal(set));
    char text[2 * sizeof handle + 1], more[2 * sizeof events + 1];
    write_hex(text, &handle, sizeof handle);
    write_hex(more, &events, sizeof events);
    pid_t child = fork();
    if (!child) execl(self, self, "open", text, more, (char *)0);
    while (zeEventQueryStatus(set) == ZE_RESULT_SUCCESS && !kill(child, 0) && waitpid(child, 0, WNOHANG) == 0) usleep(1000);
    IS(zeEventQueryStatus(back), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(go));
    OK(zeEventHostSynchronize(back, 60000000000));
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(a[9] == 44);
    void *no_memory = 0;
    memcpy(&wrong, &events, sizeof events);
    IS(zeMemOpenIpcHandle(context, device, wrong, 0, &no_memory), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    memcpy(&events, &handle, sizeof handle);
    ze_event_pool_handle_t no_pool;
    IS(zeEventPoolOpenIpcHandle(context, events, &no_pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeEventDestroy(set)); OK(zeEventDestroy(go)); OK(zeEventDestroy(back));
    OK(zeEventPoolDestroy(pool)); OK(zeEventPoolDestroy(alone));
    /* Another file, a place far behind its end, another kind of memory. */
    for (size_t i = 8; i < 36; i++) {
        if (i >= 24 && i < 28) continue;
        wrong = handle;
        wrong.data[i] ^= 0x40;
        void *none = 0;
        IS(zeMemOpenIpcHandle(context, device, wrong, 0, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    OK(zeMemCloseIpcHandle(context, b));
    IS(zeMemCloseIpcHandle(context, b), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(context, a));
    IS(zeMemOpenIpcHandle(context, device, handle, 0, (void **)&b), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/* Kernels reach what malloc gave if the variable says so; two blocks far from each other, and the stack. */
static void system_memory(ze_module_handle_t module) {
    ze_device_memory_access_properties_t access = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    OK(zeDeviceGetMemoryAccessProperties(device, &access));
    const char *is = getenv("VISAKIT_SYSTEM_MEMORY");
    CHECK(!access.sharedSystemAllocCapabilities == !is);
    if (!is) return;
    ze_kernel_handle_t chase = kernel_of(module, "chase");
    int *small = malloc(64 * 4), *large = malloc(1 << 26), sum[4] = {0}, *all[2] = {small + 16, large + (1 << 23)};
    small[17] = 1; large[(1 << 23) + 2] = 40;
    set(chase, 0, all); set(chase, 1, sum + 1);
    ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    OK(zeCommandListAppendLaunchKernel(list, chase, &(ze_group_count_t){1, 1, 1}, 0, 0, 0));
    CHECK(sum[0] == 0 && sum[1] == 41 && sum[2] == 0);
    groups_at(module, large);
    CHECK(large[15] == 0 && large[16] == 1 && large[31] == 1);
    OK(zeCommandListDestroy(list)); OK(zeKernelDestroy(chase));
    free(small); free(large);
}

/* Queues that copy only, and commands that are changed in their list. */
static void groups_of_queues(ze_module_handle_t module) {
    uint32_t many = 0;
    OK(zeDeviceGetCommandQueueGroupProperties(device, &many, 0));
    ze_command_queue_group_properties_t groups[4] = {{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES}};
    CHECK(many == 2);
    OK(zeDeviceGetCommandQueueGroupProperties(device, &many, groups));
    CHECK(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
    CHECK(groups[1].flags == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    ze_command_list_handle_t list;
    for (uint32_t group = 0; group < 3; group++) for (uint32_t index = 0; index < 5; index++) {
        ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, 0, group, index, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0};
        int is = zeCommandListCreateImmediate(context, device, &desc, &list);
        CHECK(is == (group < 2 && index < groups[group].numQueues ? 0 : (int)ZE_RESULT_ERROR_INVALID_ARGUMENT));
        if (is) continue;
        int *x = shared(16 * 4), *y = shared(16 * 4), one = 1;
        ze_kernel_handle_t fixed = kernel_of(module, "fixed");
        set(fixed, 0, y);
        OK(zeCommandListAppendMemoryFill(list, x, &one, 4, 64, 0, 0, 0));
        OK(zeCommandListAppendMemoryCopy(list, y, x, 64, 0, 0, 0));
        CHECK(y[0] == 1 && y[15] == 1);
        IS(zeCommandListAppendLaunchKernel(list, fixed, &(ze_group_count_t){1, 1, 1}, 0, 0, 0), group ? ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE : 0);
        CHECK(y[0] == (int)group && y[15] == (int)group);
        /* What a queue that only copies cannot, one that computes can. */
        int *wide = shared(512), pattern[64];
        for (int i = 0; i < 64; i++) pattern[i] = i + 1;
        IS(zeCommandListAppendMemoryFill(list, wide, pattern, 256, 512, 0, 0, 0), group ? ZE_RESULT_ERROR_INVALID_SIZE : 0);
        CHECK(wide[0] == !group && wide[127] == (group ? 0 : 64));
        IS(zeCommandListAppendMemoryFill(list, wide, pattern, 1UL << 40, 1UL << 40, 0, 0, 0), ZE_RESULT_ERROR_INVALID_SIZE);
        OK(zeMemFree(context, wide));
        OK(zeCommandListDestroy(list)); OK(zeKernelDestroy(fixed)); OK(zeMemFree(context, x)); OK(zeMemFree(context, y));
    }
    /* Lists are for queues of their group. */
    for (uint32_t of_list = 0; of_list < 2; of_list++) for (uint32_t of_queue = 0; of_queue < 2; of_queue++) {
        ze_command_queue_handle_t queue;
        ze_command_queue_desc_t order = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, 0, of_queue, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0};
        ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, 0, of_list, 0};
        OK(zeCommandQueueCreate(context, device, &order, &queue));
        OK(zeCommandListCreate(context, device, &desc, &list));
        int *x = shared(4), one = 1, two = 2;
        OK(zeCommandListAppendMemoryFill(list, x, &one, 4, 4, 0, 0, 0));
        OK(zeCommandListClose(list));
        /* Behind the end. */
        OK(zeCommandListAppendMemoryFill(list, x, &two, 4, 4, 0, 0, 0));
        IS(zeCommandQueueExecuteCommandLists(queue, 1, &list, 0), of_list == of_queue ? 0 : ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
        CHECK(x[0] == (of_list == of_queue));
        OK(zeCommandListDestroy(list)); OK(zeCommandQueueDestroy(queue)); OK(zeMemFree(context, x));
    }
}

static void other_contexts(void) {
    ze_context_handle_t other, first = context;
    ze_context_desc_t plain = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(driver, &plain, &other));
    context = other;
    int *there = shared(16);
    context = first;
    ze_memory_allocation_properties_t properties = {ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t on = 0;
    OK(zeMemGetAllocProperties(context, there, &properties, &on));
    CHECK(properties.type == ZE_MEMORY_TYPE_SHARED && on == device);
    IS(zeMemFree(context, there), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(other, there));
    OK(zeMemGetAllocProperties(context, there, &properties, &on));
    CHECK(properties.type == ZE_MEMORY_TYPE_UNKNOWN);
    OK(zeContextDestroy(other));
}

/* One event makes fills of three queues ready: that of the most urgent queue runs first, though the queue is the last. */
static void priorities(void) {
    static const ze_command_queue_priority_t levels[] = {
        ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW, ZE_COMMAND_QUEUE_PRIORITY_NORMAL, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH,
    };
    ze_event_pool_desc_t of_pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, 0, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 4};
    ze_event_pool_handle_t pool; ze_event_handle_t events[4]; ze_command_list_handle_t lists[3]; uint64_t started[3];
    char *at = shared(1 << 16);
    OK(zeEventPoolCreate(context, &of_pool, 0, 0, &pool));
    for (uint32_t i = 0; i < 4; i++) {
        ze_event_desc_t of_event = {ZE_STRUCTURE_TYPE_EVENT_DESC, 0, i, ZE_EVENT_SCOPE_FLAG_HOST, ZE_EVENT_SCOPE_FLAG_HOST};
        OK(zeEventCreate(pool, &of_event, &events[i]));
    }
    for (int i = 0; i < 3; i++) {
        ze_command_queue_desc_t order = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, 0, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, levels[i]};
        OK(zeCommandListCreateImmediate(context, device, &order, &lists[i]));
        OK(zeCommandListAppendMemoryFill(lists[i], at, "x", 1, 1 << 16, events[i], 1, &events[3]));
    }
    OK(zeEventHostSignal(events[3]));
    for (int i = 0; i < 3; i++) {
        ze_kernel_timestamp_result_t times;
        OK(zeEventHostSynchronize(events[i], UINT64_MAX)); OK(zeEventQueryKernelTimestamp(events[i], &times));
        started[i] = times.global.kernelStart;
        OK(zeCommandListDestroy(lists[i]));
    }
    CHECK(started[2] < started[1] && started[1] < started[0]);
    for (int i = 0; i < 4; i++) OK(zeEventDestroy(events[i]));
    OK(zeEventPoolDestroy(pool)); OK(zeMemFree(context, at));
}

int main(int count, char **paths) {
    if (count < 3) return 2;
    if (!strcmp(paths[1], "open")) return second_process(paths + 2);
    start();
    ze_module_handle_t module = module_in(paths[1]);
    vectors(module);
    events(module);
    modules(module);
    kernels(module, count > 3);
    memory();
    copies_at_once();
    images(paths[2]);
    ranges(module);
    processes(module, paths[0]);
    system_memory(module);
    groups_of_queues(module);
    other_contexts();
    priorities();
    OK(zeModuleDestroy(module));
    return ended();
}
