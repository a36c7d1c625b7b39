/* Configuration space as memory, 4096 bytes a function: PCI Express Base Specification 3.0, 7.2.2,
 * "PCI Express Enhanced Configuration Access Mechanism".  Two CPUs may read it at once, in any
 * context, unlike through the ports of pci.h. */
#pragma once

#include <stdint.h>

#include "drivers/pci/pci.h"

/* Boot: where it is, for these buses; base 0: nowhere. */
void pci_config_set(uint64_t base, uint8_t first_bus, uint8_t last_bus);

/* Boot: maps a function's configuration space, accessed by 32 bits at most; NULL if it is not
 * there. */
volatile uint8_t *pci_config_map(const struct pci_device *device);
