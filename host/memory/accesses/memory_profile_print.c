/* Prints rows of accesses. */
#include "host/memory/accesses/memory_profile_print.h"

#include <string.h>

#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/memory/pages/memory_print.h"
#include "host/scan/reader.h"

void memory_profile_print_head(FILE *out, const struct trace_info *info, uint64_t records,
                               uint64_t without)
{
    char count[TEXT_QUANTITY_BYTES], other[TEXT_QUANTITY_BYTES], safe[1024], room[16];
    bool first = true;

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    fprintf(out, "# %s records of accesses", text_count(count, records - without));
    for (uint32_t i = 0; i < info->event_count && i < HR_EVENTS_MAX; i++) {
        if (info->accesses.periods[i] == 0)
            continue;
        fprintf(out, "%s %s, 1 in %s", first ? ":" : ";",
                text_escape(safe, sizeof safe, trace_info_event_name(info, i, room)),
                text_count(other, info->accesses.periods[i]));
        first = false;
    }
    fputc('\n', out);
    if (without != 0)
        fprintf(out, "# %s more are of instructions that accessed no memory\n",
                text_count(count, without));
}

static void print_cells(struct columns *columns, const struct memory_profile *rows,
                        const struct memory_profile_row *row)
{
    const struct memory_sums *sums = &row->sums;
    uint64_t records = memory_sums_records(sums);
    unsigned int n = 0;
    char count[TEXT_QUANTITY_BYTES];

    snprintf(columns->cells[n++], COLUMNS_CELL_BYTES, "%.1f%%",
             100 * memory_sums_share(&rows->total, sums));
    if (rows->total.timed != 0)
        snprintf(columns->cells[n++], COLUMNS_CELL_BYTES, "%.1f", memory_sums_mean(sums));
    snprintf(columns->cells[n++], COLUMNS_CELL_BYTES, "%s", text_count(count, sums->reads));
    snprintf(columns->cells[n++], COLUMNS_CELL_BYTES, "%s", text_count(count, sums->writes));
    snprintf(columns->cells[n++], COLUMNS_CELL_BYTES, "%.1f%%",
             memory_share(sums->beyond_l1, records));
    snprintf(columns->cells[n++], COLUMNS_CELL_BYTES, "%.1f%%",
             memory_share(sums->beyond_llc, records));
    snprintf(columns->cells[n++], COLUMNS_CELL_BYTES, "%s", text_count(count, sums->estimated));
    text_escape(columns->cells[n++], COLUMNS_CELL_BYTES, row->name);
    text_escape(columns->cells[n], COLUMNS_CELL_BYTES - 16, row->other);
    snprintf(count, sizeof count, " (%.0f%%)", (double)row->other_share / 10);
    strcat(columns->cells[n], count);
}

void memory_profile_print(FILE *out, const struct memory_profile *rows,
                          const struct memory_counts *counts, enum memory_profile_by by,
                          unsigned long limit, unsigned int terminal)
{
    static const char *const names[] = {"object", "function", "line"};
    static struct columns columns;
    bool timed = rows->total.timed != 0;
    size_t count = reader_shown(rows->count, limit);

    memory_profile_print_head(out, counts->accesses->names.info, counts->records, counts->without);
    columns = (struct columns){0};
    columns_add(&columns, timed ? "latency" : "accesses", 8, true, 0);
    if (timed)
        columns_add(&columns, "mean", 7, true, 0);
    columns_add(&columns, "reads", 7, true, 5);
    columns_add(&columns, "writes", 7, true, 4);
    columns_add(&columns, "not in L1", 9, true, 3);
    columns_add(&columns, "in memory", 9, true, 2);
    columns_add(&columns, "estimated", 9, true, 6);
    columns_add(&columns, names[by], 24, false, 0);
    columns_add(&columns, by == MEMORY_PROFILE_OBJECTS ? "mostly from" : "mostly to", 20, false, 1);
    columns_fit(&columns, terminal);
    columns_print_titles(out, &columns);
    for (size_t i = 0; i < count; i++) {
        print_cells(&columns, rows, &rows->all[i]);
        columns_print(out, &columns);
    }
    if (count < rows->count)
        fprintf(out, "# %zu more; --limit 0 shows all\n", rows->count - count);
}

void memory_profile_put(struct output *out, bool json, const struct memory_profile *rows,
                        const struct memory_counts *counts, unsigned long limit)
{
    static const char format[] =
        "name:%s,reads:%lu,writes:%lu,beyond_l1:%lu,beyond_llc:%lu,modified:%lu,timed:%lu,"
        "latency_cycles:%lu,estimated_accesses:%lu,cost_share:%g,mostly:%s";
    struct output_rows put = {.out = out, .json = json};

    if (json)
        output_json_print(out,
                          "{\"records\":%lu,\"without_address\":%lu,\"rows\":", counts->records,
                          counts->without);
    output_rows_begin(&put, format);
    for (size_t i = 0; i < reader_shown(rows->count, limit); i++) {
        const struct memory_profile_row *row = &rows->all[i];

        output_row(&put, format, row->name, row->sums.reads, row->sums.writes, row->sums.beyond_l1,
                   row->sums.beyond_llc, row->sums.modified, row->sums.timed, row->sums.latency,
                   row->sums.estimated, memory_sums_share(&rows->total, &row->sums), row->other);
    }
    output_rows_end(&put);
    output_text(out, json ? "}\n" : "");
}
