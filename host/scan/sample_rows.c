/* Writes samples as rows. */
#include "host/scan/sample_rows.h"

#include <stdio.h>

#include "host/base/text.h"
#include "lib/hash.h"

void sample_rows_header(struct sample_rows *rows)
{
    char column[TRACE_INFO_COLUMN_BYTES], safe[4 * TRACE_INFO_COLUMN_BYTES];

    rows->pids = trace_processes_any(&rows->info->processes);
    output_text(rows->output,
                rows->pids ? "time_ns,cpu,pid,tid,ip,symbol" : "time_ns,cpu,tid,ip,symbol");
    for (uint32_t i = 0; i < rows->info->event_count; i++) {
        output_char(rows->output, ',');
        output_csv(rows->output,
                   text_escape(safe, sizeof safe, trace_info_event_column(rows->info, i, column)));
    }
}

static const char *label(struct sample_rows *rows, uint64_t ip)
{
    struct sample_rows_label *entry = &rows->cache[hash_place(ip, SAMPLE_ROWS_CACHE_BITS)];
    struct symbols_place place;
    char safe[SAMPLE_ROWS_LABEL_BYTES - 40];

    if (entry->known && entry->ip == ip)
        return entry->text;
    entry->known = true;
    entry->ip = ip;
    entry->text[0] = 0;
    if (symbols_find(rows->symbols, ip, &place) && place.name != NULL)
        snprintf(entry->text, sizeof entry->text, "%s%s+0x%lx", place.kernel ? "[kernel] " : "",
                 text_escape(safe, sizeof safe, place.name), place.offset);
    return entry->text;
}

void sample_rows_forget(struct sample_rows *rows)
{
    for (size_t i = 0; i < sizeof rows->cache / sizeof rows->cache[0]; i++)
        rows->cache[i].known = false;
}

void sample_rows_put(struct sample_rows *rows, const struct trace_samples *samples,
                     const struct trace_slot *sample, const struct trace_slot *previous)
{
    struct output *out = rows->output;

    output_decimal(out, trace_info_time_ns(rows->info, sample->time));
    output_char(out, ',');
    output_decimal(out, samples->chunk->cpu);
    output_char(out, ',');
    if (rows->pids) {
        output_decimal(out, trace_processes_pid(&rows->info->processes, sample->tid, sample->time));
        output_char(out, ',');
    }
    output_decimal(out, sample->tid);
    output_char(out, ',');
    output_hex(out, trace_samples_ip(samples, (uint32_t)(sample - samples->slots)));
    output_char(out, ',');
    output_csv(out, label(rows, sample->ip));
    for (uint32_t i = 0; i < samples->event_count; i++) {
        output_char(out, ',');
        output_decimal(out, sample->counters[i] - previous->counters[i]);
    }
}
