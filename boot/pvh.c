/* Turns PVH's start info into boot_info and enters the kernel.
 * Layouts: Xen, public/arch-x86/hvm/start_info.h, version 1.
 */
#include <string.h>

#include "boot/pvh.h"
#include "include/boot_info.h"
#include "include/kernel_layout.h"
#include "lib/boot/boot_command.h"

#define START_MAGIC 0x336ec578u
#define MEMORY_RAM 1u
#define COMMAND_LINE_LIMIT (sizeof(((struct boot_info *)0)->command_line) - 1)

struct start_info {
    uint32_t magic;
    uint32_t version;
    uint32_t flags;
    uint32_t module_count;
    uint64_t modules;
    uint64_t command_line;
    uint64_t rsdp;
    uint64_t memory_map;
    uint32_t memory_map_entries;
    uint32_t reserved;
};
_Static_assert(sizeof(struct start_info) == 56, "start_info");

struct start_module {
    uint64_t base;
    uint64_t bytes;
    uint64_t command_line;
    uint64_t reserved;
};
_Static_assert(sizeof(struct start_module) == 32, "start_module");

struct start_memory {
    uint64_t base;
    uint64_t bytes;
    uint32_t type;
    uint32_t reserved;
};
_Static_assert(sizeof(struct start_memory) == 24, "start_memory");

static struct boot_info boot;

static const void *pointer(uint64_t physical)
{
    return (const void *)(physical + DIRECT_MAP);
}

static void copy_memory_map(const struct start_info *start)
{
    const struct start_memory *entry = pointer(start->memory_map);

    for (uint32_t i = 0; i < start->memory_map_entries; i++) {
        struct boot_memory_range *range;

        if (boot.range_count == BOOT_MEMORY_RANGES_MAX)
            return;
        range = &boot.ranges[boot.range_count++];
        range->base = entry[i].base;
        range->bytes = entry[i].bytes;
        range->kind = entry[i].type == MEMORY_RAM ? BOOT_MEMORY_RAM : BOOT_MEMORY_RESERVED;
    }
}

/* Returns the range of RAM with most room below the archive, if that is in it. */
static struct boot_memory_range *range_for_buffer(uint64_t bytes, uint64_t *end)
{
    struct boot_memory_range *best = NULL;

    for (uint32_t i = 0; i < boot.range_count; i++) {
        struct boot_memory_range *range = &boot.ranges[i];
        uint64_t last = range->base + range->bytes;

        if (range->base <= boot.archive_base && boot.archive_base < last)
            last = boot.archive_base;
        if (range->kind != BOOT_MEMORY_RAM || last - range->base <= bytes + LARGE_PAGE_BYTES ||
            (best != NULL && last - range->base <= *end - best->base))
            continue;
        best = range;
        *end = last;
    }
    return best;
}

/* Takes a buffer out of the RAM; does nothing if the RAM is too small. */
static void make_buffer(uint64_t bytes)
{
    uint64_t end = 0, base;
    struct boot_memory_range *ram = range_for_buffer(bytes, &end);

    if (ram == NULL || boot.range_count + 2 > BOOT_MEMORY_RANGES_MAX)
        return;
    base = (end - bytes) & ~(LARGE_PAGE_BYTES - 1ull);
    boot.ranges[boot.range_count++] =
        (struct boot_memory_range){.base = base, .bytes = end - base, .kind = BOOT_MEMORY_BUFFER};
    boot.ranges[boot.range_count++] = (struct boot_memory_range){
        .base = end, .bytes = ram->base + ram->bytes - end, .kind = BOOT_MEMORY_RAM};
    ram->bytes = base - ram->base;
}

static void read_command_line(const char *text)
{
    uint64_t buffer_bytes;

    for (size_t i = 0; text[i] && i < COMMAND_LINE_LIMIT; i++)
        boot.command_line[i] = text[i];
    boot_command_parse(&boot, &buffer_bytes);
    if (buffer_bytes)
        make_buffer(buffer_bytes);
}

void pvh_boot(uint64_t start_info_physical)
{
    const struct start_info *start = pointer(start_info_physical);

    boot.entry = BOOT_ENTRY_PVH;
    boot.kernel_physical = KERNEL_PHYSICAL;
    boot.trampoline = TRAMPOLINE_PHYSICAL;
    if (start->magic == START_MAGIC) {
        boot.rsdp = start->rsdp;
        if (start->version >= 1 && start->memory_map)
            copy_memory_map(start);
        if (start->module_count) {
            const struct start_module *module = pointer(start->modules);
            boot.archive_base = module->base;
            boot.archive_bytes = module->bytes;
        }
        if (start->command_line)
            read_command_line(pointer(start->command_line));
    }
    kernel_main(&boot);
}
