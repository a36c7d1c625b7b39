/* Exact counts as runs of samples: docs/format.md, 7.10. */
#include "host/scan/trace_exact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/trace/trace_made.h"

struct reading {
    const uint8_t *next;
    const uint8_t *end;
    uint32_t events;
    uint64_t ip;
    uint64_t counters[HR_EVENTS_MAX]; /* so far: samples hold whole counts */
};

static bool read_number(struct reading *r, uint64_t *value)
{
    *value = 0;
    for (unsigned int shift = 0; r->next < r->end && shift < 64; shift += 7) {
        uint8_t byte = *r->next++;

        if (shift == 63 && byte > 1)
            return false;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_row(struct reading *r, struct trace_slot *slot, uint64_t *weight)
{
    uint64_t distance, count;
    uint8_t mask;

    if (!read_number(r, &distance) || r->next == r->end)
        return false;
    mask = *r->next++;
    if ((mask & 1) == 0 || mask >> r->events != 0)
        return false;
    r->ip += distance;
    *weight = 0;
    for (uint32_t i = 0; i < r->events; i++) {
        if ((mask >> i & 1) == 0)
            continue;
        if (!read_number(r, &count) || count == 0)
            return false;
        r->counters[i] += count;
        if (i == 0)
            *weight = count;
    }
    slot->ip = r->ip;
    memcpy(slot->counters, r->counters, sizeof r->counters);
    return true;
}

/* A part of a record that fills the scan's slots. */
static int hand_out(struct trace_scan *scan, const struct trace_visitor *visitor,
                    const struct hr_chunk_header *chunk, const struct trace_slot *previous,
                    uint32_t count)
{
    struct hr_chunk_header header = *chunk;
    const struct trace_samples samples = {.chunk = &header,
                                          .previous = previous,
                                          .slots = scan->slots,
                                          .count = count,
                                          .event_count = scan->info.event_count,
                                          .weights = scan->weights};

    header.cpu = 0; /* there was only one */
    return count != 0 ? visitor->samples(visitor->context, &samples) : 0;
}

static bool is_wanted(const struct trace_scan *scan, const struct trace_visitor *visitor,
                      uint32_t tid)
{
    return visitor->exact && visitor->samples != NULL &&
           trace_info_selects(&scan->info, &scan->selection, tid, UINT64_MAX) &&
           selection_has_cpu(&scan->selection, 0);
}

/* Gives one thread's counts common addresses; where names are wanted, those of code made at run
 * time say whose it is. */
static void place(struct trace_scan *scan, bool names, uint32_t count)
{
    const struct trace_processes *p = &scan->info.processes;
    uint32_t space;
    uint64_t until;

    if (!trace_processes_any(p))
        return;
    if (names && scan->info.names != NULL)
        (void)trace_names_read(scan->info.names);
    space = trace_processes_space(p, trace_processes_of(p, scan->slots[0].tid, UINT64_MAX),
                                  UINT64_MAX, &until);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *ip = &scan->slots[i].ip;

        *ip = trace_spaces_common(&p->spaces, space, *ip);
        if (names)
            *ip = trace_made_address(&scan->info, space, *ip, UINT64_MAX);
    }
}

enum trace_status trace_exact_visit(struct trace_scan *scan, const struct trace_visitor *visitor,
                                    const struct hr_chunk_header *chunk,
                                    const struct trace_record *record, int *result)
{
    struct hr_host_exact_counts counts;
    struct trace_slot previous = {0};
    struct reading r = {.events = scan->info.event_count};
    size_t bytes;
    uint32_t used = 0;
    bool wanted;

    if (!scan->info.has_exact || !trace_body(record, &counts, sizeof counts, &r.next, &bytes))
        return TRACE_BAD_RECORD;
    if (scan->weights == NULL)
        scan->weights = malloc(TRACE_RUN_SAMPLES_MAX * sizeof scan->weights[0]);
    if (scan->weights == NULL) {
        *result = -ENOMEM;
        return TRACE_OK;
    }
    r.end = r.next + bytes;
    wanted = is_wanted(scan, visitor, counts.tid);
    for (uint32_t n = 0; n < counts.count && *result == 0; n++) {
        scan->slots[used] = (struct trace_slot){.tid = counts.tid};
        if (!read_row(&r, &scan->slots[used], &scan->weights[used]))
            return TRACE_BAD_RECORD;
        if (++used < TRACE_RUN_SAMPLES_MAX && n + 1 < counts.count)
            continue;
        if (wanted && !visitor->own_addresses)
            place(scan, visitor->names, used);
        if (wanted)
            *result = hand_out(scan, visitor, chunk, &previous, used);
        previous = scan->slots[used - 1];
        used = 0;
    }
    return *result != 0 || r.next == r.end ? TRACE_OK : TRACE_BAD_RECORD;
}
