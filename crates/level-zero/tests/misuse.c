/* Every function of the driver with what is no handle, was one, or is one of another kind: errors, and no crash.
   Arguments: the driver, a module in SPIR-V, then the names of the tables. */
#include "device.h"
#include <dlfcn.h>

enum { MOST = 128, KINDS = 14 };

typedef int (*Table)(uint32_t, void **);
typedef int (*Any)(void *, ...);

static Any functions[1024];
static const char *tables[1024];
static int places[1024], many;

/* The entries that a loader of a version gets; the rest of the table stays. */
static int entries(Table table, uint32_t version, void **to) {
    for (int i = 0; i < MOST; i++) to[i] = 0;
    OK(table(version, to));
    int n = 0;
    while (n < MOST && to[n]) n++;
    for (int i = n; i < MOST; i++) CHECK(!to[i]);
    return n;
}

static void read_table(const char *name, Table table) {
    static void *newest[MOST], *older[MOST];
    int all = entries(table, ZE_MAKE_VERSION(1, 17), newest), before = 0;
    for (int minor = 0; minor <= 17; minor++) {
        int n = entries(table, ZE_MAKE_VERSION(1, minor), older);
        CHECK(n >= before && n <= all && !memcmp(newest, older, n * sizeof *older));
        before = n;
    }
    CHECK(before == all && all > 0);
    IS(table(ZE_MAKE_VERSION(2, 0), older), ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    IS(table(ZE_MAKE_VERSION(1, 0), 0), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    for (int i = 0; i < all; i++) {
        tables[many] = name;
        places[many] = i;
        functions[many++] = (Any)newest[i];
    }
}

/* Every function with this as its first argument and zeroes for all others: what may succeed is in a list. */
static void with(void *first, const char *known) {
    for (int i = 0; i < many; i++) {
        int is = functions[i](first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        char name[256];
        snprintf(name, sizeof name, "%s %d;", tables[i], places[i]);
        if (is || !known || strstr(known, name)) continue;
        failures++;
        printf("%s succeeds with %p\n", name, first);
    }
}

int main(int count, char **names) {
    if (count < 4) return 2;
    void *library = dlopen(names[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    if (!library) return ended();
    for (int i = 3; i < count; i++) {
        Table table = (Table)dlsym(library, names[i]);
        CHECK(table);
        if (table) read_table(names[i], table);
    }
    printf("%d functions\n", many);
    CHECK(many > 400);
    /* Flags of zeInit, no modules to link, no context to return. */
    const char *fine = "zeGetGlobalProcAddrTable 0; zesGetGlobalProcAddrTable 0; zeGetModuleProcAddrTable 2; zeGetDriverProcAddrTable 8;";
    with(0, fine);
    /* zeDriverGet, zesDriverGet and zerGetLastErrorDescription take whatever can be written; no device has that number. */
    fine = "zeGetGlobalProcAddrTable 0; zeGetModuleProcAddrTable 2; zeGetDriverProcAddrTable 8; zeGetDriverProcAddrTable 0;"
           "zesGetDriverProcAddrTable 2; zerGetGlobalProcAddrTable 0; zerGetGlobalProcAddrTable 2;";
    int cell[64] = {0};
    with(cell, fine);
    start();
    ze_module_handle_t module = module_in(names[2]);
    ze_event_pool_handle_t pool = pool_of(1, 0);
    ze_command_queue_handle_t queue;
    ze_command_queue_desc_t order = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    OK(zeCommandQueueCreate(context, device, &order, &queue));
    ze_command_list_handle_t list;
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    OK(zeCommandListCreate(context, device, &desc, &list));
    ze_fence_handle_t fence;
    ze_fence_desc_t fresh = {ZE_STRUCTURE_TYPE_FENCE_DESC};
    OK(zeFenceCreate(queue, &fresh, &fence));
    ze_context_handle_t second;
    ze_context_desc_t plain = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(driver, &plain, &second));
    ze_physical_mem_handle_t pages;
    ze_physical_mem_desc_t bytes = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, 0, 0, 1 << 16};
    OK(zePhysicalMemCreate(context, device, &bytes, &pages));
    void *live[KINDS] = {driver, device, module, pool, queue, list, fence, second, kernel_of(module, "add"),
        event_of(pool, 0), immediate(ZE_COMMAND_QUEUE_MODE_DEFAULT), pages};
    /* The driver and its devices stay; all others are destroyed by the way, whatever the order of the functions is. */
    for (int i = 0; i < KINDS; i++) if (live[i]) with(live[i], 0);
    for (int i = 2; i < KINDS; i++) if (live[i]) with(live[i], fine);
    return ended();
}
