/* A buddy allocator over one range of page frames, wherever its memory comes from.  Not reentrant.
 * Free blocks below the largest order hold their own list links; one bit per block and order says
 * whether the block is free at that order. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BUDDY_ORDERS 11 /* blocks of 1 to 1024 pages */

struct buddy_block;

struct buddy {
    uint64_t pointer_offset; /* pointer = address + pointer_offset */
    uint64_t first_page; /* a multiple of the largest block */
    uint64_t page_count;
    uint64_t *free_bits[BUDDY_ORDERS];
    struct buddy_block *lists[BUDDY_ORDERS];
    uint64_t free_bytes;
    uint64_t total_bytes;
    uint64_t least_free_bytes; /* ever seen since the last buddy_add */
};

/* Returns the bytes of metadata that page_count pages need. */
size_t buddy_metadata_bytes(uint64_t page_count);

/* `metadata` has buddy_metadata_bytes() bytes, 8-byte aligned.  No page is free yet. */
void buddy_init(struct buddy *b, void *metadata, uint64_t first_page, uint64_t page_count,
                uint64_t pointer_offset);

/* Gives the pages from..end-1 to the allocator; they must be inside its range and not free. */
void buddy_add(struct buddy *b, uint64_t from, uint64_t end);

uint64_t buddy_alloc(struct buddy *b, unsigned order); /* an address, or 0 if there is none */
uint64_t buddy_alloc_last(struct buddy *b); /* the last free block of the largest order */
void buddy_free(struct buddy *b, uint64_t address, unsigned order);
void buddy_free_pages(struct buddy *b, uint64_t address, uint64_t pages); /* adjacent ones */
