/* Writes rows of allocations for programs. */
#include "host/memory/allocations/memory_allocations_rows.h"

#include "host/memory/allocations/memory_allocations.h"
#include "host/scan/reader.h"

const char *memory_allocations_word(enum memory_by by)
{
    static const char *const words[] = {"site", "stack", "function", "line", "size", "thread"};

    return words[by];
}

const char *memory_allocations_name(const struct memory_groups *rows,
                                    const struct memory_group *row, char room[MEMORY_WHERE_BYTES])
{
    const struct memory_where *where = &row->where;

    if (rows->by == MEMORY_BY_SIZE)
        snprintf(room, MEMORY_WHERE_BYTES, "%lu bytes", row->key);
    else if (rows->by == MEMORY_BY_THREAD)
        snprintf(room, MEMORY_WHERE_BYTES, "thread %lu", row->key);
    else if (rows->by == MEMORY_BY_FUNCTION)
        memory_where_function(where, room);
    else if (rows->by == MEMORY_BY_LINE && where->file != NULL)
        snprintf(room, MEMORY_WHERE_BYTES, "%.480s:%u", where->file, where->line);
    else
        memory_where_text(where, room);
    return room;
}

void memory_allocations_csv(struct output *out, struct memory_groups *rows, unsigned long limit)
{
    output_text(out, memory_allocations_word(rows->by));
    output_text(out, ",file,line,object,bytes,count,freed,peak_bytes,peak_count,left_bytes,"
                     "left_count,at_peak_bytes,at_peak_count,lifetime_median_ns,lifetime_p90_ns,"
                     "brief\n");
    for (uint32_t i = 0; i < reader_shown(rows->count, limit); i++) {
        struct memory_group *row = rows->all[i];
        const struct memory_totals *t = &row->totals;
        char name[MEMORY_WHERE_BYTES];

        output_csv_print(out, "%s,%s,%u,%s,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu\n",
                         memory_allocations_name(rows, row, name), row->where.file, row->where.line,
                         row->where.object, t->bytes, t->count, t->freed, t->peak_bytes, t->peak,
                         t->left_bytes, t->left, row->at_peak_bytes, row->at_peak,
                         latency_values_at(&row->lifetimes, 0.5),
                         latency_values_at(&row->lifetimes, 0.9), row->brief);
    }
}

static void json_stack(struct output *out, const struct memory_groups *rows,
                       const struct memory_group *row)
{
    const struct memory_site *site = memory_sites_at(&rows->heap.sites, row->site);
    char frame[MEMORY_WHERE_BYTES];

    output_text(out, ",\"stack\":[");
    for (uint32_t i = 0; memory_where_frame(rows->symbols, rows->stacks, site, i, frame); i++)
        output_json_print(out, i != 0 ? ",%s" : "%s", frame);
    output_text(out, "]");
}

static void json_row(struct output *out, struct memory_groups *rows, struct memory_group *row)
{
    const struct memory_totals *t = &row->totals;
    char name[MEMORY_WHERE_BYTES];

    output_json_print(
        out,
        "{\"name\":%s,\"file\":%s,\"line\":%u,\"object\":%s,\"bytes\":%lu,\"count\":%lu,"
        "\"freed\":%lu,\"peak_bytes\":%lu,\"peak_count\":%lu,\"left_bytes\":%lu,"
        "\"left_count\":%lu,\"at_peak_bytes\":%lu,\"at_peak_count\":%lu,"
        "\"lifetime_median_ns\":%lu,\"lifetime_p90_ns\":%lu,\"brief\":%lu",
        memory_allocations_name(rows, row, name), row->where.file, row->where.line,
        row->where.object, t->bytes, t->count, t->freed, t->peak_bytes, t->peak, t->left_bytes,
        t->left, row->at_peak_bytes, row->at_peak, latency_values_at(&row->lifetimes, 0.5),
        latency_values_at(&row->lifetimes, 0.9), row->brief);
    if (rows->by == MEMORY_BY_STACK)
        json_stack(out, rows, row);
    output_text(out, "}");
}

void memory_allocations_json(struct output *out, struct memory_groups *rows, unsigned long limit)
{
    const struct memory_totals *t = &rows->totals;
    const struct trace_info *info = &rows->heap.scan->info;

    output_json_print(out,
                      "{\"by\":%s,\"bytes\":%lu,\"count\":%lu,\"freed\":%lu,\"peak_bytes\":%lu,"
                      "\"peak_count\":%lu,\"peak_ns\":%lu,\"left_bytes\":%lu,\"left_count\":%lu,"
                      "\"unknown_frees\":%lu,\"freed_twice\":%lu,\"replaced\":%lu,\"lost\":%lu",
                      memory_allocations_word(rows->by), t->bytes, t->count, t->freed,
                      t->peak_bytes, t->peak, trace_info_time_ns(info, t->peak_time), t->left_bytes,
                      t->left, rows->unknown, rows->twice, rows->heap.objects.replaced,
                      rows->heap.lost);
    output_text(out, ",\"mapped\":[");
    for (int i = 0; i < MEMORY_MAPPED_KINDS; i++) {
        const struct memory_mapped_sums *sums = &rows->mapped.kinds[i];

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(out, "{\"kind\":%s,\"bytes\":%lu,\"calls\":%lu,\"peak_bytes\":%lu}",
                          memory_mapped_name[i], sums->bytes, sums->calls, sums->peak);
    }
    output_text(out, "],\"rows\":[");
    for (uint32_t i = 0; i < reader_shown(rows->count, limit); i++) {
        output_text(out, i != 0 ? ",\n" : "\n");
        json_row(out, rows, rows->all[i]);
    }
    output_text(out, "]}\n");
}
