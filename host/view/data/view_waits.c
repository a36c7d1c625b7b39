/* Keeps waits with their nodes in the call tree. */
#include "host/view/data/view_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/base/json.h"

struct settling {
    struct view_waits *waits;
    const struct trace_scan *scan;
};

void view_waits_free(struct view_waits *waits)
{
    off_cpu_free(&waits->off);
    free(waits->all);
    *waits = (struct view_waits){0};
}

/* A wait that has ended. */
static int keep(void *context, const struct off_cpu_event *wait, uint64_t ticks)
{
    const struct settling *s = context;
    struct view_waits *w = s->waits;
    uint64_t start = s->scan->info.clock.start_ticks;
    int error = 0;

    if (w->count == VIEW_WAITS_MAX) {
        w->refused++;
        w->refused_ticks += ticks;
        return 0;
    }
    if (array_grow(&w->all, w->count, sizeof w->all[0]) != 0)
        return -ENOMEM;
    w->all[w->count++] = (struct view_wait){
        .time = wait->time > start ? (wait->time - start) & VIEW_TICKS_MASK : 0,
        .ticks = ticks & VIEW_TICKS_MASK,
        .group = view_blocks_group(w->blocks, wait->cpu, wait->tid),
        .node = view_tree_sample(w->tree, &s->scan->stacks, wait->stack, wait->ip, &error),
    };
    return error;
}

int view_waits_finish(struct view_waits *waits, const struct trace_scan *scan)
{
    struct settling settling = {waits, scan};

    return off_cpu_settle(&waits->off, keep, &settling);
}

static int make_room(struct view_waits *waits, const struct trace_scan *scan)
{
    return off_cpu_full(&waits->off) ? view_waits_finish(waits, scan) : 0;
}

int view_waits_take(struct view_waits *waits, const struct trace_scan *scan,
                    const struct trace_samples *samples)
{
    int error = make_room(waits, scan);

    return error == 0 ? off_cpu_take_waits(&waits->off, samples) : error;
}

int view_waits_record(struct view_waits *waits, const struct trace_scan *scan,
                      const struct trace_record *record)
{
    int error = scan->info.has_stacks ? make_room(waits, scan) : 0;

    return error == 0 && scan->info.has_stacks ? off_cpu_take_record(&waits->off, record) : error;
}

void view_waits_pack(const struct view_waits *waits, struct view_columns *columns)
{
    static const char *const names[] = {"wait.time", "wait.ticks", "wait.group", "wait.node"};

    view_columns_set(columns, "waits_refused", json_number(waits->refused));
    view_columns_set(columns, "waits_refused_ticks", json_number(waits->refused_ticks));
    for (uint32_t f = 0; f < sizeof names / sizeof names[0]; f++) {
        view_columns_begin(columns);
        for (uint32_t i = 0; i < waits->count; i++) {
            const struct view_wait *wait = &waits->all[i];
            const uint64_t fields[] = {wait->time, wait->ticks, wait->group, wait->node};

            view_columns_put(columns, fields[f]);
        }
        view_columns_end(columns, names[f]);
    }
}
