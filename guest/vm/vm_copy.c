/* Copy on write after a fork. */
#include "guest/vm/vm_copy.h"

#include <errno.h>

#include "guest/cpu/cross.h"
#include "guest/memory/page.h"
#include "guest/memory/phys.h"
#include "guest/vm/vm_area.h"
#include "guest/vm/vm_pages.h"
#include "guest/vm/vm_range.h"
#include "guest/vm/vm_share.h"

#define TABLE_ENTRIES 512u
#define TABLE_FLAGS (VM_ENTRY_PRESENT | VM_ENTRY_WRITE | VM_ENTRY_USER)

/* Most tables have few pages: four empty entries are passed at once. */
#define GROUP 4u

static inline bool group_is_empty(const uint64_t *entries)
{
    return !(entries[0] | entries[1] | entries[2] | entries[3]);
}

/* Both tables show the same from now on.  The first one cannot be written through: translations
 * stay right. */
static void copy_entries(uint64_t *to, uint64_t *from)
{
    page_zero(to);
    for (unsigned i = 0; i < TABLE_ENTRIES; i += GROUP) {
        if (group_is_empty(from + i))
            continue;
        for (unsigned j = i; j < i + GROUP; j++) {
            uint64_t entry = from[j];

            if (entry & VM_ENTRY_PRESENT && !(entry & VM_ENTRY_FOREIGN)) {
                entry = (entry & ~VM_ENTRY_WRITE) | VM_ENTRY_COPY;
                ++*vm_share_count(entry);
                from[j] = entry;
            }
            to[j] = entry;
        }
    }
}

/* Makes a shared table the space's own.  The others may change the old one at once, so every CPU
 * must forget that the way led there: flushing one page does that. */
static int own_table(const struct vm_space *space, uint64_t *entry, uint64_t address)
{
    uint64_t shared = *entry & VM_ENTRY_ADDRESS, table;
    uint16_t *count = vm_share_count(shared);

    if (!*count) {
        *entry = shared | TABLE_FLAGS;
        return 0;
    }
    table = phys_alloc(0);
    if (!table)
        return -ENOMEM;
    copy_entries(phys_pointer(table), phys_pointer(shared));
    --*count;
    *entry = table | TABLE_FLAGS;
    address &= ~VM_PAGE_MASK;
    cross_flush(space, address, address + PAGE_BYTES);
    return 0;
}

static int own_large(uint64_t *entry, const struct vm_area *area)
{
    if (!vm_share_sole_large(*entry))
        return vm_table_split(entry);
    *entry = (*entry & VM_ENTRY_ADDRESS) | vm_leaf_flags(area->protection) | VM_ENTRY_LARGE;
    return 0;
}

/* Until every CPU has forgotten the shared page, no CPU may write to the copy. */
static int own_page(const struct vm_space *space, uint64_t *entry, const struct vm_area *area,
                    uint64_t address)
{
    uint64_t page = *entry & VM_ENTRY_ADDRESS;
    uint16_t *count = vm_share_count(page);

    if (*count) {
        uint64_t copy = phys_alloc(0);

        if (!copy)
            return -ENOMEM;
        page_copy(phys_pointer(copy), phys_pointer(page));
        vm_pages_withdraw(space, entry, address & ~VM_PAGE_MASK);
        --*count;
        page = copy;
    }
    *entry = page | vm_leaf_flags(area->protection);
    return 0;
}

int vm_copy_own(struct vm_space *space, const struct vm_area *area, uint64_t address, bool write,
                struct vm_slot slot)
{
    struct vm_slot above;
    int error = 0, changed = 0;

    if (!write && *slot.entry & VM_ENTRY_PRESENT)
        return 0;
    above = vm_table_look(space->root, address, VM_LEVEL_LARGE);
    if (above.level == VM_LEVEL_LARGE && *above.entry & VM_ENTRY_COPY) {
        error = *above.entry & VM_ENTRY_LARGE ? own_large(above.entry, area)
                                              : own_table(space, above.entry, address);
        slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
        changed = 1;
    }
    if (!error && slot.level == VM_LEVEL_PAGE && write && *slot.entry & VM_ENTRY_COPY) {
        error = own_page(space, slot.entry, area, address);
        changed = 1;
    }
    return error ? error : changed;
}

int vm_copy_tables(struct vm_space *space, uint64_t start, uint64_t end)
{
    int error = 0;

    while (space->forked && !error && start < end) {
        struct vm_slot slot = vm_table_look(space->root, start, VM_LEVEL_LARGE);
        uint64_t bytes = vm_level_bytes(slot.level);

        if (slot.level == VM_LEVEL_LARGE && *slot.entry & VM_ENTRY_COPY &&
            !(*slot.entry & VM_ENTRY_LARGE))
            error = own_table(space, slot.entry, start);
        start = (start & ~(bytes - 1)) + bytes;
    }
    return error;
}

