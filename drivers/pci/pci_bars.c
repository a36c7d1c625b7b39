/* Base address registers: sizes, and addresses where the firmware gave none.  PCI 3.0, 6.2.5. */
#include "drivers/pci/pci_bars.h"

#include <errno.h>

enum {
    BAR_IO = 1,
    BAR_TYPE = 6,
    BAR_TYPE_64BIT = 4,
    COMMAND_DECODE = 3, /* memory and I/O */
    BRIDGE_MEMORY = 0x20, /* PCI-to-PCI Bridge Architecture Specification 1.2, 3.2 */
    BRIDGE_PREFETCHABLE = 0x24, /* base in bits 15:4, limit in bits 31:20, units of 1 MiB */
    RANGES_MAX = 128,
};

/* Below the I/O APIC, HPET and local APIC; above the RAM and the MMCONFIG area of QEMU's machines,
 * whose firmware is the one that leaves BARs open.
 */
#define WINDOW_START 0xf0000000ull
#define WINDOW_END 0xfe000000ull
#define ALIGN_MIN 4096ull /* one device's registers never share a page with another's */

struct range {
    uint64_t start;
    uint64_t end;
};

struct ranges { /* addresses in use on bus 0 */
    unsigned count;
    struct range all[RANGES_MAX];
};

struct bar {
    uint64_t base;
    uint64_t bytes; /* 0: not there */
    bool memory;
    bool is_64bit;
};

static uint8_t bar_offset(unsigned index)
{
    return (uint8_t)(PCI_BAR_0 + index * 4);
}

/* Reads a BAR but for its size. */
static struct bar bar_look(const struct pci_device *device, unsigned index)
{
    uint32_t low = pci_read32(device, bar_offset(index));
    struct bar bar = {.base = low & ~15u, .memory = !(low & BAR_IO)};

    bar.is_64bit = bar.memory && (low & BAR_TYPE) == BAR_TYPE_64BIT && index + 1 < PCI_BARS;
    if (bar.is_64bit)
        bar.base |= (uint64_t)pci_read32(device, bar_offset(index + 1)) << 32;
    return bar;
}

/* Returns what the register keeps of all ones, from which its size follows.  Leaves all ones. */
static uint32_t writable_bits(const struct pci_device *device, unsigned index)
{
    pci_write32(device, bar_offset(index), 0xffffffff);
    return pci_read32(device, bar_offset(index));
}

/* Adds its size to a memory BAR.  Decoding must be off. */
static void bar_size(const struct pci_device *device, unsigned index, struct bar *bar)
{
    uint32_t mask = writable_bits(device, index) & ~15u, high = UINT32_MAX;

    pci_write32(device, bar_offset(index), (uint32_t)bar->base);
    if (bar->is_64bit) {
        high = writable_bits(device, index + 1);
        pci_write32(device, bar_offset(index + 1), (uint32_t)(bar->base >> 32));
    }
    bar->bytes = mask || bar->is_64bit ? ~((uint64_t)high << 32 | mask) + 1 : 0;
}

static uint16_t decoding_off(const struct pci_device *device)
{
    uint16_t command = pci_read16(device, PCI_COMMAND);

    pci_write16(device, PCI_COMMAND, (uint16_t)(command & ~COMMAND_DECODE));
    return command;
}

/* Reads a BAR, with its size if it is one of memory that has an address. */
static struct bar bar_read(const struct pci_device *device, unsigned index)
{
    struct bar bar = bar_look(device, index);
    uint16_t command;

    if (!bar.memory || bar.base == 0)
        return bar;
    command = decoding_off(device);
    bar_size(device, index, &bar);
    pci_write16(device, PCI_COMMAND, command);
    return bar;
}

static unsigned bar_count(const struct pci_device *device)
{
    return (pci_read8(device, PCI_HEADER_TYPE) & 0x7f) == PCI_HEADER_BRIDGE ? 2 : PCI_BARS;
}

int pci_bar(const struct pci_device *device, unsigned index, uint64_t *base, uint64_t *bytes)
{
    struct bar bar;

    if (index >= bar_count(device))
        return -ENOENT;
    bar = bar_read(device, index);
    if (!bar.memory || bar.bytes == 0 || bar.base == 0)
        return -ENOENT;
    *base = bar.base;
    *bytes = bar.bytes;
    return 0;
}

static void range_add(struct ranges *used, uint64_t start, uint64_t end)
{
    if (start < end && used->count < RANGES_MAX)
        used->all[used->count++] = (struct range){start, end};
}

static void bridge_window_add(const struct pci_device *bridge, uint8_t offset, struct ranges *used)
{
    uint32_t window = pci_read32(bridge, offset);

    range_add(used, (uint64_t)(window & 0xfff0) << 16,
              ((uint64_t)(window & 0xfff00000) | 0xfffff) + 1);
}

static void ranges_collect(struct ranges *used)
{
    struct pci_device device = {0};

    used->count = 0;
    while (pci_next_on_bus(&device)) {
        unsigned count = bar_count(&device);

        for (unsigned i = 0; i < count; i++) {
            struct bar bar = bar_read(&device, i);
            if (bar.memory && bar.base)
                range_add(used, bar.base, bar.base + bar.bytes);
            i += bar.is_64bit;
        }
        if (count != PCI_BARS) {
            bridge_window_add(&device, BRIDGE_MEMORY, used);
            bridge_window_add(&device, BRIDGE_PREFETCHABLE, used);
        }
    }
}

/* Returns the lowest free multiple of `bytes` (a power of two) in the window; 0: none. */
static uint64_t range_find(const struct ranges *used, uint64_t bytes)
{
    uint64_t base = (WINDOW_START + bytes - 1) & ~(bytes - 1);

    for (unsigned i = 0; i < used->count; i++) {
        if (bytes > WINDOW_END - WINDOW_START || base > WINDOW_END - bytes)
            return 0;
        if (used->all[i].start < base + bytes && base < used->all[i].end) {
            base = (used->all[i].end + bytes - 1) & ~(bytes - 1);
            i = UINT32_MAX; /* from the first range again */
        }
    }
    return bytes <= WINDOW_END - WINDOW_START && base <= WINDOW_END - bytes ? base : 0;
}

static int bar_assign(const struct pci_device *device, unsigned index, const struct bar *bar,
                      struct ranges *used)
{
    uint64_t bytes = bar->bytes < ALIGN_MIN ? ALIGN_MIN : bar->bytes;
    uint64_t base = range_find(used, bytes);

    if (base == 0)
        return -ENOMEM;
    pci_write32(device, bar_offset(index), (uint32_t)base);
    if (bar->is_64bit)
        pci_write32(device, bar_offset(index + 1), 0);
    range_add(used, base, base + bytes);
    return 0;
}

int pci_bars_assign(const struct pci_device *device)
{
    static struct ranges used;
    uint16_t command = decoding_off(device);
    unsigned count = bar_count(device), index;
    bool collected = false;
    int error = 0;

    for (unsigned i = 0; i < count && error == 0; i++) {
        struct bar bar = bar_look(device, i);

        index = i;
        i += bar.is_64bit;
        if (!bar.memory || bar.base != 0)
            continue;
        bar_size(device, index, &bar);
        if (bar.bytes == 0)
            continue;
        if (!collected) /* only now: sizing switches the decoding of every device off and on */
            ranges_collect(&used);
        collected = true;
        error = bar_assign(device, index, &bar, &used);
    }
    pci_write16(device, PCI_COMMAND, command);
    return error;
}
