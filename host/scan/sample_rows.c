/* Writes samples as rows. */
#include "host/scan/sample_rows.h"

#include <stdio.h>

#include "host/base/text.h"
#include "host/scan/access_source.h"
#include "host/scan/sample_rows_team.h"
#include "host/scan/trace_parallel.h"
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
    if (rows->info->has_accesses)
        output_text(rows->output, ",address,source,latency,events");
}

/* The events' names, joined by plus signs. */
static void put_events(struct sample_rows *rows, uint32_t events)
{
    char text[HR_EVENTS_MAX * TRACE_INFO_COLUMN_BYTES], safe[4 * sizeof text];
    size_t used = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < rows->info->event_count; i++) {
        char room[16];

        if ((events >> i & 1) == 0)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used != 0 ? "+" : "",
                                 trace_info_event_name(rows->info, i, room));
    }
    output_csv(rows->output, text_escape(safe, sizeof safe, text));
}

static void put_access(struct sample_rows *rows, const struct hr_access *access)
{
    struct output *out = rows->output;
    char source[ACCESS_SOURCE_BYTES];

    output_char(out, ',');
    if (access->address != 0)
        output_hex(out, access->address);
    output_char(out, ',');
    output_text(out, access_source_text(rows->info, access, source));
    output_char(out, ',');
    if (access->latency != 0)
        output_decimal(out, access->latency);
    output_char(out, ',');
    put_events(rows, access->events);
}

static struct sample_rows_label *label(struct sample_rows *rows, uint64_t ip)
{
    struct sample_rows_label *entry = &rows->cache[hash_place(ip, SAMPLE_ROWS_CACHE_BITS)];
    struct symbols_place place;
    char safe[SAMPLE_ROWS_LABEL_BYTES - 40];

    if (entry->known && entry->ip == ip)
        return entry;
    entry->known = true;
    entry->batch = 0;
    entry->ip = ip;
    entry->text[0] = 0;
    if (symbols_find(rows->symbols, ip, &place) && place.name != NULL)
        snprintf(entry->text, sizeof entry->text, "%s%s+0x%lx", place.kernel ? "[kernel] " : "",
                 text_escape(safe, sizeof safe, place.name), place.offset);
    return entry;
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
    output_csv(out, label(rows, sample->ip)->text);
    for (uint32_t i = 0; i < samples->event_count; i++) {
        output_char(out, ',');
        output_decimal(out, sample->counters[i] - previous->counters[i]);
    }
    if (samples->accesses != NULL)
        put_access(rows, &samples->accesses[sample - samples->slots]);
}

/* The first thread decodes, too, so that as many as there are CPUs are of use. */
void sample_rows_start(struct sample_rows *rows, const struct trace_scan *scan)
{
    unsigned int jobs = trace_parallel_jobs(scan->jobs, scan->file.file_bytes);

    if (jobs > 1 && !scan->file.growing)
        rows->team = sample_rows_team_new(rows->output, jobs - 1);
}

/* Leaves a row to the team.  Returns 0 or the output's error. */
static int put_later(struct sample_rows *rows, const struct trace_samples *samples, uint32_t n,
                     const struct trace_slot *previous)
{
    const struct trace_slot *sample = &samples->slots[n];
    struct sample_rows_label *name = label(rows, sample->ip);
    uint64_t *field;
    int error;
    uint64_t batch =
        sample_rows_team_batch(rows->team, 5 + samples->event_count, strlen(name->text), &error);

    if (name->batch != batch + 1) {
        name->batch = batch + 1;
        name->place = sample_rows_team_name(rows->team, name->text);
    }
    field = sample_rows_team_row(rows->team);
    *field++ = trace_info_time_ns(rows->info, sample->time);
    *field++ = samples->chunk->cpu;
    *field++ = sample->tid;
    *field++ = trace_samples_ip(samples, n);
    *field++ = name->place;
    for (uint32_t i = 0; i < samples->event_count; i++)
        *field++ = sample->counters[i] - previous->counters[i];
    return error;
}

int sample_rows_run(struct sample_rows *rows, const struct trace_samples *samples)
{
    const struct trace_slot *previous = samples->previous;
    bool later = rows->team != NULL && !rows->pids && samples->accesses == NULL;
    int error = 0;

    if (!later)
        sample_rows_wait(rows);
    for (uint32_t n = 0; n < samples->count && error == 0; n++) {
        if (later) {
            error = put_later(rows, samples, n, previous);
        } else {
            sample_rows_put(rows, samples, &samples->slots[n], previous);
            output_char(rows->output, '\n');
        }
        previous = &samples->slots[n];
    }
    return error != 0 || later ? error : rows->output->error;
}

void sample_rows_wait(struct sample_rows *rows)
{
    if (rows->team != NULL)
        sample_rows_team_drain(rows->team);
}

void sample_rows_finish(struct sample_rows *rows)
{
    if (rows->team != NULL)
        sample_rows_team_free(rows->team);
    rows->team = NULL;
}
