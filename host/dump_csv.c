/* hr dump --format csv: one row a sample. */
#include <stdio.h>

#include "host/dump.h"
#include "host/text.h"

static int put_header(struct dump *dump)
{
    const struct trace_info *info = &dump->scan.info;
    char room[16], safe[256];

    dump->header_done = true;
    output_text(&dump->output, "time_ns,cpu,tid,ip,symbol");
    for (uint32_t i = 0; i < info->event_count; i++) {
        output_char(&dump->output, ',');
        output_csv(&dump->output,
                   text_escape(safe, sizeof safe, trace_info_event_name(info, i, room)));
    }
    output_char(&dump->output, '\n');
    return symbols_open(&dump->symbols, info, dump->symbols_options);
}

static const char *label(struct dump *dump, uint64_t ip)
{
    uint64_t hash = (ip * 0x9e3779b97f4a7c15ull) >> (64 - DUMP_CACHE_BITS);
    struct dump_label *entry = &dump->cache[hash];
    struct symbols_place place;
    char safe[DUMP_LABEL_BYTES - 40];

    if (entry->known && entry->ip == ip)
        return entry->text;
    entry->known = true;
    entry->ip = ip;
    entry->text[0] = 0;
    if (symbols_find(dump->symbols, ip, &place) && place.name != NULL)
        snprintf(entry->text, sizeof entry->text, "%s%s+0x%llx", place.kernel ? "[kernel] " : "",
                 text_escape(safe, sizeof safe, place.name), (unsigned long long)place.offset);
    return entry->text;
}

static void put_row(struct dump *dump, const struct trace_samples *samples,
                    const struct trace_slot *sample, const struct trace_slot *previous,
                    uint64_t time_ns)
{
    struct output *out = &dump->output;

    output_decimal(out, time_ns);
    output_char(out, ',');
    output_decimal(out, samples->chunk->cpu);
    output_char(out, ',');
    output_decimal(out, sample->tid);
    output_char(out, ',');
    output_hex(out, sample->ip);
    output_char(out, ',');
    output_csv(out, label(dump, sample->ip));
    for (uint32_t i = 0; i < samples->event_count; i++) {
        output_char(out, ',');
        output_decimal(out, sample->counters[i] - previous->counters[i]);
    }
    output_char(out, '\n');
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct dump *dump = context;
    struct output *out = &dump->output;
    const struct trace_slot *previous = samples->previous;
    int error = dump->header_done ? 0 : put_header(dump);

    if (error != 0)
        return error;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];

        put_row(dump, samples, sample, previous,
                trace_info_time_ns(&dump->scan.info, sample->time));
        previous = sample;
    }
    return out->error;
}

static int finish(struct dump *dump)
{
    return dump->header_done ? 0 : put_header(dump);
}

const struct dump_format dump_csv = {
    .name = "csv",
    .visitor = {.samples = take_samples},
    .finish = finish,
};
