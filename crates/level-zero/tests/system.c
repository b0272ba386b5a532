/* What the management of systems says of a device. Argument: the driver, which is asked without a loader. */
#include "device.h"
#include <dlfcn.h>
#include <level_zero/zes_api.h>

static void *library;

static ze_result_t (*function(const char *name))() {
    ze_result_t (*found)() = (ze_result_t (*)())dlsym(library, name);
    if (!found) printf("no %s\n", name);
    return found;
}

#define CALL(name, ...) function(#name)(__VA_ARGS__)

static uint64_t free_bytes(zes_mem_handle_t memory, uint64_t size) {
    zes_mem_state_t state = {ZES_STRUCTURE_TYPE_MEM_STATE};
    OK(CALL(zesMemoryGetState, memory, &state));
    CHECK(state.health == ZES_MEM_HEALTH_OK && state.size == size && state.free <= size);
    return state.free;
}

int main(int count, char **names) {
    if (count < 2) return 2;
    library = dlopen(names[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    if (!library) return ended();
    /* What programs with a loader inside begin with. */
    OK(CALL(zeLoaderInit));
    OK(CALL(zelLoaderDriverCheck));
    OK(CALL(zesInit, 0));
    OK(CALL(zesInit, ZE_INIT_FLAG_GPU_ONLY));
    IS(CALL(zesInit, ZE_INIT_FLAG_VPU_ONLY), ZE_RESULT_ERROR_UNINITIALIZED);
    uint32_t one = 0;
    zes_driver_handle_t manager = 0;
    OK(CALL(zesDriverGet, &one, (void *)0));
    CHECK(one == 1);
    OK(CALL(zesDriverGet, &one, &manager));
    zes_device_handle_t managed = 0;
    OK(CALL(zesDeviceGet, manager, &one, &managed));
    CHECK(one == 1 && managed);
    /* Handles are those of everything else. */
    OK(CALL(zeInit, 0));
    OK(CALL(zeDriverGet, &one, &driver));
    OK(CALL(zeDeviceGet, driver, &one, &device));
    CHECK((void *)manager == (void *)driver && (void *)managed == (void *)device);

    /* The runtime's functions name no driver. */
    const char *words = 0;
    OK(CALL(zerGetLastErrorDescription, &words));
    CHECK(words && !strcmp(words, "zesInit: There is no device."));
    uint32_t (*number)(ze_device_handle_t) = (uint32_t (*)())function("zerTranslateDeviceHandleToIdentifier");
    ze_device_handle_t (*numbered)(uint32_t) = (ze_device_handle_t (*)())function("zerTranslateIdentifierToDeviceHandle");
    ze_context_handle_t (*shared_context)(void) = (ze_context_handle_t (*)())function("zerGetDefaultContext");
    CHECK(number(device) == 0 && numbered(0) == device);
    CHECK(number(0) == UINT32_MAX && number((ze_device_handle_t)driver) == UINT32_MAX && !numbered(9));
    CHECK(shared_context() && shared_context() == shared_context());
    OK(CALL(zeContextGetStatus, shared_context()));

    zes_device_properties_t properties = {ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(CALL(zesDeviceGetProperties, managed, &properties));
    CHECK(properties.core.vendorId == 0x8086 && properties.numSubdevices == 0);
    CHECK(strstr(properties.modelName, "visakit") && strstr(properties.core.name, "visakit"));
    CHECK(!strcmp(properties.vendorName, "Intel(R) Corporation") && !strcmp(properties.serialNumber, "unknown"));
    zes_device_state_t state = {ZES_STRUCTURE_TYPE_DEVICE_STATE, 0, 7, 7};
    OK(CALL(zesDeviceGetState, managed, &state));
    CHECK(state.reset == 0 && state.repaired == ZES_REPAIR_STATUS_UNSUPPORTED);
    zes_pci_properties_t pci = {ZES_STRUCTURE_TYPE_PCI_PROPERTIES};
    OK(CALL(zesDevicePciGetProperties, managed, &pci));
    CHECK(pci.maxSpeed.gen == -1 && !pci.haveBandwidthCounters);
    zes_pci_state_t link = {ZES_STRUCTURE_TYPE_PCI_STATE};
    OK(CALL(zesDevicePciGetState, managed, &link));
    CHECK(link.status == ZES_PCI_LINK_STATUS_GOOD && link.speed.width == -1);

    /* The memory has what the context holds less. */
    zes_mem_handle_t memory = 0;
    one = 0;
    OK(CALL(zesDeviceEnumMemoryModules, managed, &one, (void *)0));
    CHECK(one == 1);
    OK(CALL(zesDeviceEnumMemoryModules, managed, &one, &memory));
    zes_mem_properties_t shape = {ZES_STRUCTURE_TYPE_MEM_PROPERTIES};
    OK(CALL(zesMemoryGetProperties, memory, &shape));
    CHECK(shape.physicalSize > 0 && !shape.onSubdevice);
    uint64_t before = free_bytes(memory, shape.physicalSize);
    ze_context_desc_t plain = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(CALL(zeContextCreate, driver, &plain, &context));
    void *made = 0;
    ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    OK(CALL(zeMemAllocDevice, context, &desc, (size_t)1 << 20, (size_t)64, device, &made));
    CHECK(free_bytes(memory, shape.physicalSize) <= before - (1 << 20));
    OK(CALL(zeMemFree, context, made));
    CHECK(free_bytes(memory, shape.physicalSize) == before);

    /* What is said of atomics, of a later header than Debian 12's: of memory that host and device share. */
    ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    OK(CALL(zeMemAllocShared, context, &desc, &on_host, (size_t)4096, (size_t)64, device, &made));
    uint32_t said = 0;
    IS(CALL(zeMemGetAtomicAccessAttributeExp, context, device, made, (size_t)64, &said), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(CALL(zeMemSetAtomicAccessAttributeExp, context, device, made, (size_t)64, 1 << 6));
    IS(CALL(zeMemSetAtomicAccessAttributeExp, context, device, made, (size_t)64, 1 << 7), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    OK(CALL(zeMemGetAtomicAccessAttributeExp, context, device, (char *)made + 100, (size_t)64, &said));
    CHECK(said == 1 << 6);
    IS(CALL(zeMemFree, context, (char *)made + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(CALL(zeMemGetAtomicAccessAttributeExp, context, device, made, (size_t)64, &said));
    OK(CALL(zeMemFree, context, made));
    IS(CALL(zeMemGetAtomicAccessAttributeExp, context, device, made, (size_t)64, &said), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(CALL(zeMemAllocDevice, context, &desc, (size_t)4096, (size_t)64, device, &made));
    IS(CALL(zeMemSetAtomicAccessAttributeExp, context, device, made, (size_t)64, 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(CALL(zeMemFree, context, made));

    /* No engines, sensors and so on; the rest is not supported. */
    const char *empty[] = {"EngineGroups", "PowerDomains", "FrequencyDomains", "TemperatureSensors", "Fans", "Schedulers"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        char name[64];
        snprintf(name, sizeof name, "zesDeviceEnum%s", empty[i]);
        one = 5;
        OK(function(name)(managed, &one, (void *)0));
        CHECK(one == 0);
    }
    void *table[64] = {0};
    OK(CALL(zesGetDeviceProcAddrTable, ZE_MAKE_VERSION(1, 17), table));
    IS(((ze_result_t (*)())table[2])(managed, 0), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    OK(CALL(zeContextDestroy, context));
    context = 0;
    return ended();
}
