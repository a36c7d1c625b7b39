/* The working set of a run. */
#include "host/summary/summary_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/json.h"
#include "host/base/text.h"
#include "host/summary/summary_sampling.h"
#include "host/trace/trace_looks.h"
#include "lib/trace/trace_pages.h"

void summary_memory_free(struct summary_memory *memory)
{
    free(memory->looks);
    *memory = (struct summary_memory){0};
}

static int reserve(struct summary_memory *memory, uint32_t count)
{
    uint32_t room = count + count / 2;

    if (count > memory->room) {
        uint64_t *looks = realloc(memory->looks, room * sizeof *looks);

        if (looks == NULL)
            return -ENOMEM;
        memset(looks + memory->room, 0, (room - memory->room) * sizeof *looks);
        memory->looks = looks;
        memory->room = room;
    }
    if (count > memory->look_count)
        memory->look_count = count;
    return 0;
}

int summary_memory_record(struct summary_memory *memory, const struct trace_info *info,
                          const struct selection *selection, const struct trace_record *record)
{
    uint64_t interval_ns, ns, look;
    struct trace_pages_reader reader;
    struct trace_pages_run run;
    struct hr_rec_pages head;
    const uint8_t *tail;
    size_t bytes;

    if (record->type != HR_REC_PAGES || !trace_body(record, &head, sizeof head, &tail, &bytes))
        return 0;
    interval_ns = trace_looks_interval(info);
    if (interval_ns == 0)
        return 0;
    ns = trace_info_time_ns(info, head.time);
    look = trace_look(ns, interval_ns);
    if (ns < selection->from_ns || ns > selection->to_ns ||
        !selection_has_pid(selection, head.pid) || look >= TRACE_LOOKS_MAX)
        return 0;
    if (reserve(memory, (uint32_t)look + 1) != 0)
        return -ENOMEM;
    trace_pages_open(&reader, head.address, tail, (uint32_t)bytes);
    while (trace_pages_next(&reader, &run) > 0)
        memory->looks[look] += run.pages <= TRACE_LOOKS_PAGES_MAX ? run.pages : 0;
    return 0;
}

int summary_memory_merge(struct summary_memory *memory, const struct summary_memory *next)
{
    if (reserve(memory, next->look_count) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < next->look_count; i++)
        memory->looks[i] += next->looks[i];
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Stores the median and the largest set, in bytes.  Returns false if there is none. */
static bool sets(const struct summary_memory *memory, uint64_t *median, uint64_t *largest)
{
    if (memory->look_count == 0)
        return false;
    qsort(memory->looks, memory->look_count, sizeof memory->looks[0], by_size);
    *median = memory->looks[memory->look_count / 2] * TRACE_PAGE_BYTES;
    *largest = memory->looks[memory->look_count - 1] * TRACE_PAGE_BYTES;
    return true;
}

void summary_memory_print(FILE *out, const struct summary_memory *memory,
                          const struct trace_info *info)
{
    char number[2][TEXT_QUANTITY_BYTES], time[TEXT_QUANTITY_BYTES];
    uint64_t median, largest;

    if (sets(memory, &median, &largest))
        fprintf(out, SUMMARY_ROW "touched in %s: median; largest %s. 'hr memory' says more\n",
                text_bytes(number[0], median), "working set",
                text_time(time, (double)trace_looks_interval(info)),
                text_bytes(number[1], largest));
}

json_t *summary_memory_json(const struct summary_memory *memory, const struct trace_info *info)
{
    uint64_t median, largest;
    json_t *object;

    if (!sets(memory, &median, &largest))
        return NULL;
    object = json_object();
    json_object_set_new(object, "interval_ns", json_number(trace_looks_interval(info)));
    json_object_set_new(object, "p50_bytes", json_number(median));
    json_object_set_new(object, "max_bytes", json_number(largest));
    return object;
}
