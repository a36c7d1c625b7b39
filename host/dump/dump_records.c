/* hr dump --format records: everything in a trace, one line each. */

#include <string.h>

#include "host/base/text.h"
#include "host/dump/dump_layout.h"
#include "host/dump/dump_samples.h"
#include "lib/trace/trace_pages.h"

/* The build-id of a map, in hexadecimal; returns its length. */
static size_t put_build_id(struct output *out, const struct trace_record *record)
{
    struct hr_rec_process_map of_process = {.pid = 0};
    struct hr_meta_map map;
    const uint8_t *tail;
    size_t tail_bytes;

    if (record->type == HR_REC_PROCESS_MAP) {
        if (!trace_body(record, &of_process, sizeof of_process, &tail, &tail_bytes))
            return 0;
        map = of_process.map;
    } else if (!trace_body(record, &map, sizeof map, &tail, &tail_bytes)) {
        return 0;
    }
    if (map.build_id_bytes > tail_bytes)
        return 0;
    output_text(out, " build_id=");
    for (size_t i = 0; i < map.build_id_bytes; i++) {
        output_char(out, "0123456789abcdef"[tail[i] >> 4]);
        output_char(out, "0123456789abcdef"[tail[i] & 15]);
    }
    return map.build_id_bytes;
}

/* A region's histogram, as bucket:passes; returns its length. */
static size_t put_buckets(struct output *out, const struct trace_record *record)
{
    struct hr_rec_region region;
    const uint8_t *tail;
    size_t tail_bytes;
    char before = '=';

    if (!trace_body(record, &region, sizeof region, &tail, &tail_bytes) ||
        region.bucket_count * sizeof(uint64_t) > tail_bytes)
        return 0;
    output_text(out, " buckets");
    for (size_t i = 0; i < region.bucket_count; i++) {
        uint64_t passes;

        memcpy(&passes, tail + i * sizeof passes, sizeof passes);
        if (passes == 0)
            continue;
        output_char(out, before);
        output_decimal(out, i);
        output_char(out, ':');
        output_decimal(out, passes);
        before = ',';
    }
    if (before == '=')
        output_char(out, '=');
    return region.bucket_count * sizeof(uint64_t);
}

static void put_text(struct output *out, const char *key, const uint8_t *bytes, size_t count,
                     uint8_t unit)
{
    static char text[2 * UINT16_MAX + 1], safe[4 * sizeof text];

    trace_names_text(text, bytes, count, unit);
    output_text(out, key);
    output_text(out, text_escape(safe, sizeof safe, text));
    output_char(out, '"');
}

static void put_python(struct output *out, const struct trace_record *record)
{
    struct hr_meta_python_code code;
    const uint8_t *tail;

    if (!trace_names_valid(record))
        return;
    trace_body(record, &code, sizeof code, &tail, NULL);
    put_text(out, " name=\"", tail, code.name_bytes, code.name_unit);
    put_text(out, " file=\"", tail + code.name_bytes, code.file_bytes, code.file_unit);
}

static void put_function(struct output *out, const struct trace_record *record)
{
    struct hr_meta_probe_function function;
    const uint8_t *tail;
    size_t bytes;

    trace_body(record, &function, sizeof function, &tail, &bytes);
    if ((size_t)function.name_bytes + function.path_bytes > bytes)
        return;
    dump_escaped(out, " name=\"", tail, function.name_bytes);
    dump_escaped(out, " path=\"", tail + function.name_bytes, function.path_bytes);
}

/* Each point of a record, as address:function. */
static void put_points(struct output *out, const struct trace_record *record)
{
    struct hr_meta_probe_points head;
    struct hr_probe_point point;
    const uint8_t *tail;
    size_t bytes;

    trace_body(record, &head, sizeof head, &tail, &bytes);
    output_text(out, " points=");
    for (size_t i = 0; i < head.count && i < bytes / sizeof point; i++) {
        memcpy(&point, tail + i * sizeof point, sizeof point);
        output_text(out, i != 0 ? "," : "");
        output_hex(out, point.address);
        output_char(out, ':');
        output_decimal(out, point.function);
    }
}

/* Each run of pages, as address+pages, with w for written and l for large pages. */
static void put_pages(struct output *out, const struct trace_record *record)
{
    struct hr_rec_pages head;
    struct trace_pages_reader reader;
    struct trace_pages_run run;
    const uint8_t *tail;
    size_t bytes;
    const char *before = " runs=";

    trace_body(record, &head, sizeof head, &tail, &bytes);
    trace_pages_open(&reader, head.address, tail, (uint32_t)bytes);
    while (trace_pages_next(&reader, &run) > 0) {
        output_text(out, before);
        output_hex(out, run.address);
        output_char(out, '+');
        output_decimal(out, run.pages);
        output_text(out, run.flags & TRACE_PAGES_WRITTEN ? "w" : "");
        output_text(out, run.flags & TRACE_PAGES_LARGE ? "l" : "");
        before = ",";
    }
}

