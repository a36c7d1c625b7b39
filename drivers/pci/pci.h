/* PCI through configuration mechanism 1 (ports CF8H and CFCH; PCI Local Bus
 * Specification 3.0, 3.2.2.3.2).  Buses other than 0 exist only if the firmware has numbered them.
 * Only the boot CPU, or the one that does service work, calls these. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCI_BARS 6
#define PCI_CAPABILITIES_MAX 48 /* that fit into 192 bytes: more is a loop */

/* offsets in configuration space; 6.1 and 6.7 */
enum {
    PCI_ID = 0x00,
    PCI_COMMAND = 0x04,
    PCI_STATUS = 0x06,
    PCI_CLASS = 0x08,
    PCI_HEADER_TYPE = 0x0e,
    PCI_BAR_0 = 0x10,
    PCI_CAPABILITIES = 0x34,
};

enum { PCI_HEADER_BRIDGE = 1 }; /* the type in bits 6:0 of PCI_HEADER_TYPE */

enum { PCI_CAPABILITY_POWER = 0x01, PCI_CAPABILITY_VENDOR = 0x09, PCI_CAPABILITY_MSIX = 0x11 };

struct pci_device {
    uint8_t bus;
    uint8_t slot;
    uint8_t function;
    bool more; /* its slot has functions beyond 0: set by pci_next */
    uint16_t vendor_id;
    uint16_t device_id;
};

/* offset: aligned to the access's size, below 256 */
uint8_t pci_read8(const struct pci_device *device, uint8_t offset);
uint16_t pci_read16(const struct pci_device *device, uint8_t offset);
uint32_t pci_read32(const struct pci_device *device, uint8_t offset);
void pci_write16(const struct pci_device *device, uint8_t offset, uint16_t value);
void pci_write32(const struct pci_device *device, uint8_t offset, uint32_t value);

/* Steps to the next present function, in the order of buses, slots, functions; starts from a zeroed
 * device.  Returns false if there is none.  Tries all 256 bus numbers, to find those of further
 * host bridges too. */
bool pci_next(struct pci_device *device);

/* As pci_next, on one bus: starts from a device that is zeroed but for its bus. */
bool pci_next_on_bus(struct pci_device *device);

/* Finds the first device that has this vendor and one of the `count` device ids.  Returns 0 or
 * -ENODEV. */
int pci_find(uint16_t vendor_id, const uint16_t *device_ids, size_t count, struct pci_device *out);

/* Switches memory decoding and bus mastering on, in the bridges above the device too.  On bus 0,
 * first gives an address to every memory BAR that the firmware left at 0; below a bridge such a BAR
 * stays without.  No other device of bus 0 may be in use during the call: to find free addresses,
 * it switches the decoding of each off for a moment.  Returns 0, or -ENOMEM if there is no free
 * address range. */
int pci_enable(const struct pci_device *device);

/* Brings a sleeping device (D1 to D3) to D0, with the BARs that it had.  Called before pci_enable.
 */
void pci_wake(const struct pci_device *device);

/* Switches bus mastering off, so that the device can no longer touch memory. */
void pci_stop_mastering(const struct pci_device *device);

/* Reads memory BAR `index`.  Returns 0, or -ENOENT if there is none, or it is an I/O BAR or has no
 * address. */
int pci_bar(const struct pci_device *device, unsigned index, uint64_t *base, uint64_t *bytes);

/* Returns the offset of the next capability with this id after `previous` (0: from the start); 0:
 * there is none. */
uint8_t pci_capability(const struct pci_device *device, uint8_t id, uint8_t previous);

/* Switches MSI-X on.  Table entry 0, the only one that is unmasked, interrupts as `vector` on the
 * CPU with this local APIC id.  Called after pci_enable.  Returns 0, -ENOENT if there is no MSI-X,
 * or -EINVAL if the id is too large or the table is not in its BAR. */
int pci_msix_enable(const struct pci_device *device, uint8_t vector, uint32_t apic_id);
