/* Reads and clears the accessed and dirty bits: see guest/vm/vm_touched.h. */
#include "guest/vm/vm_touched.h"

#include "guest/base/context.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_table.h"
#include "guest/vm/vm_pages.h"

#define ENTRIES 512u
#define USER_ENTRIES 256u /* of the top table */
#define REACHED (VM_ENTRY_PRESENT | VM_ENTRY_ACCESSED)
#define TOUCHED (VM_ENTRY_ACCESSED | VM_ENTRY_DIRTY)

struct look {
    vm_touched_take *take; /* or NULL */
    void *context;
    bool clear;
    struct trace_pages_run run; /* not taken yet; pages 0: none */
};

static void take_run(struct look *look)
{
    if (look->run.pages)
        look->take(look->context, &look->run);
    look->run.pages = 0;
}

static void add_page(struct look *look, uint64_t address, uint64_t entry, unsigned level)
{
    uint64_t pages = vm_level_bytes(level) / PAGE_BYTES;
    uint32_t flags = (entry & VM_ENTRY_DIRTY ? TRACE_PAGES_WRITTEN : 0) |
                     (level != VM_LEVEL_PAGE ? TRACE_PAGES_LARGE : 0);

    if (look->run.pages && look->run.flags == flags &&
        look->run.address + look->run.pages * PAGE_BYTES == address) {
        look->run.pages += pages;
        return;
    }
    take_run(look);
    look->run = (struct trace_pages_run){.address = address, .pages = pages, .flags = flags};
}

static bool is_leaf(uint64_t entry, unsigned level)
{
    return level == VM_LEVEL_PAGE || entry & VM_ENTRY_LARGE;
}

static uint64_t *entries_of(uint64_t table)
{
    return phys_pointer(table & VM_ENTRY_ADDRESS);
}

/* Entries are mostly untouched: eight are passed at once. */
#define GROUP 8u

static bool any_reached(const uint64_t *entries)
{
    uint64_t all = 0;

#pragma GCC unroll 8
    for (unsigned i = 0; i < GROUP; i++)
        all |= entries[i];
    return all & VM_ENTRY_ACCESSED;
}

/* Another CPU may set bits of an entry, so one instruction reads and clears them. */
static inline uint64_t read_entry(uint64_t *entry, bool clear)
{
    return clear ? __atomic_fetch_and(entry, ~TOUCHED, __ATOMIC_RELAXED) : *entry;
}

/* The lowest table, in which most of a look's time goes: a page like the one before is added at
 * once. */
static void look_at_pages(struct look *look, uint64_t *entries, uint64_t address)
{
    uint64_t next = look->run.address + look->run.pages * PAGE_BYTES, added = 0;
    bool clear = look->clear, written = look->run.flags & TRACE_PAGES_WRITTEN;
    bool small = look->run.pages && !(look->run.flags & TRACE_PAGES_LARGE);

    for (unsigned i = 0; i < ENTRIES; i++, address += PAGE_BYTES) {
        uint64_t entry;

        if (i % GROUP == 0 && !any_reached(entries + i)) {
            i += GROUP - 1;
            address += (GROUP - 1) * PAGE_BYTES;
            continue;
        }
        if ((entries[i] & REACHED) != REACHED)
            continue;
        entry = read_entry(entries + i, clear);
        if (address == next && small && written == !!(entry & VM_ENTRY_DIRTY)) {
            added++;
        } else if (look->take != NULL) {
            look->run.pages += added;
            added = 0;
            add_page(look, address, entry, VM_LEVEL_PAGE);
            small = true;
            written = entry & VM_ENTRY_DIRTY;
        }
        next = address + PAGE_BYTES;
    }
    look->run.pages += look->take != NULL ? added : 0;
}

static bool look_at(struct look *look, uint64_t table, uint64_t address, unsigned level)
{
    uint64_t *entries = entries_of(table), bytes = vm_level_bytes(level), entry;
    unsigned count = level == VM_LEVEL_TOP ? USER_ENTRIES : ENTRIES;
    bool any = false;

    for (unsigned i = 0; i < count; i++) {
        if (i % GROUP == 0 && !any_reached(entries + i)) {
            i += GROUP - 1;
            continue;
        }
        if ((entries[i] & REACHED) != REACHED)
            continue;
        any = true;
        entry = read_entry(entries + i, look->clear);
        if (level == VM_LEVEL_LARGE && !is_leaf(entry, level))
            look_at_pages(look, entries_of(entry), address + i * bytes);
        else if (!is_leaf(entry, level))
            look_at(look, entry, address + i * bytes, level - 1);
        else if (look->take != NULL)
            add_page(look, address + i * bytes, entry, level);
    }
    return any;
}

void vm_touched_start(void)
{
    vm_leaf_base &= ~TOUCHED;
}

bool vm_touched_look(const struct vm_space *space, vm_touched_take *take, void *context, bool clear)
{
    struct look look = {.take = take, .context = context, .clear = clear};
    bool any;

    cross_assert_held();
    any = look_at(&look, space->root, 0, VM_LEVEL_TOP);
    take_run(&look);
    return any;
}
