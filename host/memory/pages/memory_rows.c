/* Rows of ranges, looks and functions for other programs. */
#include "host/memory/pages/memory_print.h"

#include <stdlib.h>

#include "host/scan/reader.h"

#define LOOK                                                                          \
    "time_ns:%lu,touched_bytes:%lu,written_bytes:%lu,new_bytes:%lu,set_10_bytes:%lu," \
    "set_100_bytes:%lu"
#define RANGE                                                                      \
    "pid:%u,start:%lu,end:%lu,touched_bytes:%lu,written_bytes:%lu,cold_bytes:%lu," \
    "mean_set_bytes:%lu,peak_set_bytes:%lu,first_ns:%lu,last_ns:%lu,what:%s,first_touched_by:%s"
#define TOUCHER                                                                                   \
    "touched_bytes:%lu,faults:%lu,written_bytes:%lu,first_ns:%lu,last_ns:%lu,most_in:%s,file:%s," \
    "function:%s"

static void put_looks(struct output_rows *rows, const struct memory *memory, unsigned long limit)
{
    for (size_t i = 0; i < reader_shown(memory->look_count, limit); i++) {
        const struct memory_look *look = &memory->looks[i];

        output_row(rows, LOOK, memory_look_ns(memory, (uint32_t)i), memory_bytes(look->set[0]),
                   memory_bytes(look->written), memory_bytes(look->fresh),
                   memory_bytes(look->set[1]), memory_bytes(look->set[2]));
    }
}

static void put_ranges(struct output_rows *rows, const struct memory *memory, unsigned long limit)
{
    const struct memory_range **all = memory_sorted(memory);

    for (size_t i = 0; all != NULL && i < reader_shown(memory->range_count, limit); i++) {
        const struct memory_range *r = all[i];

        output_row(rows, RANGE, r->pid, r->start, r->end, memory_bytes(r->touched),
                   memory_bytes(r->written), memory_bytes(r->cold),
                   memory_bytes(r->sum) / memory->look_count, memory_bytes(r->peak),
                   r->first * memory->interval_ns, memory_look_ns(memory, r->last), r->label,
                   memory_toucher(memory, r));
    }
    free(all);
}

static void put_touchers(struct output_rows *rows, const struct memory *memory, unsigned long limit)
{
    const struct memory_toucher **all = memory_sorted_touchers(memory);

    for (size_t i = 0; all != NULL && i < reader_shown(memory->toucher_count, limit); i++) {
        const struct memory_toucher *t = all[i];

        output_row(rows, TOUCHER, t->bytes, t->faults, t->written, t->first_ns, t->last_ns,
                   t->range != NULL ? t->range->label : "", t->object, t->name);
    }
    free(all);
}

static void put_sums(struct output *out, const struct memory *memory)
{
    output_json_print(out,
                      "{\"interval_ns\":%lu,\"look_count\":%u,\"touched_bytes\":%lu,"
                      "\"written_bytes\":%lu,\"cold_bytes\":%lu,\"seen_bytes\":%lu,"
                      "\"again_bytes\":%lu,\"stretches\":%lu,\"ignored\":%lu",
                      memory->interval_ns, memory->look_count, memory_bytes(memory->touched),
                      memory_bytes(memory->written), memory_bytes(memory->cold),
                      memory_bytes(memory->touches), memory_bytes(memory->again), memory->stretches,
                      memory->ignored);
}

void memory_rows(struct output *out, bool json, const struct memory *memory, enum memory_rows of,
                 unsigned long limit)
{
    static const struct {
        const char *name, *format;
        void (*put)(struct output_rows *rows, const struct memory *memory, unsigned long limit);
    } kinds[] = {[MEMORY_RANGES] = {"ranges", RANGE, put_ranges},
                 [MEMORY_LOOKS] = {"looks", LOOK, put_looks},
                 [MEMORY_TOUCHERS] = {"functions", TOUCHER, put_touchers}};
    struct output_rows rows = {.out = out, .json = json};

    if (json) {
        put_sums(out, memory);
        output_json_print(out, ",%s:", kinds[of].name);
    }
    output_rows_begin(&rows, kinds[of].format);
    kinds[of].put(&rows, memory, limit);
    output_rows_end(&rows);
    output_text(out, json ? "}\n" : "");
}
