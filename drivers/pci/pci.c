/* PCI configuration access, device search, capabilities and MSI-X. */
#include "drivers/pci/pci.h"

#include <errno.h>

#include "drivers/clock/clock.h"
#include "drivers/mmio.h"
#include "drivers/pci/pci_bars.h"
#include "drivers/platform.h"
#include "lib/x86.h"

enum { CONFIG_ADDRESS = 0xcf8, CONFIG_DATA = 0xcfc };
#define CONFIG_ENABLE (1u << 31)

enum {
    COMMAND_MEMORY = 1 << 1,
    COMMAND_MASTER = 1 << 2,
    COMMAND_INTX_DISABLE = 1 << 10,
    STATUS_CAPABILITIES = 1 << 4,
    HEADER_MULTIFUNCTION = 0x80,
    FUNCTIONS = 8, /* of a slot */
    BUS_FUNCTIONS = 256,
};

/* PCI-to-PCI Bridge Architecture Specification 1.2, 3.2 */
enum { BRIDGE_SECONDARY = 0x19, BRIDGE_SUBORDINATE = 0x1a };

/* PCI Bus Power Management Interface Specification 1.2, 3.2.4 and 5.6.1 */
enum { POWER_CONTROL = 4, POWER_STATE = 3 };
#define POWER_UP_US 10000

/* PCI 3.0, 6.8.2 */
enum {
    MSIX_CONTROL = 2,
    MSIX_TABLE = 4,
    MSIX_ENABLE = 1 << 15,
    MSIX_MASK_ALL = 1 << 14,
    MSIX_TABLE_BIR = 7,
    MSIX_ENTRY_BYTES = 16,
};
#define MSI_ADDRESS 0xfee00000u /* SDM volume 3, "Message Address Register Format" */

static void config_select(const struct pci_device *device, uint8_t offset)
{
    x86_out32(CONFIG_ADDRESS, CONFIG_ENABLE | (uint32_t)device->bus << 16 |
                                  (uint32_t)device->slot << 11 | (uint32_t)device->function << 8 |
                                  (offset & 0xfcu));
}

uint8_t pci_read8(const struct pci_device *device, uint8_t offset)
{
    return (uint8_t)(pci_read32(device, offset & 0xfc) >> (offset & 3) * 8);
}

uint16_t pci_read16(const struct pci_device *device, uint8_t offset)
{
    return (uint16_t)(pci_read32(device, offset & 0xfc) >> (offset & 2) * 8);
}

uint32_t pci_read32(const struct pci_device *device, uint8_t offset)
{
    config_select(device, offset);
    return x86_in32(CONFIG_DATA);
}

void pci_write16(const struct pci_device *device, uint8_t offset, uint16_t value)
{
    config_select(device, offset);
    x86_out16((uint16_t)(CONFIG_DATA + (offset & 2)), value);
}

void pci_write32(const struct pci_device *device, uint8_t offset, uint32_t value)
{
    config_select(device, offset);
    x86_out32(CONFIG_DATA, value);
}

static bool pci_present(struct pci_device *device)
{
    uint32_t id = pci_read32(device, PCI_ID);

    device->vendor_id = (uint16_t)id;
    device->device_id = (uint16_t)(id >> 16);
    return device->vendor_id != 0xffff && device->vendor_id != 0;
}

bool pci_next_on_bus(struct pci_device *device)
{
    bool first = device->vendor_id == 0; /* a zeroed device: 0000H is no vendor */
    unsigned at = (unsigned)device->slot * FUNCTIONS + device->function;
    unsigned next = first ? 0 : at + 1;

    while (next < BUS_FUNCTIONS) {
        bool present;

        if (next % FUNCTIONS != 0 && !device->more) {
            next = (next | (FUNCTIONS - 1)) + 1; /* the next slot */
            continue;
        }
        *device = (struct pci_device){.bus = device->bus,
                                      .slot = (uint8_t)(next / FUNCTIONS),
                                      .function = next % FUNCTIONS,
                                      .more = device->more};
        present = pci_present(device);
        if (device->function == 0)
            device->more = present && pci_read8(device, PCI_HEADER_TYPE) & HEADER_MULTIFUNCTION;
        if (present)
            return true;
        next++;
    }
    return false;
}

bool pci_next(struct pci_device *device)
{
    while (!pci_next_on_bus(device)) {
        if (device->bus == UINT8_MAX)
            return false;
        *device = (struct pci_device){.bus = (uint8_t)(device->bus + 1)};
    }
    return true;
}

static bool id_matches(const struct pci_device *device, uint16_t vendor_id,
                       const uint16_t *device_ids, size_t count)
{
    if (device->vendor_id != vendor_id)
        return false;
    for (size_t i = 0; i < count; i++)
        if (device->device_id == device_ids[i])
            return true;
    return false;
}

int pci_find(uint16_t vendor_id, const uint16_t *device_ids, size_t count, struct pci_device *out)
{
    struct pci_device device = {0};

    while (pci_next(&device)) {
        if (id_matches(&device, vendor_id, device_ids, count)) {
            *out = device;
            return 0;
        }
    }
    return -ENODEV;
}

