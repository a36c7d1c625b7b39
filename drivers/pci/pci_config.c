/* Maps configuration space. */
#include "drivers/pci/pci_config.h"

#include <stddef.h>

#include "drivers/platform.h"

#define FUNCTION_BYTES 4096u

static uint64_t config_base;
static uint8_t config_first, config_last;

void pci_config_set(uint64_t base, uint8_t first_bus, uint8_t last_bus)
{
    config_base = base;
    config_first = first_bus;
    config_last = last_bus;
}

volatile uint8_t *pci_config_map(const struct pci_device *device)
{
    uint64_t offset = (uint64_t)device->bus << 20 | (uint64_t)device->slot << 15 |
                      (uint64_t)device->function << 12;

    if (config_base == 0 || device->bus < config_first || device->bus > config_last)
        return NULL;
    return platform_map_device(config_base + offset, FUNCTION_BYTES);
}
