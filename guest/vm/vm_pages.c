/* The pages of an address space's areas. */
#include "guest/vm/vm_pages.h"
#include "guest/cpu/cross.h"

#include <errno.h>
#include <string.h>

#include "guest/base/image.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_table.h"
#include "guest/vm/vm_copy.h"
#include "guest/vm/vm_share.h"

#define LARGE_MASK (LARGE_PAGE_BYTES - 1ull)

SEALED uint64_t vm_leaf_base = VM_ENTRY_PRESENT | VM_ENTRY_ACCESSED | VM_ENTRY_DIRTY;

uint64_t vm_leaf_flags(uint32_t protection)
{
    uint64_t flags = vm_leaf_base;

    if (protection)
        flags |= VM_ENTRY_USER;
    if (protection & VM_WRITE)
        flags |= VM_ENTRY_WRITE;
    if (!(protection & VM_EXEC))
        flags |= VM_ENTRY_NO_EXECUTE;
    return flags;
}

void vm_pages_withdraw(const struct vm_space *space, uint64_t *entry, uint64_t address)
{
    *entry = 0;
    cross_flush(space, address, address + PAGE_BYTES);
}

/* A visit of every present entry of start..end-1; large pages that extend beyond the range are
 * split. */
struct visit {
    struct vm_space *space;
    uint64_t start;
    uint64_t end;
    int (*leaf)(const struct visit *visit, struct vm_slot slot, uint64_t address);
    bool withdrawn; /* visits entries that are not present too */
    bool files; /* for forget: only what a file shows */
    bool in_place; /* for forget: all who share a table may see the change */
    uint32_t protection; /* for protect */
    uint64_t distance; /* for move: added to an address */
};

/* Splits a large page that reaches across `address`. */
static int split_page_at(struct vm_space *space, uint64_t address)
{
    struct vm_slot slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);

    if (slot.level != VM_LEVEL_LARGE || !(*slot.entry & VM_ENTRY_PRESENT) ||
        !(address & LARGE_MASK))
        return 0;
    return vm_table_split(slot.entry);
}

/* Does all that can fail before the first leaf, so that a range is changed as a whole or not at
 * all. */
static int visit_leaves(const struct visit *visit)
{
    uint64_t address = visit->start;
    int error = vm_copy_tables(visit->space, visit->start, visit->end);

    if (error && visit->in_place)
        error = 0;
    if (!error)
        error = split_page_at(visit->space, visit->start);
    if (!error)
        error = split_page_at(visit->space, visit->end);
    while (!error && address < visit->end) {
        struct vm_slot slot = vm_table_look(visit->space->root, address, VM_LEVEL_PAGE);
        uint64_t bytes = vm_level_bytes(slot.level);

        if (*slot.entry & (visit->withdrawn ? ~0ull : VM_ENTRY_PRESENT))
            error = visit->leaf(visit, slot, address);
        address = (address & ~(bytes - 1)) + bytes;
    }
    return error;
}

/* Withdraws the entry, has every CPU forget it, and only then frees the page: until then another
 * CPU may still write to it. */
static int withdraw_leaf(const struct visit *visit, struct vm_slot slot, uint64_t /* address */)
{
    if (!visit->files || *slot.entry & VM_ENTRY_FOREIGN)
        *slot.entry &= ~VM_ENTRY_PRESENT;
    return 0;
}

static int free_leaf(const struct visit *visit, struct vm_slot slot, uint64_t /* address */)
{
    if (*slot.entry & VM_ENTRY_PRESENT) /* forget left it */
        return 0;
    if (!(*slot.entry & VM_ENTRY_FOREIGN))
        vm_share_free(*slot.entry);
    *slot.entry = 0;
    visit->space->resident_bytes -= vm_level_bytes(slot.level);
    return 0;
}

/* Frees the page tables that start..end-1 has emptied: those that cover nothing outside of
 * low..high-1, in which there are no pages.  Then large pages fit there again, and a program that
 * maps in many places does not use up memory.  Unlinks and chains them first: another CPU may walk
 * them until it has flushed.  A link is the next table's address in the first entry, which that CPU
 * takes for an entry that is not present. */
struct trim {
    uint64_t start;
    uint64_t end;
    uint64_t low;
    uint64_t high;
    uint64_t *unlinked; /* chain of tables to free */
};

static void unlink_tables(uint64_t table, unsigned level, const struct trim *trim)
{
    uint64_t bytes = vm_level_bytes(level);
    uint64_t address = trim->start & ~(bytes - 1);

    for (; address < trim->end; address += bytes) {
        struct trim part = *trim;
        uint64_t *entry = vm_table_entry(table, address, level);
        uint64_t unlinked;

        if (!(*entry & VM_ENTRY_PRESENT) || *entry & VM_ENTRY_LARGE)
            continue;
        part.start = address > trim->start ? address : trim->start;
        part.end = address + bytes < trim->end ? address + bytes : trim->end;
        if (level > VM_LEVEL_LARGE)
            unlink_tables(*entry, level - 1, &part);
        if (address < trim->low || address + bytes > trim->high)
            continue;
        unlinked = *entry & VM_ENTRY_ADDRESS;
        *entry = 0;
        *(uint64_t *)phys_pointer(unlinked) = *trim->unlinked;
        *trim->unlinked = unlinked;
    }
}