uint64_t *vm_copy_make(struct vm_space *space, uint64_t address, unsigned level)
{
    if (vm_copy_tables(space, address, address + 1) != 0)
        return NULL;
    return vm_table_make(space->root, address, level);
}

/* ---- whole spaces ---- */

/* Visits each present entry of a level that areas need, once. */
static int visit_entries(struct vm_space *space, unsigned level,
                         int (*visit)(struct vm_space *other, uint64_t *entry, uint64_t address),
                         struct vm_space *other)
{
    uint64_t size = vm_level_bytes(level), address = 0;

    for (const struct vm_area *area = space->areas; area != NULL; area = area->next) {
        if (address < area->start)
            address = area->start & ~(size - 1);
        while (address < area->end) {
            struct vm_slot slot = vm_table_look(space->root, address, level);
            uint64_t bytes = vm_level_bytes(slot.level);
            int error = 0;

            if (slot.level == level && *slot.entry & VM_ENTRY_PRESENT)
                error = visit(other, slot.entry, address);
            if (error)
                return error;
            address = (address & ~(bytes - 1)) + bytes;
        }
    }
    return 0;
}

static int share_entry(struct vm_space *child, uint64_t *entry, uint64_t address)
{
    uint64_t *to = vm_table_make(child->root, address, VM_LEVEL_LARGE);

    if (to == NULL)
        return -ENOMEM;
    if (*entry & VM_ENTRY_LARGE)
        vm_share_add_large(*entry);
    else
        ++*vm_share_count(*entry);
    *entry = *to = (*entry & ~VM_ENTRY_WRITE) | VM_ENTRY_COPY;
    return 0;
}

int vm_copy_share(struct vm_space *parent, struct vm_space *child)
{
    int error;

    parent->forked = child->forked = true;
    error = visit_entries(parent, VM_LEVEL_LARGE, share_entry, child);
    cross_flush(parent, 0, USER_END); /* the parent's pages can no longer be written */
    child->resident_bytes = parent->resident_bytes;
    return error;
}

/* Pages follow each other where memory was touched in order: runs of them are freed at once. */
static inline void free_group(const uint64_t *entries, uint64_t *start, uint64_t *end)
{
    for (unsigned i = 0; i < GROUP; i++) {
        uint64_t page = entries[i] & VM_ENTRY_ADDRESS;

        if (!(entries[i] & VM_ENTRY_PRESENT) || entries[i] & VM_ENTRY_FOREIGN ||
            !vm_share_drop(entries[i]))
            continue;
        if (page != *end) {
            phys_free_pages(*start, (*end - *start) / PAGE_BYTES);
            *start = page;
        }
        *end = page + PAGE_BYTES;
    }
}

/* Frees the pages of a table that begins at `address`: they are in areas. */
static void free_pages(const struct vm_space *space, const uint64_t *entries, uint64_t address)
{
    const struct vm_area *area = vm_area_from(space, address);
    uint64_t start = 0, end = 0, i = 0;

    for (; area != NULL && area->start < address + LARGE_PAGE_BYTES; area = area->next) {
        uint64_t last = (area->end - address) / PAGE_BYTES;

        if (area->start > address && i < (area->start - address) / PAGE_BYTES)
            i = (area->start - address) / PAGE_BYTES / GROUP * GROUP;
        for (; i < last && i < TABLE_ENTRIES; i += GROUP) {
            if (!group_is_empty(entries + i))
                free_group(entries + i, &start, &end);
        }
    }
    phys_free_pages(start, (end - start) / PAGE_BYTES);
}

static int free_entry(struct vm_space *space, uint64_t *entry, uint64_t address)
{
    if (*entry & VM_ENTRY_LARGE) {
        vm_share_free(*entry);
    } else if (vm_share_drop(*entry)) {
        free_pages(space, phys_pointer(*entry & VM_ENTRY_ADDRESS),
                   address & ~(LARGE_PAGE_BYTES - 1ull));
        phys_free(*entry & VM_ENTRY_ADDRESS, 0);
    }
    *entry = 0;
    return 0;
}

static int free_above(struct vm_space * /* other */, uint64_t *entry, uint64_t /* address */)
{
    phys_free(*entry & VM_ENTRY_ADDRESS, 0);
    *entry = 0;
    return 0;
}

void vm_copy_clear(struct vm_space *space)
{
    visit_entries(space, VM_LEVEL_LARGE, free_entry, space);
    for (unsigned level = VM_LEVEL_LARGE + 1; level <= VM_LEVEL_TOP; level++)
        visit_entries(space, level, free_above, NULL);
    space->resident_bytes = 0;
}
