/* Reads a trace for its waits alone, and prints waits as a table. */

#include "host/base/text.h"
#include "host/noise/waits.h"
#include "host/scan/reader.h"
#include "lib/program/syscall_names.h"

#define WAITS_SHOWN 10u /* places, unless all are wanted */

struct walk {
    struct waits *waits;
    struct trace_scan *scan;
};

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct walk *walk = context;

    waits_take_samples(walk->waits, samples);
    return 0;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct walk *walk = context;
    struct hr_rec_switch change;
    struct hr_rec_syscall call;

    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    if (record->type == HR_REC_SWITCH && trace_body(record, &change, sizeof change, NULL, NULL))
        waits_take_switch(walk->waits, &change, &walk->scan->info, &walk->scan->selection);
    else if (record->type == HR_REC_SYSCALL && trace_body(record, &call, sizeof call, NULL, NULL))
        waits_take_call(walk->waits, &call);
    return 0;
}

int waits_walk(struct waits *waits, struct trace_scan *scan)
{
    struct walk walk = {.waits = waits, .scan = scan};
    const struct trace_visitor visitor = {.context = &walk,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .samples = take_samples,
                                          .record = take_record};

    return trace_scan_run(scan, &visitor);
}

int waits_end(struct waits *waits, const struct trace_scan *scan)
{
    struct symbols *symbols = NULL;
    int error = symbols_open(&symbols, &scan->info, scan->symbols);

    if (error == 0)
        error = waits_name(waits, symbols, &scan->stacks);
    symbols_close(symbols);
    return error;
}

int waits_now(struct waits *now, const struct waits *waits, const struct trace_scan *scan)
{
    int error = waits_copy(now, waits);

    return error == 0 ? waits_end(now, scan) : error;
}

int waits_read(struct waits *waits, struct trace_scan *scan)
{
    int error = waits_init(waits);

    if (error == 0)
        error = waits_walk(waits, scan);
    return error == 0 ? waits_end(waits, scan) : error;
}

const char *waits_call_name(uint32_t call, char room[32])
{
    const char *name = call != WAITS_NO_CALL ? syscall_name(call) : "";

    if (name == NULL)
        snprintf(room, 32, "system call %u", call);
    return name != NULL ? name : room;
}

void waits_print(FILE *out, const struct waits *waits, const struct trace_info *info,
                 unsigned long limit)
{
    char count[TEXT_QUANTITY_BYTES], all[TEXT_QUANTITY_BYTES], longest[TEXT_QUANTITY_BYTES];
    char room[32], safe[WAITS_TEXT_BYTES];
    size_t shown;

    if (waits->count == 0)
        return;
    shown = reader_shown(waits->count, limit > WAITS_SHOWN ? WAITS_SHOWN : limit);
    fprintf(out, "\n%10s %10s %10s  %-16s  %s\n", "waits", "total", "longest", "in",
            info->has_stacks ? "last sample before it, and its callers"
                             : "last sample before it (its callers: hr run -g)");
    for (uint32_t i = 0; i < shown; i++) {
        const struct waits_row *row = &waits->rows[i];

        fprintf(out, "%10s %10s %10s  %-16s  %s\n", text_count(count, row->count),
                text_time(all, (double)trace_info_ns(info, row->ticks)),
                text_time(longest, (double)trace_info_ns(info, row->longest)),
                waits_call_name(row->call, room), text_escape(safe, sizeof safe, row->where));
    }
    if (waits->dropped != 0)
        fprintf(out, "# %s more at more places than there is room for\n",
                text_count(count, waits->dropped));
    if (shown < waits->count)
        fprintf(out, "# %zu more places; --limit 0 shows all\n", waits->count - shown);
}
