/* Rows of ranges, looks and functions for other programs. */
#include "host/memory/pages/memory_print.h"

#include <stdlib.h>

#include "host/scan/reader.h"

static void csv_looks(struct output *out, const struct memory *memory, unsigned long limit)
{
    output_text(out, "time_ns,touched_bytes,written_bytes,new_bytes,set_10_bytes,set_100_bytes\n");
    for (size_t i = 0; i < reader_shown(memory->look_count, limit); i++) {
        const struct memory_look *look = &memory->looks[i];

        output_csv_print(out, "%lu,%lu,%lu,%lu,%lu,%lu\n", memory_look_ns(memory, (uint32_t)i),
                         memory_bytes(look->set[0]), memory_bytes(look->written),
                         memory_bytes(look->fresh), memory_bytes(look->set[1]),
                         memory_bytes(look->set[2]));
    }
}

static void csv_ranges(struct output *out, const struct memory *memory, unsigned long limit)
{
    const struct memory_range **all = memory_sorted(memory);

    if (all == NULL)
        return;
    output_text(out, "pid,start,end,touched_bytes,written_bytes,cold_bytes,mean_set_bytes,"
                     "peak_set_bytes,first_ns,last_ns,what,first_touched_by\n");
    for (size_t i = 0; i < reader_shown(memory->range_count, limit); i++) {
        const struct memory_range *r = all[i];

        output_csv_print(out, "%u,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%s,%s\n", r->pid, r->start,
                         r->end, memory_bytes(r->touched), memory_bytes(r->written),
                         memory_bytes(r->cold), memory_bytes(r->sum) / memory->look_count,
                         memory_bytes(r->peak), r->first * memory->interval_ns,
                         memory_look_ns(memory, r->last), r->label, memory_toucher(memory, r));
    }
    free(all);
}

static void json_looks(struct output *out, const struct memory *memory, unsigned long limit)
{
    output_text(out, ",\"looks\":[");
    for (size_t i = 0; i < reader_shown(memory->look_count, limit); i++) {
        const struct memory_look *look = &memory->looks[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(out,
                          "{\"time_ns\":%lu,\"touched_bytes\":%lu,\"written_bytes\":%lu,"
                          "\"new_bytes\":%lu,\"set_10_bytes\":%lu,\"set_100_bytes\":%lu}",
                          memory_look_ns(memory, (uint32_t)i), memory_bytes(look->set[0]),
                          memory_bytes(look->written), memory_bytes(look->fresh),
                          memory_bytes(look->set[1]), memory_bytes(look->set[2]));
    }
    output_text(out, "]}\n");
}

static void json_ranges(struct output *out, const struct memory *memory, unsigned long limit)
{
    const struct memory_range **all = memory_sorted(memory);

    output_text(out, ",\"ranges\":[");
    for (size_t i = 0; all != NULL && i < reader_shown(memory->range_count, limit); i++) {
        const struct memory_range *r = all[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(
            out,
            "{\"pid\":%u,\"start\":%lu,\"end\":%lu,\"touched_bytes\":%lu,\"written_bytes\":%lu,"
            "\"cold_bytes\":%lu,\"mean_set_bytes\":%lu,\"peak_set_bytes\":%lu,\"first_ns\":%lu,"
            "\"last_ns\":%lu,\"what\":%s,\"first_touched_by\":%s}",
            r->pid, r->start, r->end, memory_bytes(r->touched), memory_bytes(r->written),
            memory_bytes(r->cold), memory_bytes(r->sum) / memory->look_count, memory_bytes(r->peak),
            r->first * memory->interval_ns, memory_look_ns(memory, r->last), r->label,
            memory_toucher(memory, r));
    }
    output_text(out, "]}\n");
    free(all);
}

static void csv_touchers(struct output *out, const struct memory *memory, unsigned long limit)
{
    const struct memory_toucher **all = memory_sorted_touchers(memory);

    output_text(out, "touched_bytes,faults,written_bytes,first_ns,last_ns,most_in,file,function\n");
    for (size_t i = 0; all != NULL && i < reader_shown(memory->toucher_count, limit); i++) {
        const struct memory_toucher *t = all[i];

        output_csv_print(out, "%lu,%lu,%lu,%lu,%lu,%s,%s,%s\n", t->bytes, t->faults, t->written,
                         t->first_ns, t->last_ns, t->range != NULL ? t->range->label : "",
                         t->object, t->name);
    }
    free(all);
}

static void json_touchers(struct output *out, const struct memory *memory, unsigned long limit)
{
    const struct memory_toucher **all = memory_sorted_touchers(memory);

    output_text(out, ",\"functions\":[");
    for (size_t i = 0; all != NULL && i < reader_shown(memory->toucher_count, limit); i++) {
        const struct memory_toucher *t = all[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(out,
                          "{\"touched_bytes\":%lu,\"faults\":%lu,\"written_bytes\":%lu,"
                          "\"first_ns\":%lu,\"last_ns\":%lu,\"most_in\":%s,\"file\":%s,"
                          "\"function\":%s}",
                          t->bytes, t->faults, t->written, t->first_ns, t->last_ns,
                          t->range != NULL ? t->range->label : "", t->object, t->name);
    }
    output_text(out, "]}\n");
    free(all);
}

typedef void rows_function(struct output *out, const struct memory *memory, unsigned long limit);

void memory_rows_csv(struct output *out, const struct memory *memory, enum memory_rows rows,
                     unsigned long limit)
{
    static rows_function *const functions[] = {csv_ranges, csv_looks, csv_touchers};

    functions[rows](out, memory, limit);
}

void memory_rows_json(struct output *out, const struct memory *memory, enum memory_rows rows,
                      unsigned long limit)
{
    static rows_function *const functions[] = {json_ranges, json_looks, json_touchers};

    output_json_print(out,
                      "{\"interval_ns\":%lu,\"look_count\":%u,\"touched_bytes\":%lu,"
                      "\"written_bytes\":%lu,\"cold_bytes\":%lu,\"seen_bytes\":%lu,"
                      "\"again_bytes\":%lu,\"stretches\":%lu,\"ignored\":%lu",
                      memory->interval_ns, memory->look_count, memory_bytes(memory->touched),
                      memory_bytes(memory->written), memory_bytes(memory->cold),
                      memory_bytes(memory->touches), memory_bytes(memory->again), memory->stretches,
                      memory->ignored);
    functions[rows](out, memory, limit);
}
