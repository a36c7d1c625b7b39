/* Looks at threads' shadow stacks and makes hits of what began and ended.
 *
 * The kernel lock's holder gives a place to a thread and takes it back; in between, it is the
 * service CPU's alone.  That reads the program's memory without a lock: who withdraws memory clears
 * the page tables' entries first, and then waits for the end of a look (cross_look_begin).  Tables
 * of a space stay while a place has a thread of it.
 */
#include "guest/calls/calls_observe.h"

#include <errno.h>
#include <string.h>

#include "drivers/apic/apic.h"
#include "guest/base/context.h"
#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cross.h"
#include "guest/memory/heap.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampling.h"
#include "guest/sample/stack_page.h"
#include "guest/thread/thread.h"
#include "guest/trace/called.h"
#include "guest/trace/trace.h"
#include "guest/vm/vm.h"
#include "include/hr_format.h"
#include "lib/trace/call_stack.h"
#include "lib/x86.h"

_Static_assert(RING_SLOTS > 2 * CALL_STACK_MAX, "a look fits");

#define SCANS_AT_ONCE 16u /* between other service work */

enum place_state { PLACE_FREE, PLACE_USED, PLACE_LEAVING };

struct place { /* of a thread */
    uint32_t state; /* enum place_state; atomic */
    uint32_t tid;
    const struct vm_space *space;
    struct hr_abi_calls calls; /* user addresses */
    uint64_t beyond; /* as the last look found it */
    struct call_stack stack;
    /* during a look */
    uint64_t time;
    uint64_t page; /* user address of the page last found; 0: none */
    const uint8_t *memory; /* there; NULL: nothing */
};

static struct place places[CALLS_OBSERVED_MAX];
static uint32_t places_used; /* those beyond were never used; atomic */
static struct ring observer_ring;
static uint64_t last_scan; /* TSC; 0: there was nothing to look at */

void calls_observe_start(void)
{
    if (!run.latency || run.shared)
        return;
    if (ring_init(&observer_ring, 0, RING_SLOTS, sampling.session.event_count))
        panic("no memory for the observer's ring; give more with --mem");
    trace_add_ring(&observer_ring);
}

/* Returns where a word of the program's is, or NULL. */
static const uint64_t *observed_word(struct place *place, uint64_t address)
{
    uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);

    if (place->page != page) {
        place->page = page;
        place->memory = stack_page_from(place->space->root, page);
    }
    return place->memory != NULL ? (const uint64_t *)(place->memory + (address - page)) : NULL;
}

static const struct hr_abi_shadow_entry *observed_entry(void *context, uint32_t depth)
{
    struct place *place = context;

    return (const void *)observed_word(place, place->calls.entries +
                                                  depth * sizeof(struct hr_abi_shadow_entry));
}

static void observed(const struct place *place, uint32_t depth, uint64_t point, uint32_t what)
{
    struct trace_slot *slot;

    if (point == CALLED_NONE)
        return;
    slot = ring_slot(&observer_ring, observer_ring.head);
    slot->time = place->time;
    /* falls with the depth, as stack pointers do */
    slot->ip = place->calls.entries + (CALL_STACK_MAX - depth) * sizeof(struct hr_abi_shadow_entry);
    slot->tid = place->tid;
    slot->kind = HR_REC_PROBES;
    trace_slot_set_point(slot, (uint32_t)point, what);
    ring_publish(&observer_ring);
}

static void observed_end(void *context, uint32_t depth, struct call_entry *entry)
{
    observed(context, depth, entry->note, HR_PROBE_RETURNED);
}

static void observed_begin(void *context, uint32_t depth, struct call_entry *entry)
{
    const struct place *place = context;

    entry->note =
        called_point(place->space, entry->function, entry->call_site, place->tid, place->time);
    called_sums.unnumbered += entry->note == CALLED_NONE;
    observed(place, depth, entry->note, HR_PROBE_ENTERED);
}

static struct call_stack_visitor visitor_of(struct place *place)
{
    return (struct call_stack_visitor){place, observed_entry, observed_end, observed_begin};
}