static void put_tail(struct output *out, const struct dump_layout *layout,
                     const struct trace_record *record)
{
    static char text[UINT16_MAX + 1], safe[4 * sizeof text]; /* a byte becomes \xNN at most */
    size_t start = layout->bytes, end = record->bytes, used = 0;

    if (record->type == HR_META_MAP || record->type == HR_REC_PROCESS_MAP)
        start += put_build_id(out, record);
    if (record->type == HR_REC_REGION)
        start += put_buckets(out, record);
    if (end > start && record->body[end - 1] == 0)
        end--;
    /* the NUL between key and value shows as an equals sign */
    for (size_t i = start; i < end; i++)
        text[used++] = record->body[i] != 0 ? (char)record->body[i] : '=';
    text[used] = 0;
    output_text(out, " text=\"");
    output_text(out, text_escape(safe, sizeof safe, text));
    output_char(out, '"');
}

static void put_periods(struct output *out, const struct trace_record *record)
{
    struct hr_meta_accesses accesses;

    memcpy(&accesses, record->body, sizeof accesses);
    output_text(out, " periods=");
    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++) {
        output_text(out, i != 0 ? "," : "");
        output_decimal(out, accesses.periods[i]);
    }
}

static int put_record(void *context, const struct trace_chunk *chunk,
                      const struct trace_record *record)
{
    struct output *out = &((struct dump *)context)->output;
    const struct dump_layout *layout = NULL;

    for (size_t i = 0; i < dump_layout_count; i++)
        if (dump_layouts[i].type == record->type)
            layout = &dump_layouts[i];
    output_text(out, "  ");
    output_text(out, layout != NULL ? layout->name : "record");
    if (layout == NULL || record->bytes < layout->bytes) {
        output_csv_print(out, " type=%u bytes=%u offset=%lu", record->type, record->bytes,
                         chunk->offset + sizeof chunk->header + record->offset);
    } else {
        for (uint32_t i = 0; i < layout->field_count; i++) {
            const struct dump_field *f = &layout->fields[i];
            uint64_t value = 0;

            memcpy(&value, record->body + f->offset, f->bytes);
            dump_value(out, f->name, value, f->hex);
        }
        if (record->type == HR_META_PYTHON_CODE)
            put_python(out, record);
        else if (record->type == HR_META_PROBE_FUNCTION)
            put_function(out, record);
        else if (record->type == HR_META_PROBE_POINTS)
            put_points(out, record);
        else if (record->type == HR_REC_PAGES)
            put_pages(out, record);
        else if (record->type == HR_META_ACCESSES)
            put_periods(out, record);
        else if (layout->text)
            put_tail(out, layout, record);
        else if (layout->bytes == 0)
            dump_value(out, "bytes", record->bytes, false);
    }
    output_char(out, '\n');
    return out->error;
}

static int put_step(void *context, int step, const struct trace_chunk *chunk)
{
    static const char *const names[] = {"unknown", "META", "DATA", "END", "HOST", "INDEX"};
    struct output *out = &((struct dump *)context)->output;
    const struct hr_chunk_header *header = &chunk->header;

    output_text(out, step == TRACE_STEP_DAMAGE ? "damage" : "chunk ");
    if (step == TRACE_STEP_CHUNK)
        output_text(out, names[header->type <= HR_CHUNK_INDEX ? header->type : 0]);
    output_csv_print(out, " offset=%lu bytes=%lu", chunk->offset, (uint64_t)chunk->bytes);
    if (chunk->has_header) {
        output_csv_print(out, " type=%u cpu=%u sequence=%u time_first=%lu time_last=%lu",
                         header->type, header->cpu, header->sequence, header->time_first,
                         header->time_last);
        output_csv_print(out, " records=%lu samples=%lu lost=%lu", (uint64_t)header->record_count,
                         (uint64_t)header->sample_count, (uint64_t)header->lost_count);
    }
    if (step == TRACE_STEP_DAMAGE) {
        output_text(out, " status=");
        output_text(out, trace_status_text(chunk->status));
    }
    output_char(out, '\n');
    return out->error;
}

const struct dump_format dump_records = {
    .name = "records",
    .visitor = {.stacks = TRACE_SCAN_STACKS,
                .accesses = true,
                .own_addresses = true,
                .samples = dump_put_samples,
                .waits = dump_put_waits,
                .hits = dump_put_hits,
                .allocations = dump_put_hits,
                .record = put_record,
                .step = put_step},
};