static void free_tables(struct vm_space *space, struct trim trim)
{
    uint64_t chain = 0;

    trim.unlinked = &chain;
    unlink_tables(space->root, VM_LEVEL_TOP, &trim);
    if (chain)
        cross_flush(space, trim.start, trim.end);
    while (chain) {
        uint64_t next = *(const uint64_t *)phys_pointer(chain);

        phys_free(chain, 0);
        chain = next;
    }
}

int vm_pages_free(struct vm_space *space, uint64_t start, uint64_t end, uint64_t low, uint64_t high)
{
    struct visit visit = {.space = space, .start = start, .end = end, .leaf = withdraw_leaf};
    int error = visit_leaves(&visit);

    cross_flush(space, start, end);
    if (error)
        return error;
    visit.withdrawn = true;
    visit.leaf = free_leaf;
    visit_leaves(&visit);
    free_tables(space, (struct trim){.start = start, .end = end, .low = low, .high = high});
    return 0;
}

void vm_pages_forget(struct vm_space *space, uint64_t start, uint64_t end, bool copies)
{
    struct visit visit = {.space = space,
                          .start = start,
                          .end = end,
                          .leaf = withdraw_leaf,
                          .files = !copies,
                          .in_place = true};

    visit_leaves(&visit); /* areas of files have no large pages to split */
    cross_flush(NULL, start, end); /* others may share its tables */
    visit.withdrawn = true;
    visit.leaf = free_leaf;
    visit_leaves(&visit);
}

static int protect_leaf(const struct visit *visit, struct vm_slot slot, uint64_t /* address */)
{
    uint64_t kept =
        *slot.entry & (VM_ENTRY_ADDRESS | VM_ENTRY_LARGE | VM_ENTRY_FOREIGN | VM_ENTRY_COPY);
    uint64_t flags = vm_leaf_flags(visit->protection);

    if (kept & (VM_ENTRY_FOREIGN | VM_ENTRY_COPY) && !(*slot.entry & VM_ENTRY_WRITE))
        flags &= ~VM_ENTRY_WRITE;
    *slot.entry = kept | flags;
    return 0;
}

int vm_pages_protect(struct vm_space *space, uint64_t start, uint64_t end, uint32_t protection)
{
    struct visit visit = {
        .space = space, .start = start, .end = end, .leaf = protect_leaf, .protection = protection};
    int error = visit_leaves(&visit);

    cross_flush(space, start, end);
    return error;
}

/* Makes the tables for a leaf's new place; splits a large page that cannot stay one. */
static int prepare_move(const struct visit *visit, struct vm_slot slot, uint64_t address)
{
    struct vm_space *space = visit->space;

    if (slot.level == VM_LEVEL_LARGE && visit->distance % LARGE_PAGE_BYTES) {
        int error = vm_table_split(slot.entry);

        if (error)
            return error;
        for (uint64_t i = 0; i < LARGE_PAGE_BYTES; i += PAGE_BYTES)
            if (vm_copy_make(space, address + visit->distance + i, VM_LEVEL_PAGE) == NULL)
                return -ENOMEM;
        return 0;
    }
    return vm_copy_make(space, address + visit->distance, slot.level) != NULL ? 0 : -ENOMEM;
}

static int move_leaf(const struct visit *visit, struct vm_slot slot, uint64_t address)
{
    uint64_t *to = vm_table_make(visit->space->root, address + visit->distance, slot.level);

    uint64_t table = slot.level == VM_LEVEL_LARGE && (*to & VM_ENTRY_PRESENT) ? *to : 0;

    *to = *slot.entry;
    *slot.entry = 0;
    if (table) { /* an empty one of an earlier mapping */
        cross_flush(visit->space, address + visit->distance,
                    address + visit->distance + LARGE_PAGE_BYTES);
        phys_free(table & VM_ENTRY_ADDRESS, 0);
    }
    return 0;
}

int vm_pages_move(struct vm_space *space, uint64_t from, uint64_t to, uint64_t bytes)
{
    struct visit visit = {.space = space,
                          .start = from,
                          .end = from + bytes,
                          .leaf = prepare_move,
                          .distance = to - from};
    int error = visit_leaves(&visit);

    if (error)
        return error;
    visit.leaf = move_leaf;
    visit_leaves(&visit);
    cross_flush(space, from, from + bytes);
    return 0;
}
