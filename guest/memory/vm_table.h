/* Four-level page tables (Intel SDM volume 3, "4-Level Paging and 5-Level Paging"). */
#pragma once

#include <stdint.h>

#include "guest/base/layout.h"

#define VM_ENTRY_PRESENT (1ull << 0)
#define VM_ENTRY_WRITE (1ull << 1)
#define VM_ENTRY_USER (1ull << 2)
#define VM_ENTRY_WRITE_THROUGH (1ull << 3)
#define VM_ENTRY_UNCACHED (1ull << 4)
#define VM_ENTRY_ACCESSED (1ull << 5)
#define VM_ENTRY_DIRTY (1ull << 6)
#define VM_ENTRY_LARGE (1ull << 7)
#define VM_ENTRY_GLOBAL (1ull << 8)
#define VM_ENTRY_FOREIGN                                                     \
    (1ull << 9) /* ours: the page is a file's, not to be freed with the area \
                 */
#define VM_ENTRY_COPY (1ull << 10) /* ours: shared since a fork: guest/vm/vm_copy.h */
#define VM_ENTRY_NO_EXECUTE (1ull << 63)
#define VM_ENTRY_ADDRESS 0x000ffffffffff000ull

enum vm_level { VM_LEVEL_PAGE = 1, VM_LEVEL_LARGE = 2, VM_LEVEL_TOP = 4 };

struct vm_slot {
    uint64_t *entry;
    unsigned level; /* 1: a 4 KiB page's entry ... 4: in the top table */
};

/* Returns the bytes that one entry of a level covers. */
static inline uint64_t vm_level_bytes(unsigned level)
{
    return 1ull << (12 + 9 * (level - 1));
}

/* Returns the entry for `address` in the table of that level at physical address `table`. */
uint64_t *vm_table_entry(uint64_t table, uint64_t address, unsigned level);

/* Follows the tables down to `level`, or to the first hole or large page above it. */
struct vm_slot vm_table_look(uint64_t root, uint64_t address, unsigned level);

/* Returns the entry for `address` at `level`, making the tables above it.  NULL if out of memory,
 * or if a large page is in the way. */
uint64_t *vm_table_make(uint64_t root, uint64_t address, unsigned level);

/* Makes an empty table.  Returns its physical address, or 0 if out of memory. */
uint64_t vm_table_new(void);

/* Replaces a large page's entry by a table of 512 entries for the same memory.  Returns 0 or
 * -ENOMEM. */
int vm_table_split(uint64_t *entry);

/* Flushes this CPU's cached translations of start..end-1; cross_flush does so on all CPUs. */
void vm_table_forget(uint64_t start, uint64_t end);
