/* Which memory the kernel takes, and what it maps, of what a boot path says. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guest/base/layout.h"

/* RAM for the test: the direct map of the physical addresses from FIRST on. */
#define MIB (1ull << 20)
#define GIB (1ull << 30)
#define FIRST (3 * GIB)
#define ARENA_BYTES (64 * MIB)
static uint8_t *arena;
#undef DIRECT_MAP
#define DIRECT_MAP ((uint64_t)arena - FIRST)

#include "guest/memory/buddy.c"
#include "guest/memory/phys.c"

#include "tests/unit/test.h"

static jmp_buf panicked;
static uint64_t kernel_physical;
char kernel_start[1], kernel_end[1];

void panic(const char *format, ...)
{
    (void)format;
    longjmp(panicked, 1);
}

uint64_t image_physical(const void *address)
{
    return kernel_physical + (address == kernel_end ? MIB : 0);
}

static struct boot_info boot_with(uint32_t entry)
{
    struct boot_info info = {.entry = entry};

    memset(&memory, 0, sizeof memory);
    keep_out_count = 0;
    first_byte = ram_end = mapped_end = 0;
    kernel_physical = 1 * GIB;
    memset(arena, 0xa5, ARENA_BYTES);
    return info;
}

static void add(struct boot_info *info, uint64_t base, uint64_t bytes, uint32_t kind)
{
    info->ranges[info->range_count++] =
        (struct boot_memory_range){.base = base, .bytes = bytes, .kind = kind};
}

/* Takes all there is, page by page; every page is within one of the boot path's ranges. */
static uint64_t take_all(const struct boot_info *info)
{
    uint64_t taken = 0, page;

    while ((page = phys_alloc(0))) {
        bool inside = false;
        for (uint32_t i = 0; i < info->range_count; i++) {
            const struct boot_memory_range *r = &info->ranges[i];
            bool touches = page < r->base + r->bytes && page + PAGE_BYTES > r->base;
            if (touches && r->kind == BOOT_MEMORY_RAM)
                inside = page >= r->base && page + PAGE_BYTES <= r->base + r->bytes;
            assert_false(touches && r->kind != BOOT_MEMORY_RAM);
        }
        assert_true(inside);
        memset(phys_pointer(page), 0x5a, PAGE_BYTES);
        taken += PAGE_BYTES;
    }
    return taken;
}

static void many_small_ranges_are_used(void **state)
{
    struct boot_info info = boot_with(BOOT_ENTRY_UEFI);

    (void)state;
    for (uint64_t i = 0; i < 60; i++) /* none of them aligned to more than a page */
        add(&info, FIRST + i * MIB + PAGE_BYTES, MIB - (i + 2) * PAGE_BYTES, BOOT_MEMORY_RAM);
    phys_init(&info);
    uint64_t all = phys_total_bytes();
    assert_in_range(all, 45 * MIB, 60 * MIB);
    assert_int_equal(take_all(&info), all);
    assert_int_equal(phys_mapped_end(), 4 * GIB);
}

/* The allocator's tables are for the RAM that there is, not for all addresses below it. */
static void tables_do_not_grow_with_the_address(void **state)
{
    struct boot_info info = boot_with(BOOT_ENTRY_UEFI);

    (void)state;
    add(&info, FIRST + 2 * MIB, 8 * MIB, BOOT_MEMORY_RAM);
    phys_init(&info);
    assert_in_range(phys_total_bytes(), 8 * MIB - 4 * PAGE_BYTES, 8 * MIB - 1);
    take_all(&info);
}

static void buffers_are_mapped_and_left_alone(void **state)
{
    struct boot_info info = boot_with(BOOT_ENTRY_UEFI);

    (void)state;
    add(&info, FIRST, 16 * MIB, BOOT_MEMORY_RAM);
    add(&info, FIRST + 4 * MIB + 100, 3 * MIB, BOOT_MEMORY_BUFFER); /* a loader's mistake */
    add(&info, 100 * GIB + 4096, 512 * MIB, BOOT_MEMORY_BUFFER);
    add(&info, 300 * GIB, 64 * GIB, BOOT_MEMORY_RESERVED);
    phys_init(&info);
    assert_int_equal(phys_mapped_end(), 101 * GIB);
    take_all(&info);
    for (uint64_t i = 4 * MIB + 100; i < 7 * MIB + 100; i += 4096)
        assert_int_equal(arena[i], 0xa5);
}

static void archive_and_kernel_are_left_alone(void **state)
{
    struct boot_info info = boot_with(BOOT_ENTRY_PVH);

    (void)state;
    add(&info, FIRST, 16 * MIB, BOOT_MEMORY_RAM);
    kernel_physical = FIRST + 2 * MIB;
    info.archive_base = FIRST + 5 * MIB;
    info.archive_bytes = 10000;
    phys_init(&info);
    take_all(&info);
    for (uint64_t i = 0; i < MIB; i += 4096)
        assert_int_equal(arena[2 * MIB + i], 0xa5);
    for (uint64_t i = 0; i < 10000; i += 4096)
        assert_int_equal(arena[5 * MIB + i], 0xa5);
}

static void an_archive_far_up_is_mapped(void **state)
{
    struct boot_info info = boot_with(BOOT_ENTRY_PVH);

    (void)state;
    add(&info, FIRST, 16 * MIB, BOOT_MEMORY_RAM);
    info.archive_base = 9 * GIB + 5;
    info.archive_bytes = GIB;
    phys_init(&info);
    assert_int_equal(phys_mapped_end(), 11 * GIB);
}

static bool refused(const struct boot_info *info)
{
    if (setjmp(panicked))
        return true;
    phys_init(info);
    return false;
}

static void nonsense_is_refused(void **state)
{
    struct boot_info info = boot_with(BOOT_ENTRY_UEFI);

    (void)state;
    add(&info, FIRST, 16 * MIB, BOOT_MEMORY_RAM);
    add(&info, UINT64_MAX - 100, 4096, BOOT_MEMORY_RAM);
    assert_true(refused(&info));
    info = boot_with(BOOT_ENTRY_UEFI);
    add(&info, 1ull << 50, 4096, BOOT_MEMORY_BUFFER);
    assert_true(refused(&info));
    info = boot_with(BOOT_ENTRY_UEFI);
    info.range_count = BOOT_MEMORY_RANGES_MAX + 1;
    assert_true(refused(&info));
    info = boot_with(BOOT_ENTRY_UEFI);
    assert_true(refused(&info)); /* no RAM at all */
    info = boot_with(BOOT_ENTRY_UEFI);
    add(&info, 5 * GIB, GIB, BOOT_MEMORY_RAM); /* none that is mapped yet */
    assert_true(refused(&info));
}

static int open_arena(void **state)
{
    (void)state;
    arena = aligned_alloc(4 * MIB, ARENA_BYTES);
    return arena ? 0 : -1;
}

static int close_arena(void **state)
{
    (void)state;
    free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_small_ranges_are_used),
        cmocka_unit_test(tables_do_not_grow_with_the_address),
        cmocka_unit_test(buffers_are_mapped_and_left_alone),
        cmocka_unit_test(archive_and_kernel_are_left_alone),
        cmocka_unit_test(an_archive_far_up_is_mapped),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