/* Returns the depth that a thread's `top` stands for; the program may have stored anything. */
static uint32_t depth_of(const struct place *place, uint64_t top)
{
    uint64_t bytes = top - place->calls.entries;
    uint64_t depth = bytes / sizeof(struct hr_abi_shadow_entry);

    if (bytes % sizeof(struct hr_abi_shadow_entry) != 0 || depth > CALL_STACK_MAX + 1)
        return 0;
    return depth < CALL_STACK_MAX ? (uint32_t)depth : CALL_STACK_MAX;
}

static uint64_t read_shadow(struct place *place, uint64_t offset, uint64_t otherwise)
{
    const uint64_t *word = observed_word(place, place->calls.shadow + offset);

    return word != NULL ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : otherwise;
}

/* Returns false if `top` cannot be read. */
static bool read_depth(struct place *place, uint32_t *depth)
{
    uint64_t top = read_shadow(place, offsetof(struct hr_abi_shadow, top), 0);

    *depth = depth_of(place, top);
    return top != 0;
}

/* Sees to it that the hits of one look find room: it must not wait. */
static void make_room(void)
{
    if (observer_ring.head - observer_ring.tail > RING_SLOTS - 2 * CALL_STACK_MAX)
        calls_drain(false);
}

static void look_at(struct place *place, bool last)
{
    const struct call_stack_visitor visitor = visitor_of(place);
    uint64_t beyond;
    uint32_t depth;

    make_room();
    cross_look_begin();
    place->page = 0;
    if (read_depth(place, &depth)) {
        place->time = x86_rdtsc();
        call_stack_look(&place->stack, depth, &visitor);
    }
    beyond = read_shadow(place, offsetof(struct hr_abi_shadow, beyond), place->beyond);
    called_sums.beyond += beyond - place->beyond;
    place->beyond = beyond;
    if (last)
        call_stack_finish(&place->stack, &visitor);
    cross_look_end();
}

static void look_last(struct place *place)
{
    look_at(place, true);
    called_sums.missed += place->stack.missed;
    __atomic_store_n(&place->state, PLACE_FREE, __ATOMIC_RELEASE);
}

/* Returns whether any thread was looked at. */
static bool scan_once(void)
{
    uint32_t used = __atomic_load_n(&places_used, __ATOMIC_ACQUIRE);
    bool any = false;

    for (uint32_t i = 0; i < used; i++) {
        uint32_t state = __atomic_load_n(&places[i].state, __ATOMIC_ACQUIRE);

        if (state == PLACE_USED)
            look_at(&places[i], false);
        else if (state == PLACE_LEAVING)
            look_last(&places[i]);
        any |= state != PLACE_FREE;
    }
    return any;
}

/* Measures the time from one scan to the next, while there is something to look at. */
static void note_scan(uint64_t now, bool any)
{
    uint64_t ticks = now - last_scan;

    if (last_scan != 0 && any) {
        called_sums.scans++;
        called_sums.scan_ticks += ticks;
        if (ticks > called_sums.longest_ticks)
            called_sums.longest_ticks = ticks;
    }
    last_scan = any ? now : 0;
}

bool calls_scan(void)
{
    bool any = true;

    for (uint32_t i = 0; i < SCANS_AT_ONCE && any; i++) {
        uint64_t now = x86_rdtsc();

        any = scan_once();
        note_scan(now, any);
    }
    return any;
}

bool calls_drain(bool flush)
{
    return trace_drain(&observer_ring, flush);
}

void calls_finish(void)
{
    for (uint32_t i = 0; i < places_used; i++)
        if (places[i].state != PLACE_FREE)
            look_last(&places[i]);
}

/* Returns a free place with room for a stack, or NULL with *error set. */
static struct place *free_place(int *error)
{
    uint32_t i = 0;

    while (i < CALLS_OBSERVED_MAX &&
           __atomic_load_n(&places[i].state, __ATOMIC_ACQUIRE) != PLACE_FREE)
        i++;
    *error = -ENOSPC;
    if (i == CALLS_OBSERVED_MAX)
        return NULL;
    if (places[i].stack.entries == NULL)
        places[i].stack.entries = heap_alloc(CALL_STACK_BYTES);
    *error = -ENOMEM;
    return places[i].stack.entries != NULL ? &places[i] : NULL;
}