static void command_set(const struct pci_device *device, uint16_t clear, uint16_t set)
{
    uint16_t command = pci_read16(device, PCI_COMMAND);

    pci_write16(device, PCI_COMMAND, (uint16_t)((command & ~clear) | set));
}

static bool leads_to(const struct pci_device *bridge, uint8_t bus)
{
    uint8_t secondary = pci_read8(bridge, BRIDGE_SECONDARY);

    return (pci_read8(bridge, PCI_HEADER_TYPE) & ~HEADER_MULTIFUNCTION) == PCI_HEADER_BRIDGE &&
           secondary > bridge->bus && secondary <= bus &&
           bus <= pci_read8(bridge, BRIDGE_SUBORDINATE);
}

/* Firmware that does not use a device may have left the way to it closed.  A bridge's number is
 * below those of the buses that it leads to. */
static void enable_bridges(uint8_t bus)
{
    struct pci_device bridge = {0};

    while (bus > 0 && pci_next(&bridge) && bridge.bus < bus)
        if (leads_to(&bridge, bus))
            command_set(&bridge, 0, COMMAND_MEMORY | COMMAND_MASTER);
}

int pci_enable(const struct pci_device *device)
{
    int error = device->bus == 0 ? pci_bars_assign(device) : 0;

    if (error)
        return error;
    enable_bridges(device->bus);
    command_set(device, 0, COMMAND_MEMORY | COMMAND_MASTER | COMMAND_INTX_DISABLE);
    return 0;
}

/* What leaves D3 may have lost its configuration. */
void pci_wake(const struct pci_device *device)
{
    uint8_t at = pci_capability(device, PCI_CAPABILITY_POWER, 0);
    uint32_t bars[PCI_BARS];
    uint16_t control, command;

    if (at == 0 || at > UINT8_MAX - POWER_CONTROL)
        return;
    control = pci_read16(device, (uint8_t)(at + POWER_CONTROL));
    if (!(control & POWER_STATE))
        return;
    for (unsigned i = 0; i < PCI_BARS; i++)
        bars[i] = pci_read32(device, (uint8_t)(PCI_BAR_0 + 4 * i));
    command = pci_read16(device, PCI_COMMAND);
    pci_write16(device, (uint8_t)(at + POWER_CONTROL), (uint16_t)(control & ~POWER_STATE));
    clock_delay_us(POWER_UP_US);
    for (unsigned i = 0; i < PCI_BARS; i++)
        pci_write32(device, (uint8_t)(PCI_BAR_0 + 4 * i), bars[i]);
    pci_write16(device, PCI_COMMAND, command);
}

void pci_stop_mastering(const struct pci_device *device)
{
    command_set(device, COMMAND_MASTER, 0);
}

uint8_t pci_capability(const struct pci_device *device, uint8_t id, uint8_t previous)
{
    uint8_t at;

    if (!previous && !(pci_read16(device, PCI_STATUS) & STATUS_CAPABILITIES))
        return 0;
    at = pci_read8(device, previous ? (uint8_t)(previous + 1) : PCI_CAPABILITIES) & 0xfc;
    for (unsigned i = 0; i < PCI_CAPABILITIES_MAX && at >= 0x40; i++) {
        uint16_t head = pci_read16(device, at); /* the id, and where the next one is */

        if ((head & 0xff) == id)
            return at;
        at = (uint8_t)(head >> 8) & 0xfc;
    }
    return 0;
}

int pci_msix_enable(const struct pci_device *device, uint8_t vector, uint32_t apic_id)
{
    uint8_t at = pci_capability(device, PCI_CAPABILITY_MSIX, 0);
    uint64_t base, bytes;
    uint32_t table, offset;
    uint16_t control;
    volatile uint8_t *entry;

    if (at == 0)
        return -ENOENT;
    if (apic_id > 0xff)
        return -EINVAL;
    table = pci_read32(device, (uint8_t)(at + MSIX_TABLE));
    offset = table & ~(uint32_t)MSIX_TABLE_BIR;
    if (pci_bar(device, table & MSIX_TABLE_BIR, &base, &bytes) || bytes < MSIX_ENTRY_BYTES ||
        offset > bytes - MSIX_ENTRY_BYTES)
        return -EINVAL;
    control = pci_read16(device, (uint8_t)(at + MSIX_CONTROL));
    pci_write16(device, (uint8_t)(at + MSIX_CONTROL), control | MSIX_ENABLE | MSIX_MASK_ALL);
    entry = platform_map_device(base + offset, MSIX_ENTRY_BYTES);
    mmio_write32(entry, MSI_ADDRESS | apic_id << 12);
    mmio_write32(entry + 4, 0);
    mmio_write32(entry + 8, vector);
    mmio_write32(entry + 12, 0); /* unmasked */
    pci_write16(device, (uint8_t)(at + MSIX_CONTROL),
                (uint16_t)((control | MSIX_ENABLE) & ~MSIX_MASK_ALL));
    return 0;
}
