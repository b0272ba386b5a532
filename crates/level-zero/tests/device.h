/* What the programs beside this file share: the first device with a context, and a count of what failed. */
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static int failures;

#define CHECK(what) do { if (!(what)) { failures++; printf("line %d: %s\n", __LINE__, #what); } } while (0)
#define IS(call, code) do { int is_ = (call); if (is_ != (int)(code)) { failures++; printf("line %d: %s is %x\n", __LINE__, #call, is_); } } while (0)
#define OK(call) IS(call, ZE_RESULT_SUCCESS)

static inline void start(void) {
    uint32_t one = 1;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    one = 1;
    OK(zeDeviceGet(driver, &one, &device));
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(driver, &desc, &context));
}

static inline void *shared(size_t bytes) {
    void *made = 0;
    ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    OK(zeMemAllocShared(context, &on_device, &on_host, bytes, 64, device, &made));
    memset(made, 0, bytes);
    return made;
}

static inline ze_module_handle_t module_of(ze_module_format_t format, const uint8_t *code, size_t size, ze_result_t code_wanted) {
    ze_module_handle_t made = 0;
    ze_module_build_log_handle_t log = 0;
    ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC, 0, format, size, code, 0, 0};
    ze_result_t is = zeModuleCreate(context, device, &desc, &made, &log);
    if (is != code_wanted) {
        static char text[1 << 16];
        size_t length = sizeof text;
        zeModuleBuildLogGetString(log, &length, text);
        printf("module: %x\n%s\n", is, text);
        failures++;
    }
    if (log) OK(zeModuleBuildLogDestroy(log));
    return made;
}

static inline uint8_t *content(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    static uint8_t bytes[1 << 20];
    *size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    CHECK(*size > 0);
    return bytes;
}

static inline ze_module_handle_t module_in(const char *path) {
    size_t size;
    uint8_t *code = content(path, &size);
    return module_of(ZE_MODULE_FORMAT_IL_SPIRV, code, size, ZE_RESULT_SUCCESS);
}

static inline ze_kernel_handle_t kernel_of(ze_module_handle_t module, const char *name) {
    ze_kernel_handle_t made = 0;
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, 0, 0, name};
    OK(zeKernelCreate(module, &desc, &made));
    return made;
}

static inline ze_command_list_handle_t immediate(ze_command_queue_mode_t mode) {
    ze_command_list_handle_t made = 0;
    ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, 0, 0, 0, 0, mode, 0};
    OK(zeCommandListCreateImmediate(context, device, &desc, &made));
    return made;
}

static inline ze_event_pool_handle_t pool_of(uint32_t count, ze_event_pool_flags_t flags) {
    ze_event_pool_handle_t made = 0;
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, 0, flags, count};
    OK(zeEventPoolCreate(context, &desc, 1, &device, &made));
    return made;
}

static inline ze_event_handle_t event_of(ze_event_pool_handle_t pool, uint32_t index) {
    ze_event_handle_t made = 0;
    ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, 0, index, ZE_EVENT_SCOPE_FLAG_HOST, ZE_EVENT_SCOPE_FLAG_HOST};
    OK(zeEventCreate(pool, &desc, &made));
    return made;
}

static inline int ended(void) {
    if (context) OK(zeContextDestroy(context));
    printf("%d failures\n", failures);
    return failures > 100 ? 100 : failures;
}
