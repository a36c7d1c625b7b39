/* The buddy allocator of physical memory. */
#include "guest/memory/buddy.h"

#include <stdbool.h>
#include <string.h>

#include "guest/base/layout.h"

#define LARGEST (BUDDY_ORDERS - 1)
#define NO_PAGE UINT64_MAX

struct buddy_block {
    struct buddy_block *next;
    struct buddy_block *previous;
};

static uint64_t words_of_order(uint64_t page_count, unsigned order)
{
    return ((page_count >> order) + 64) / 64;
}

size_t buddy_metadata_bytes(uint64_t page_count)
{
    uint64_t words = 0;

    for (unsigned order = 0; order < BUDDY_ORDERS; order++)
        words += words_of_order(page_count, order);
    return words * sizeof(uint64_t);
}

void buddy_init(struct buddy *b, void *metadata, uint64_t first_page, uint64_t page_count,
                uint64_t pointer_offset)
{
    uint64_t *bits = metadata;

    memset(b, 0, sizeof *b);
    memset(metadata, 0, buddy_metadata_bytes(page_count));
    b->pointer_offset = pointer_offset;
    b->first_page = first_page;
    b->page_count = page_count;
    for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
        b->free_bits[order] = bits;
        bits += words_of_order(page_count, order);
    }
}

static struct buddy_block *block_at(const struct buddy *b, uint64_t page)
{
    return (struct buddy_block *)((b->first_page + page) * PAGE_BYTES + b->pointer_offset);
}

static uint64_t page_of(const struct buddy *b, const struct buddy_block *block)
{
    return ((uint64_t)block - b->pointer_offset) / PAGE_BYTES - b->first_page;
}

static bool is_free(const struct buddy *b, uint64_t page, unsigned order)
{
    uint64_t bit = page >> order;

    return b->free_bits[order][bit / 64] >> bit % 64 & 1;
}

static void buddy_flip(struct buddy *b, uint64_t page, unsigned order)
{
    uint64_t bit = page >> order;

    b->free_bits[order][bit / 64] ^= 1ull << bit % 64;
}

/* Blocks of the largest order are on no list, so that unused memory is not touched. */
static void buddy_push(struct buddy *b, uint64_t page, unsigned order)
{
    struct buddy_block *block = block_at(b, page);

    buddy_flip(b, page, order);
    if (order == LARGEST)
        return;
    block->next = b->lists[order];
    block->previous = NULL;
    if (block->next != NULL)
        block->next->previous = block;
    b->lists[order] = block;
}

static void buddy_take(struct buddy *b, uint64_t page, unsigned order)
{
    struct buddy_block *block = block_at(b, page);

    buddy_flip(b, page, order);
    if (order == LARGEST)
        return;
    if (block->previous != NULL)
        block->previous->next = block->next;
    else
        b->lists[order] = block->next;
    if (block->next != NULL)
        block->next->previous = block->previous;
}

/* Returns the first page of a free block of exactly this order, or NO_PAGE. */
static uint64_t buddy_find(const struct buddy *b, unsigned order)
{
    uint64_t words = words_of_order(b->page_count, LARGEST);

    if (order < LARGEST)
        return b->lists[order] != NULL ? page_of(b, b->lists[order]) : NO_PAGE;
    for (uint64_t i = 0; i < words; i++) {
        uint64_t bits = b->free_bits[LARGEST][i];
        if (bits)
            return (i * 64 + (unsigned)__builtin_ctzll(bits)) << LARGEST;
    }
    return NO_PAGE;
}

static void buddy_insert(struct buddy *b, uint64_t page, unsigned order)
{
    for (; order < LARGEST; order++) {
        uint64_t other = page ^ 1ull << order;

        if (other + (1ull << order) > b->page_count || !is_free(b, other, order))
            break;
        buddy_take(b, other, order);
        page &= ~(1ull << order);
    }
    buddy_push(b, page, order);
}

/* Makes the pages page .. last-1 free, in blocks as large as possible. */
static void buddy_insert_pages(struct buddy *b, uint64_t page, uint64_t last)
{
    while (page < last) {
        unsigned order = LARGEST;

        while (page & ((1ull << order) - 1) || page + (1ull << order) > last)
            order--;
        buddy_insert(b, page, order);
        page += 1ull << order;
    }
}

void buddy_add(struct buddy *b, uint64_t from, uint64_t end)
{
    buddy_insert_pages(b, from - b->first_page, end - b->first_page);
    b->total_bytes += (end - from) * PAGE_BYTES;
    b->free_bytes += (end - from) * PAGE_BYTES;
    b->least_free_bytes = b->free_bytes;
}

static void note_use(struct buddy *b, unsigned order)
{
    b->free_bytes -= (uint64_t)PAGE_BYTES << order;
    if (b->free_bytes < b->least_free_bytes)
        b->least_free_bytes = b->free_bytes;
}

uint64_t buddy_alloc(struct buddy *b, unsigned order)
{
    unsigned found = order;
    uint64_t page = NO_PAGE;

    while (found < BUDDY_ORDERS && (page = buddy_find(b, found)) == NO_PAGE)
        found++;
    if (page == NO_PAGE)
        return 0;
    buddy_take(b, page, found);
    while (found > order) {
        found--;
        buddy_push(b, page + (1ull << found), found);
    }
    note_use(b, order);
    return (b->first_page + page) * PAGE_BYTES;
}

uint64_t buddy_alloc_last(struct buddy *b)
{
    for (uint64_t i = words_of_order(b->page_count, LARGEST); i-- > 0;) {
        uint64_t bits = b->free_bits[LARGEST][i];
        uint64_t page = (i * 64 + 63 - (unsigned)__builtin_clzll(bits | 1)) << LARGEST;

        if (!bits)
            continue;
        buddy_take(b, page, LARGEST);
        note_use(b, LARGEST);
        return (b->first_page + page) * PAGE_BYTES;
    }
    return 0;
}

void buddy_free(struct buddy *b, uint64_t address, unsigned order)
{
    buddy_insert(b, address / PAGE_BYTES - b->first_page, order);
    b->free_bytes += (uint64_t)PAGE_BYTES << order;
}

void buddy_free_pages(struct buddy *b, uint64_t address, uint64_t pages)
{
    uint64_t page = address / PAGE_BYTES - b->first_page;

    buddy_insert_pages(b, page, page + pages);
    b->free_bytes += pages * PAGE_BYTES;
}
