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

/* Returns what the register keeps of all ones, from which its size follows.  Decoding must be off.
 */
static uint32_t writable_bits(const struct pci_device *device, uint8_t offset)
{
    uint32_t saved = pci_read32(device, offset), bits;

    pci_write32(device, offset, 0xffffffff);
    bits = pci_read32(device, offset);
    pci_write32(device, offset, saved);
    return bits;
}

static struct bar bar_read(const struct pci_device *device, unsigned index)
{
    uint8_t offset = (uint8_t)(PCI_BAR_0 + index * 4);
    uint32_t low = pci_read32(device, offset), mask;
    struct bar bar = {.memory = !(low & BAR_IO)};
    uint16_t command = pci_read16(device, PCI_COMMAND);

    pci_write16(device, PCI_COMMAND, (uint16_t)(command & ~COMMAND_DECODE));
    mask = writable_bits(device, offset);
    if (!bar.memory) {
        bar.base = low & ~3u;
        bar.bytes = mask ? (~(mask & ~3u) + 1) & 0xffff : 0;
    } else {
        uint64_t mask64 = 0xffffffff00000000ull | (mask & ~15u);
        bar.is_64bit = (low & BAR_TYPE) == BAR_TYPE_64BIT && index + 1 < PCI_BARS;
        bar.base = low & ~15u;
        if (bar.is_64bit) {
            bar.base |= (uint64_t)pci_read32(device, (uint8_t)(offset + 4)) << 32;
            mask64 = (uint64_t)writable_bits(device, (uint8_t)(offset + 4)) << 32 | (mask & ~15u);
        }
        bar.bytes = mask & ~15u || bar.is_64bit ? ~mask64 + 1 : 0;
    }
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
        for (unsigned i = 0; i < bar_count(&device); i++) {
            struct bar bar = bar_read(&device, i);
            if (bar.memory && bar.base)
                range_add(used, bar.base, bar.base + bar.bytes);
            i += bar.is_64bit;
        }
        if (bar_count(&device) != PCI_BARS) {
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

/* True for a memory BAR without an address. */
static bool wants_address(const struct bar *bar)
{
    return bar->memory && bar->bytes != 0 && bar->base == 0;
}

static int bar_assign(const struct pci_device *device, unsigned index, const struct bar *bar,
                      struct ranges *used)
{
    uint8_t offset = (uint8_t)(PCI_BAR_0 + index * 4);
    uint64_t bytes = bar->bytes < ALIGN_MIN ? ALIGN_MIN : bar->bytes;
    uint64_t base = range_find(used, bytes);

    if (base == 0)
        return -ENOMEM;
    pci_write32(device, offset, (uint32_t)base);
    if (bar->is_64bit)
        pci_write32(device, (uint8_t)(offset + 4), 0);
    range_add(used, base, base + bytes);
    return 0;
}

int pci_bars_assign(const struct pci_device *device)
{
    static struct ranges used;
    bool collected = false;

    for (unsigned i = 0; i < bar_count(device); i++) {
        struct bar bar = bar_read(device, i);
        unsigned index = i;
        int error;

        i += bar.is_64bit;
        if (!wants_address(&bar))
            continue;
        if (!collected) /* only now: sizing switches the decoding of every device off and on */
            ranges_collect(&used);
        collected = true;
        error = bar_assign(device, index, &bar, &used);
        if (error)
            return error;
    }
    return 0;
}
