/* Writes samples as rows. */
#include "host/scan/sample_rows.h"

#include <errno.h>
#include <stdio.h>

#include "host/base/text.h"
#include "host/scan/access_source.h"
#include "lib/hash.h"

void sample_rows_header(struct sample_rows *rows)
{
    char column[TRACE_INFO_COLUMN_BYTES], safe[4 * TRACE_INFO_COLUMN_BYTES];

    rows->pids = rows->pids || trace_processes_any(&rows->info->processes);
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

static char *name_of(struct sample_rows *rows, const struct sample_rows_label *entry)
{
    return rows->names[entry - rows->cache];
}

static struct sample_rows_label *label(struct sample_rows *rows, uint64_t ip)
{
    struct sample_rows_label *entry = &rows->cache[hash_place(ip, SAMPLE_ROWS_CACHE_BITS)];
    struct symbols_place place;
    char text[SAMPLE_ROWS_LABEL_BYTES] = "", safe[SAMPLE_ROWS_LABEL_BYTES - 40];

    if (entry->known && entry->ip == ip)
        return entry;
    entry->known = true;
    entry->batch = 0;
    entry->ip = ip;
    if (symbols_find(rows->symbols, ip, &place) && place.name != NULL)
        snprintf(text, sizeof text, "%s%s+0x%lx", place.kernel ? "[kernel] " : "",
                 text_escape(safe, sizeof safe, place.name), place.offset);
    output_init(&rows->field, -1);
    output_csv(&rows->field, text);
    entry->bytes = (uint16_t)rows->field.used;
    memcpy(name_of(rows, entry), rows->field.buffer, entry->bytes);
    return entry;
}

void sample_rows_forget(struct sample_rows *rows)
{
    for (size_t i = 0; i < sizeof rows->cache / sizeof rows->cache[0]; i++)
        rows->cache[i].known = false;
}

/* The words of a row, two numbers in some, for less is to be moved from one CPU to another; what
 * each event rose by follows. */
enum { TIME, CPU_TID, PID_EVENTS, IP, NAME, FIXED };

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static void fill(const struct sample_rows *rows, const struct trace_samples *samples, uint32_t n,
                 uint64_t *words)
{
    const struct trace_slot *sample = &samples->slots[n];
    const struct trace_slot *previous = trace_samples_before(samples, n);

    words[TIME] = trace_info_time_ns(rows->info, sample->time);
    words[CPU_TID] = pair(samples->chunk->cpu, sample->tid);
    words[PID_EVENTS] = samples->event_count;
    if (rows->pids)
        words[PID_EVENTS] =
            pair(trace_processes_pid(&rows->info->processes, sample->tid, sample->time),
                 samples->event_count);
    words[IP] = trace_samples_ip(samples, n);
    for (uint32_t i = 0; i < samples->event_count; i++)
        words[FIXED + i] = sample->counters[i] - previous->counters[i];
}

static char *next_decimal(char *at, uint64_t value)
{
    *at = ',';
    return digits_decimal(at + 1, value);
}

/* The columns up to the symbol, of which so many bytes are written. */
static inline char *put_begin(char *at, uint64_t time_ns, uint32_t cpu, const uint32_t *pid,
                              uint32_t tid, uint64_t ip, const char *name, size_t bytes)
{
    at = digits_decimal(at, time_ns);
    at = next_decimal(at, cpu);
    if (pid != NULL)
        at = next_decimal(at, *pid);
    at = next_decimal(at, tid);
    *at = ',';
    at = digits_hex(at + 1, ip);
    *at++ = ',';
    memcpy(at, name, bytes);
    return at + bytes;
}

static size_t columns_bytes(uint32_t events, size_t name)
{
    return (events + 6) * (OUTPUT_NUMBER_MAX + 1ul) + name;
}

const uint64_t *sample_rows_columns(const struct sample_rows *rows, struct output *out,
                                    const uint64_t *words, const char *bytes)
{
    uint32_t events = (uint32_t)words[PID_EVENTS], pid = (uint32_t)(words[PID_EVENTS] >> 32);
    size_t name = words[NAME] >> 32;
    char *at = output_room(out, columns_bytes(events, name));

    at = put_begin(at, words[TIME], (uint32_t)(words[CPU_TID] >> 32), rows->pids ? &pid : NULL,
                   (uint32_t)words[CPU_TID], words[IP], bytes + (uint32_t)words[NAME], name);
    for (uint32_t i = 0; i < events; i++)
        at = next_decimal(at, words[FIXED + i]);
    output_wrote(out, at);
    return words + FIXED + events;
}

/* Rows of samples whose slots are kept, as one row of the team: their number above the number of
 * events, which is that of the counters of the sample before, and two words for each sample. */
enum { STRETCH, SLOTS, CPU_COUNT, STRETCH_EVENTS, STRETCH_FIXED };

#define STRETCH_SAMPLES 64u

static void put_stretch(struct output *out, const uint64_t *words, const char *bytes)
{
    const struct trace_slot *sample = (const struct trace_slot *)words[SLOTS];
    const uint64_t *previous = words + STRETCH_FIXED;
    uint32_t events = (uint32_t)words[STRETCH_EVENTS];
    const uint64_t *times = previous + events;

    for (uint32_t n = (uint32_t)words[CPU_COUNT]; n-- > 0; sample++, times += 2) {
        size_t name = times[1] >> 32;
        char *at = output_room(out, columns_bytes(events, name));

        at = put_begin(at, times[0], (uint32_t)(words[CPU_COUNT] >> 32), NULL, sample->tid,
                       sample->ip, bytes + (uint32_t)times[1], name);
        for (uint32_t i = 0; i < events; i++)
            at = next_decimal(at, sample->counters[i] - previous[i]);
        *at++ = '\n';
        output_wrote(out, at);
        previous = sample->counters;
    }
}

static void put_row(void *owner, struct output *out, const uint64_t *words, const char *bytes)
{
    if (words[STRETCH] == UINT64_MAX) { /* no time */
        put_stretch(out, words, bytes);
        return;
    }
    sample_rows_columns(owner, out, words, bytes);
    output_char(out, '\n');
}

int sample_rows_start(struct sample_rows *rows, struct trace_scan *scan, row_team_format *format,
                      void *owner)
{
    rows->team = format != NULL ? row_team_new(rows->output, scan, format, owner)
                                : row_team_new(rows->output, scan, put_row, rows);
    return rows->team != NULL ? 0 : -ENOMEM;
}

/* Where the batch has a sample's name, and its bytes. */
static uint64_t name_in(struct sample_rows *rows, uint64_t batch, struct sample_rows_label *name)
{
    if (name->batch != batch) {
        name->batch = batch;
        name->place = row_team_keep(rows->team, name_of(rows, name), name->bytes);
    }
    return pair(name->bytes, name->place);
}

uint64_t *sample_rows_add(struct sample_rows *rows, const struct trace_samples *samples, uint32_t n,
                          uint32_t words, size_t text)
{
    struct sample_rows_label *name = label(rows, samples->slots[n].ip);
    uint32_t own = FIXED + samples->event_count;
    uint64_t batch = row_team_batch(rows->team, own + words, name->bytes,
                                    columns_bytes(samples->event_count, name->bytes) + text);
    uint64_t *row = row_team_row(rows->team, own + words);

    fill(rows, samples, n, row);
    row[NAME] = name_in(rows, batch, name);
    return row + own;
}

static void add_stretch(struct sample_rows *rows, const struct trace_samples *samples,
                        uint32_t first, uint32_t count)
{
    const struct trace_slot *slots = samples->slots + first;
    const struct trace_slot *previous = first != 0 ? slots - 1 : samples->previous;
    uint32_t events = samples->event_count, words = STRETCH_FIXED + events + 2 * count;
    uint64_t batch = row_team_batch(rows->team, words, count * sizeof rows->names[0],
                                    count * columns_bytes(events, sizeof rows->names[0]));
    uint64_t *row = row_team_row(rows->team, words);

    row[STRETCH] = UINT64_MAX;
    row[SLOTS] = (uintptr_t)slots;
    row[CPU_COUNT] = pair(samples->chunk->cpu, count);
    row[STRETCH_EVENTS] = events;
    memcpy(row += STRETCH_FIXED, previous->counters, events * sizeof row[0]);
    row += events;
    for (uint32_t n = 0; n < count; n++) {
        *row++ = trace_info_time_ns(rows->info, slots[n].time);
        *row++ = name_in(rows, batch, label(rows, slots[n].ip));
    }
}

/* Samples that are not kept are formatted at once. */
static int add_stretches(struct sample_rows *rows, const struct trace_samples *samples)
{
    for (uint32_t n = 0; n < samples->count; n += STRETCH_SAMPLES)
        add_stretch(rows, samples, n,
                    samples->count - n < STRETCH_SAMPLES ? samples->count - n : STRETCH_SAMPLES);
    row_team_close(rows->team);
    return row_team_error(rows->team);
}

void sample_rows_put(struct sample_rows *rows, const struct trace_samples *samples, uint32_t n)
{
    const struct sample_rows_label *name = label(rows, samples->slots[n].ip);
    uint64_t words[FIXED + HR_EVENTS_MAX];

    row_team_drain(rows->team);
    fill(rows, samples, n, words);
    words[NAME] = pair(name->bytes, 0);
    sample_rows_columns(rows, rows->output, words, name_of(rows, name));
    if (samples->accesses != NULL)
        put_access(rows, &samples->accesses[n]);
}

int sample_rows_run(struct sample_rows *rows, const struct trace_samples *samples)
{
    if (!rows->pids && samples->accesses == NULL && samples->own_ips == NULL &&
        (samples->kept || row_team_is_alone(rows->team)))
        return add_stretches(rows, samples);
    for (uint32_t n = 0; n < samples->count && row_team_error(rows->team) == 0; n++) {
        if (samples->accesses == NULL) {
            sample_rows_add(rows, samples, n, 0, 0);
            continue;
        }
        sample_rows_put(rows, samples, n);
        output_char(rows->output, '\n');
    }
    return row_team_error(rows->team);
}

void sample_rows_finish(struct sample_rows *rows)
{
    row_team_free(rows->team);
    rows->team = NULL;
}
