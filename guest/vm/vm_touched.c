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
    bool any; /* entry was reached */
    struct trace_pages_run run; /* not taken yet; pages 0: none */
    uint64_t next; /* the address after that run, with its flags: what continues it */
};

static void take_run(struct look *look)
{
    if (look->run.pages && look->take != NULL)
        look->take(look->context, &look->run);
    look->run.pages = 0;
}

static __attribute__((noinline)) void begin_run(struct look *look, uint64_t address, uint32_t flags)
{
    take_run(look);
    look->run = (struct trace_pages_run){.address = address, .flags = flags};
    look->next = address | flags;
}

static inline void add_pages(struct look *look, uint64_t address, uint64_t bytes, uint32_t flags)
{
    if (look->next != (address | flags))
        begin_run(look, address, flags);
    look->run.pages += bytes / PAGE_BYTES;
    look->next += bytes;
}

static inline uint32_t flags_of(uint64_t entry)
{
    return entry & VM_ENTRY_DIRTY ? TRACE_PAGES_WRITTEN : 0;
}

static uint64_t *entries_of(uint64_t table)
{
    return phys_pointer(table & VM_ENTRY_ADDRESS);
}

/* Entries are mostly untouched: eight are passed at once. */
#define GROUP 8u

static inline uint64_t bits_of_any(const uint64_t *entries)
{
    uint64_t any = 0;

#pragma GCC unroll 8
    for (unsigned i = 0; i < GROUP; i++)
        any |= entries[i];
    __asm__ volatile("" ::: "memory"); /* keeps no entry in a register, which would take a move */
    return any;
}

static inline uint64_t bits_of_all(const uint64_t *entries)
{
    uint64_t all = ~0ull;

#pragma GCC unroll 8
    for (unsigned i = 0; i < GROUP; i++)
        all &= entries[i];
    __asm__ volatile("" ::: "memory");
    return all;
}

/* Only processors change entries now, and they only set these bits.  What another one sets between
 * the reading and the writing is lost, as what it sets before it forgets its translations. */
static inline void clear_entry(uint64_t *entry)
{
    *entry &= ~TOUCHED;
}

static inline bool are_alike(const uint64_t *entries, bool written)
{
    uint64_t all = bits_of_all(entries);

    if (written)
        return (all & (REACHED | TOUCHED)) == (REACHED | TOUCHED);
    return (all & REACHED) == REACHED && !(bits_of_any(entries) & VM_ENTRY_DIRTY);
}

/* Takes the groups before `end` whose pages were all written, or all read alone: touched pages most
 * often have neighbours of their kind.  Returns the first entry that it did not take. */
static inline __attribute__((always_inline)) uint64_t *take_alike(struct look *look,
                                                                  uint64_t *entries,
                                                                  const uint64_t *end,
                                                                  uint64_t address, bool written)
{
    uint64_t *at = entries;
    bool clear = look->clear;

    for (; at != end && are_alike(at, written); at += GROUP) {
        if (!clear)
            continue;
#pragma GCC unroll 8
        for (unsigned i = 0; i < GROUP; i++)
            clear_entry(at + i);
    }
    if (at != entries)
        add_pages(look, address, (uint64_t)(at - entries) * PAGE_BYTES,
                  written ? TRACE_PAGES_WRITTEN : 0);
    return at;
}

/* Eight pages of different kinds. */
static void look_at_group(struct look *look, uint64_t *entries, uint64_t address)
{
    for (unsigned i = 0; i < GROUP; i++) {
        if ((entries[i] & REACHED) != REACHED)
            continue;
        add_pages(look, address + i * PAGE_BYTES, PAGE_BYTES, flags_of(entries[i]));
        if (look->clear)
            clear_entry(entries + i);
    }
}

/* The lowest table, in which most of a look's time goes. */
static void look_at_pages(struct look *look, uint64_t *entries, uint64_t address)
{
    const uint64_t *end = entries + ENTRIES;

    for (uint64_t *at = entries, *next; at != end; at = next) {
        uint64_t here = address + (uint64_t)(at - entries) * PAGE_BYTES, any;

        next = at + GROUP;
        any = bits_of_any(at);
        if (!(any & VM_ENTRY_ACCESSED))
            continue;
        next = any & VM_ENTRY_DIRTY ? take_alike(look, at, end, here, true)
                                    : take_alike(look, at, end, here, false);
        if (next != at)
            continue;
        look_at_group(look, at, here);
        next = at + GROUP;
    }
}

static void look_below(struct look *look, uint64_t table, uint64_t address, unsigned level);

/* An entry of a table above the lowest. */
static void look_at_entry(struct look *look, uint64_t *at, uint64_t address, unsigned level)
{
    uint64_t entry = *at;

    if ((entry & REACHED) != REACHED)
        return;
    look->any = true;
    if (look->clear)
        clear_entry(at);
    if (entry & VM_ENTRY_LARGE)
        add_pages(look, address, vm_level_bytes(level), flags_of(entry) | TRACE_PAGES_LARGE);
    else if (level == VM_LEVEL_LARGE)
        look_at_pages(look, entries_of(entry), address);
    else
        look_below(look, entry, address, level - 1);
}

static void look_below(struct look *look, uint64_t table, uint64_t address, unsigned level)
{
    uint64_t *entries = entries_of(table), bytes = vm_level_bytes(level);
    unsigned count = level == VM_LEVEL_TOP ? USER_ENTRIES : ENTRIES;

    for (unsigned i = 0; i < count; i += GROUP) {
        if (!(bits_of_any(entries + i) & VM_ENTRY_ACCESSED))
            continue;
        for (unsigned j = i; j < i + GROUP; j++)
            look_at_entry(look, entries + j, address + j * bytes, level);
    }
}

void vm_touched_start(void)
{
    vm_leaf_base &= ~TOUCHED;
}

bool vm_touched_look(const struct vm_space *space, vm_touched_take *take, void *context, bool clear)
{
    struct look look = {.take = take, .context = context, .clear = clear, .next = UINT64_MAX};

    cross_assert_held();
    look_below(&look, space->root, 0, VM_LEVEL_TOP);
    take_run(&look);
    return look.any;
}
