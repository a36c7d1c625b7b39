/* Counts of the sharers of pages. */
#include "guest/vm/vm_share.h"

#include <errno.h>

#include "guest/memory/heap.h"
#include "guest/memory/page.h"
#include "guest/memory/phys.h"
#include "guest/vm/vm_pages.h"

#define BLOCK_BYTES (VM_SHARE_BLOCK * sizeof(uint16_t))
#define LARGE_WORDS (LARGE_PAGE_BYTES / PAGE_BYTES * sizeof(uint16_t) / sizeof(uint64_t))
#define EACH 0x0001000100010001ull /* one in each count of a word */
#define HIGHEST 0x8000800080008000ull /* bits of it; (w - EACH) & ~w has one if a count is 0 */

uint16_t **vm_share_blocks;
uint64_t vm_share_first;

static uint64_t new_block(void)
{
    uint64_t block = phys_alloc(phys_order(BLOCK_BYTES));

    for (uint64_t i = 0; block && i < BLOCK_BYTES; i += PAGE_BYTES)
        page_zero(phys_pointer(block + i));
    return block;
}

int vm_share_open(void)
{
    uint64_t bytes = phys_end() - phys_first_byte(); /* a multiple of the largest block */
    uint64_t count = (bytes / PAGE_BYTES + VM_SHARE_BLOCK - 1) / VM_SHARE_BLOCK;
    uint16_t **blocks;

    if (vm_share_blocks != NULL)
        return 0;
    blocks = heap_alloc(count * sizeof *blocks);
    for (uint64_t i = 0; blocks != NULL && i < count; i++) {
        uint64_t block = new_block();

        if (block) {
            blocks[i] = phys_pointer(block);
            continue;
        }
        while (i > 0)
            phys_free((uint64_t)blocks[--i] - DIRECT_MAP, phys_order(BLOCK_BYTES));
        heap_free(blocks, count * sizeof *blocks);
        return -ENOMEM;
    }
    vm_share_first = phys_first_byte();
    vm_share_blocks = blocks;
    return blocks != NULL ? 0 : -ENOMEM;
}

/* The counts of a 2 MiB page, four in a word: the page is aligned, and so are they. */
static uint64_t *large_counts(uint64_t entry)
{
    return (uint64_t *)(void *)vm_share_count(entry);
}

void vm_share_add_large(uint64_t entry)
{
    uint64_t *words = large_counts(entry);

    for (unsigned i = 0; i < LARGE_WORDS; i++)
        words[i] += EACH;
}

bool vm_share_sole_large(uint64_t entry)
{
    const uint64_t *words = large_counts(entry);
    uint64_t any = 0;

    for (unsigned i = 0; i < LARGE_WORDS; i++)
        any |= words[i];
    return !any;
}

/* Gives up a share of a 2 MiB page, four counts at a time where none of them is 0. */
static void drop_large(uint64_t entry)
{
    uint64_t *words = large_counts(entry);

    for (unsigned i = 0; i < LARGE_WORDS; i++) {
        uint64_t word = words[i], page = (entry & VM_ENTRY_ADDRESS) + i * 4ull * PAGE_BYTES;

        if (!((word - EACH) & ~word & HIGHEST)) {
            words[i] = word - EACH;
            continue;
        }
        for (unsigned j = 0; j < 4; j++)
            if (vm_share_drop(VM_ENTRY_COPY | (page + j * PAGE_BYTES)))
                phys_free(page + j * PAGE_BYTES, 0);
    }
}

void vm_share_free(uint64_t entry)
{
    uint64_t page = entry & VM_ENTRY_ADDRESS;

    if (!(entry & VM_ENTRY_LARGE)) {
        if (vm_share_drop(entry))
            phys_free(page, 0);
        return;
    }
    if (!(entry & VM_ENTRY_COPY) || vm_share_sole_large(entry))
        phys_free(page, VM_LARGE_ORDER);
    else
        drop_large(entry);
}