/* Returns a place that the observer does not look at yet, or NULL with *error set. */
static struct place *take_place(uint32_t tid, const struct vm_space *space,
                                const struct hr_abi_calls *calls, int *error)
{
    struct place *place = free_place(error);
    struct call_entry *entries;

    if (place == NULL) {
        called_sums.refused++;
        return NULL;
    }
    entries = place->stack.entries;
    memset(entries, 0, CALL_STACK_BYTES);
    *place = (struct place){.tid = tid, .space = space, .calls = *calls};
    place->stack.entries = entries;
    return place;
}

static void show_place(struct place *place)
{
    uint32_t number = (uint32_t)(place - places);

    __atomic_store_n(&place->state, PLACE_USED, __ATOMIC_RELEASE);
    if (number >= places_used)
        __atomic_store_n(&places_used, number + 1, __ATOMIC_RELEASE);
    apic_send(cpus[0].apic_id, VECTOR_WAKE); /* with nothing to look at, it may halt */
}

static struct place *place_of(const struct thread *thread)
{
    for (uint32_t i = 0; i < places_used; i++)
        if (places[i].tid == thread->tid &&
            __atomic_load_n(&places[i].state, __ATOMIC_ACQUIRE) == PLACE_USED)
            return &places[i];
    return NULL;
}

int calls_observe(struct cpu *cpu, const struct hr_abi_calls *calls)
{
    uint64_t bytes = CALL_STACK_MAX * sizeof(struct hr_abi_shadow_entry);
    struct place *place;
    int error;

    cross_assert_held();
    if (calls->shadow >= USER_END - sizeof(struct hr_abi_shadow) || calls->shadow % 8 != 0 ||
        calls->entries >= USER_END - bytes || calls->entries == 0 ||
        calls->entries % sizeof(struct hr_abi_shadow_entry) != 0 || place_of(cpu->thread) != NULL)
        return -EINVAL;
    place = take_place(cpu->tid, cpu->space, calls, &error);
    if (place == NULL)
        return error;
    show_place(place);
    return 0;
}

void calls_observe_forked(const struct thread *parent, const struct thread *child)
{
    const struct place *from = place_of(parent);
    struct place *place;
    uint32_t depth;
    int error;

    cross_assert_held();
    if (from == NULL || child->process->space == parent->process->space)
        return;
    place = take_place(child->tid, child->process->space, &from->calls, &error);
    if (place == NULL)
        return;
    /* the lock keeps memory where it is; what is open belongs to the parent */
    for (uint32_t i = 0; i < CALL_STACK_MAX; i++) {
        const struct hr_abi_shadow_entry *entry = observed_entry(place, i);

        if (entry != NULL)
            place->stack.entries[i].mark = entry->generation;
        place->stack.entries[i].note = CALLED_NONE;
    }
    if (read_depth(place, &depth))
        place->stack.depth = depth;
    place->beyond = read_shadow(place, offsetof(struct hr_abi_shadow, beyond), 0);
    show_place(place);
}

/* Gives back the memory of an ended thread's stack: the program does not know when.  It is as libhr
 * maps it, or it stays. */
static void drop_stack(struct vm_space *space, uint64_t entries)
{
    uint64_t start = entries - sizeof(struct hr_abi_shadow_entry);
    uint64_t bytes = sizeof(struct hr_abi_shadow_entry) * (HR_ABI_SHADOW_ENTRIES + 2);

    if (start % PAGE_BYTES == 0)
        (void)vm_unmap(space, start, (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1));
}

void calls_observe_ends(const struct thread *thread)
{
    struct place *place = place_of(thread);
    uint64_t entries;

    cross_assert_held();
    if (place == NULL)
        return;
    entries = place->calls.entries;
    __atomic_store_n(&place->state, PLACE_LEAVING, __ATOMIC_RELEASE);
    while (__atomic_load_n(&place->state, __ATOMIC_ACQUIRE) != PLACE_FREE)
        x86_pause();
    if (thread->process->thread_count > 1)
        drop_stack(thread->process->space, entries);
}
