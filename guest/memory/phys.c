/* Physical memory: finds the machine's RAM and hands it out. */
#include "guest/memory/phys.h"

#include "guest/base/image.h"
#include "guest/base/log.h"
#include "guest/memory/buddy.h"

#define LOW_END (1ull << 32) /* what the boot page tables map */
#define FIRST_BYTE (1ull << 20) /* firmware and the trampoline are below */
#define PHYSICAL_END (1ull << 46) /* what the direct map has room for */
#define LARGEST_BLOCK ((uint64_t)PAGE_BYTES << PHYS_ORDER_MAX)
_Static_assert(BUDDY_ORDERS == PHYS_ORDER_MAX + 1, "orders");

struct span {
    uint64_t start;
    uint64_t end;
};

static struct buddy memory;
static struct span keep_out[BOOT_MEMORY_RANGES_MAX + 3];
static uint32_t keep_out_count;
static const struct boot_info *boot_ranges;
static uint64_t first_byte, ram_end; /* the allocator's range */
static uint64_t mapped_end;

static void phys_exclude(uint64_t start, uint64_t end)
{
    keep_out[keep_out_count++] =
        (struct span){start & ~(PAGE_BYTES - 1ull), (end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1ull)};
}

/* Returns the excluded span that begins first among those that touch start..end-1; NULL if none
 * does. */
static const struct span *first_excluded(uint64_t start, uint64_t end)
{
    const struct span *first = NULL;

    for (uint32_t i = 0; i < keep_out_count; i++) {
        const struct span *s = &keep_out[i];

        if (s->start < end && s->end > start && (first == NULL || s->start < first->start))
            first = s;
    }
    return first;
}

/* Finds the next usable part of *start..end-1; advances *start past it. */
static struct span next_usable(uint64_t *start, uint64_t end)
{
    while (*start < end) {
        const struct span *s = first_excluded(*start, end);
        struct span part = {*start, s != NULL ? s->start : end};

        *start = s != NULL ? s->end : end;
        if (part.start < part.end)
            return part;
    }
    return (struct span){0, 0};
}

static struct span ram_between(const struct boot_memory_range *range, uint64_t low, uint64_t high)
{
    struct span s = {(range->base + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1ull),
                     (range->base + range->bytes) & ~(PAGE_BYTES - 1ull)};

    if (s.start < low)
        s.start = low;
    if (s.end > high)
        s.end = high;
    if (range->kind != BOOT_MEMORY_RAM || s.end <= s.start)
        return (struct span){0, 0};
    return s;
}

static void add_ram(uint64_t low, uint64_t high)
{
    for (uint32_t i = 0; i < boot_ranges->range_count; i++) {
        struct span ram = ram_between(&boot_ranges->ranges[i], low, high);

        while (ram.start < ram.end) {
            struct span part = next_usable(&ram.start, ram.end);

            if (part.start < part.end)
                buddy_add(&memory, part.start / PAGE_BYTES, part.end / PAGE_BYTES);
        }
    }
}

/* Finds a place for the allocator's own tables in RAM that is mapped already. */
static uint64_t place_metadata(uint64_t bytes)
{
    for (uint32_t i = 0; i < boot_ranges->range_count; i++) {
        struct span ram = ram_between(&boot_ranges->ranges[i], FIRST_BYTE, LOW_END);

        while (ram.start < ram.end) {
            struct span part = next_usable(&ram.start, ram.end);

            if (part.end - part.start >= bytes)
                return part.start;
        }
    }
    panic("no room for the page tables of %lu bytes of memory", ram_end);
}

static void phys_cover(uint64_t end)
{
    if (end > mapped_end)
        mapped_end = end;
}

/* The direct map must have all that the kernel reads, the firmware's tables too: they are at the
 * end of low memory, which RAM's last GiB includes under PVH. */
static void read_ranges(const struct boot_info *boot)
{
    uint64_t ram_start = UINT64_MAX;

    for (uint32_t i = 0; i < boot->range_count; i++) {
        const struct boot_memory_range *range = &boot->ranges[i];
        uint64_t end = range->base + range->bytes;

        if (!range->bytes)
            continue;
        if (end < range->base || end > PHYSICAL_END)
            panic("memory range %u is %lx bytes at %lx", i, range->bytes, range->base);
        if (range->kind == BOOT_MEMORY_RAM && end > ram_end)
            ram_end = end;
        if (range->kind == BOOT_MEMORY_RAM && range->base < ram_start)
            ram_start = range->base;
        if (range->kind != BOOT_MEMORY_RAM)
            phys_exclude(range->base, end);
        if (range->kind == BOOT_MEMORY_BUFFER)
            phys_cover(end);
    }
    first_byte = ram_start < ram_end ? ram_start & ~(LARGEST_BLOCK - 1) : 0;
    ram_end = (ram_end + LARGEST_BLOCK - 1) & ~(LARGEST_BLOCK - 1);
    phys_cover(ram_end);
}

static void read_boot(const struct boot_info *boot)
{
    if (boot->range_count > BOOT_MEMORY_RANGES_MAX)
        panic("%u memory ranges, at most %u can be", boot->range_count, BOOT_MEMORY_RANGES_MAX);
    read_ranges(boot);
    phys_exclude(image_physical(kernel_start), image_physical(kernel_end));
    if (boot->archive_bytes) {
        phys_exclude(boot->archive_base, boot->archive_base + boot->archive_bytes);
        if (boot->archive_base + boot->archive_bytes <= PHYSICAL_END)
            phys_cover(boot->archive_base + boot->archive_bytes);
    }
    if (boot->entry == BOOT_ENTRY_UEFI)
        phys_cover(LOW_END);
    mapped_end = (mapped_end + PHYS_MAP_BYTES - 1) & ~(PHYS_MAP_BYTES - 1);
}

void phys_init(const struct boot_info *boot)
{
    uint64_t metadata, bytes, pages;

    boot_ranges = boot;
    read_boot(boot);
    pages = (ram_end - first_byte) / PAGE_BYTES;
    bytes = buddy_metadata_bytes(pages);
    metadata = place_metadata(bytes);
    phys_exclude(metadata, metadata + bytes);
    buddy_init(&memory, phys_pointer(metadata), first_byte / PAGE_BYTES, pages, DIRECT_MAP);
    add_ram(FIRST_BYTE, LOW_END);
}

void phys_add_high(void)
{
    add_ram(LOW_END, UINT64_MAX & ~(PAGE_BYTES - 1ull));
}

uint64_t phys_alloc(unsigned order)
{
    return buddy_alloc(&memory, order);
}

uint64_t phys_alloc_last(void)
{
    return buddy_alloc_last(&memory);
}

void phys_free(uint64_t address, unsigned order)
{
    buddy_free(&memory, address, order);
}

void phys_free_pages(uint64_t address, uint64_t pages)
{
    buddy_free_pages(&memory, address, pages);
}

uint64_t phys_free_bytes(void)
{
    return memory.free_bytes;
}

uint64_t phys_total_bytes(void)
{
    return memory.total_bytes;
}

uint64_t phys_peak_bytes(void)
{
    return memory.total_bytes - memory.least_free_bytes;
}

uint64_t phys_first_byte(void)
{
    return first_byte;
}

uint64_t phys_end(void)
{
    return ram_end;
}

uint64_t phys_mapped_end(void)
{
    return mapped_end;
}
