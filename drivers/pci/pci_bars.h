/* Addresses for base address registers that the firmware left without one.  Only pci.c calls it. */
#pragma once

#include "drivers/pci/pci.h"

/* Assigns the device's memory BARs that are 0, apart from everything in use on bus 0.
 * 0, -ENOMEM.
 */
int pci_bars_assign(const struct pci_device *device);
