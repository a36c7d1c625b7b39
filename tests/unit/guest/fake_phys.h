/* Physical memory for tests: the kernel's buddy allocator over an arena of the test's own.
 * Include once, instead of linking guest/memory/phys.c.  A "physical address" is a pointer -
 * DIRECT_MAP, so that phys_pointer() gives the pointer back.
 */
#ifndef TESTS_UNIT_GUEST_FAKE_PHYS_H
#define TESTS_UNIT_GUEST_FAKE_PHYS_H

#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "guest/memory/buddy.c"
#include "guest/memory/phys.h"

#define ARENA_ALIGNMENT (4u << 20)

static struct buddy arena;
static void *arena_bytes, *arena_metadata;
static size_t arena_pages;

/* The bytes stay from one test to the next, which new pages of the kernel's would be dear for. */
static void fake_phys_open(size_t pages)
{
    uint64_t first;

    if (arena_pages != pages) {
        free(arena_bytes);
        arena_bytes = aligned_alloc(ARENA_ALIGNMENT, (pages + 1023) / 1024 * ARENA_ALIGNMENT);
        memset(arena_bytes, 0xa5, pages * PAGE_BYTES);
        arena_pages = pages;
    }
    ASAN_UNPOISON_MEMORY_REGION(arena_bytes, pages * PAGE_BYTES);
    arena_metadata = malloc(buddy_metadata_bytes(pages));
    first = ((uint64_t)arena_bytes - DIRECT_MAP) / PAGE_BYTES;
    buddy_init(&arena, arena_metadata, first, pages, DIRECT_MAP);
    buddy_add(&arena, first, first + pages);
}

static void fake_phys_close(void)
{
    ASAN_POISON_MEMORY_REGION(arena_bytes, arena_pages * PAGE_BYTES);
    free(arena_metadata);
}

uint64_t phys_alloc(unsigned order)
{
    uint64_t address = buddy_alloc(&arena, order);

    if (address)
        memset(phys_pointer(address), 0x5a, (size_t)PAGE_BYTES << order);
    return address;
}

void phys_free(uint64_t address, unsigned order)
{
    buddy_free(&arena, address, order);
}

void phys_free_pages(uint64_t address, uint64_t count)
{
    buddy_free_pages(&arena, address, count);
}

uint64_t phys_free_bytes(void)
{
    return arena.free_bytes;
}

uint64_t phys_first_byte(void)
{
    return arena.first_page * PAGE_BYTES;
}

uint64_t phys_end(void)
{
    return (arena.first_page + arena.page_count) * PAGE_BYTES;
}

uint64_t phys_total_bytes(void)
{
    return arena.total_bytes;
}

static void fake_zero(void *page)
{
    memset(page, 0, PAGE_BYTES);
}

void (*page_zero)(void *page) = fake_zero;

#endif
