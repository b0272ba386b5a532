/* The names of the devices, in the order in which the driver lists them. */
#include "device.h"

int main(void) {
    ze_device_handle_t all[16];
    uint32_t one = 1, count = 16;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    OK(zeDeviceGet(driver, &count, all));
    for (uint32_t n = 0; n < count; n++) {
        ze_pci_ext_properties_t place = {ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
        OK(zeDevicePciGetPropertiesExt(all[n], &place));
        printf("%02x:%02x\n", place.address.bus, place.address.device);
    }
    return failures != 0;
}
