/* hr dump --format records: everything in a trace, one line each. */

#include <string.h>

#include "host/base/text.h"
#include "host/dump/dump.h"
#include "lib/array.h"
#include "lib/trace_pages.h"

struct field { /* of a fixed record body */
    const char *name;
    uint16_t offset;
    uint8_t bytes;
    bool hex;
};

struct layout {
    const char *name;
    uint8_t type;
    bool text; /* the rest is text */
    uint8_t bytes; /* of the fixed body */
    uint8_t field_count;
    const struct field *fields;
};

#define FIELD(body, member)                                                               \
    {                                                                                     \
#member, offsetof(struct body, member), sizeof(((struct body *)0)->member), false \
    }
#define HEX(body, member)                                                                \
    {                                                                                    \
#member, offsetof(struct body, member), sizeof(((struct body *)0)->member), true \
    }
#define FIELDS(body, ...)                                              \
    .bytes = sizeof(struct body),                                      \
    .field_count = ARRAY_COUNT(((const struct field[]){__VA_ARGS__})), \
    .fields = (const struct field[])                                   \
    {                                                                  \
        __VA_ARGS__                                                    \
    }

static const struct layout layouts[] = {
    {"info", HR_META_INFO, .text = true},
    {"clock", HR_META_CLOCK,
     FIELDS(hr_meta_clock, FIELD(hr_meta_clock, ticks_per_second),
            FIELD(hr_meta_clock, start_ticks), FIELD(hr_meta_clock, start_unix_ns),
            FIELD(hr_meta_clock, method))},
    {"event", HR_META_EVENT, .text = true,
     FIELDS(hr_meta_event, FIELD(hr_meta_event, index), FIELD(hr_meta_event, source),
            FIELD(hr_meta_event, width_bits), FIELD(hr_meta_event, flags),
            HEX(hr_meta_event, encoding), HEX(hr_meta_event, encoding_ext))},
    {"sampling", HR_META_SAMPLING,
     FIELDS(hr_meta_sampling, FIELD(hr_meta_sampling, interval_ticks),
            FIELD(hr_meta_sampling, period_events), FIELD(hr_meta_sampling, mode),
            FIELD(hr_meta_sampling, flags), FIELD(hr_meta_sampling, event_count),
            FIELD(hr_meta_sampling, ring_slots), FIELD(hr_meta_sampling, cpu_count),
            FIELD(hr_meta_sampling, frequency_hz))},
    {"calibration", HR_META_CALIBRATION,
     FIELDS(hr_meta_calibration, FIELD(hr_meta_calibration, sample_ticks),
            FIELD(hr_meta_calibration, read_ticks), FIELD(hr_meta_calibration, rdpmc_ticks),
            FIELD(hr_meta_calibration, rounds), FIELD(hr_meta_calibration, late_ticks))},
    {"map", HR_META_MAP, .text = true,
     FIELDS(hr_meta_map, HEX(hr_meta_map, start), HEX(hr_meta_map, end),
            HEX(hr_meta_map, file_offset), FIELD(hr_meta_map, flags),
            FIELD(hr_meta_map, build_id_bytes), FIELD(hr_meta_map, path_bytes))},
    {"accesses", HR_META_ACCESSES,
     FIELDS(hr_meta_accesses, FIELD(hr_meta_accesses, sources), FIELD(hr_meta_accesses, flags),
            FIELD(hr_meta_accesses, latency_least))},
    {"stacks", HR_META_STACKS,
     FIELDS(hr_meta_stacks, FIELD(hr_meta_stacks, kind), FIELD(hr_meta_stacks, limit))},
    {"process", HR_REC_PROCESS, .text = true,
     FIELDS(hr_rec_process, FIELD(hr_rec_process, time), FIELD(hr_rec_process, kind),
            FIELD(hr_rec_process, pid), FIELD(hr_rec_process, parent_pid),
            FIELD(hr_rec_process, parent_tid), FIELD(hr_rec_process, status))},
    {"thread", HR_REC_THREAD,
     FIELDS(hr_rec_thread, FIELD(hr_rec_thread, time), FIELD(hr_rec_thread, tid),
            FIELD(hr_rec_thread, pid))},
    {"thread-stack", HR_META_THREAD_STACK,
     FIELDS(hr_meta_thread_stack, FIELD(hr_meta_thread_stack, time),
            FIELD(hr_meta_thread_stack, tid), HEX(hr_meta_thread_stack, start),
            HEX(hr_meta_thread_stack, end))},
    {"process-map", HR_REC_PROCESS_MAP, .text = true,
     FIELDS(hr_rec_process_map, FIELD(hr_rec_process_map, time), FIELD(hr_rec_process_map, pid),
            HEX(hr_rec_process_map, map.start), HEX(hr_rec_process_map, map.end),
            HEX(hr_rec_process_map, map.file_offset), FIELD(hr_rec_process_map, map.flags),
            FIELD(hr_rec_process_map, map.build_id_bytes),
            FIELD(hr_rec_process_map, map.path_bytes))},
    {"python-code", HR_META_PYTHON_CODE,
     FIELDS(hr_meta_python_code, HEX(hr_meta_python_code, start), HEX(hr_meta_python_code, address),
            FIELD(hr_meta_python_code, code_bytes), FIELD(hr_meta_python_code, first_line),
            FIELD(hr_meta_python_code, line_bytes))},
    {"jit-file", HR_META_JIT_FILE, .text = true,
     FIELDS(hr_meta_jit_file, FIELD(hr_meta_jit_file, number), FIELD(hr_meta_jit_file, kind),
            FIELD(hr_meta_jit_file, pid), FIELD(hr_meta_jit_file, bytes))},
    {"jit-data", HR_META_JIT_DATA, FIELDS(hr_meta_jit_data, FIELD(hr_meta_jit_data, number))},
    {"probes", HR_META_PROBES,
     FIELDS(hr_meta_probes, FIELD(hr_meta_probes, function_count),
            FIELD(hr_meta_probes, point_count), FIELD(hr_meta_probes, argument_count),
            FIELD(hr_meta_probes, flags))},
    {"probe-function", HR_META_PROBE_FUNCTION,
     FIELDS(hr_meta_probe_function, FIELD(hr_meta_probe_function, number),
            FIELD(hr_meta_probe_function, kind), HEX(hr_meta_probe_function, address),
            FIELD(hr_meta_probe_function, bytes))},
    {"called", HR_META_CALLED,
     FIELDS(hr_meta_called, FIELD(hr_meta_called, number), HEX(hr_meta_called, address),
            FIELD(hr_meta_called, tid), FIELD(hr_meta_called, time))},
    {"probe-points", HR_META_PROBE_POINTS,
     FIELDS(hr_meta_probe_points, FIELD(hr_meta_probe_points, first),
            FIELD(hr_meta_probe_points, count))},
    {"request", HR_REC_REQUEST,
     FIELDS(hr_rec_request, FIELD(hr_rec_request, time), FIELD(hr_rec_request, tid),
            FIELD(hr_rec_request, kind), FIELD(hr_rec_request, request))},
    {"wait", HR_REC_WAIT,
     FIELDS(hr_rec_wait, FIELD(hr_rec_wait, time), FIELD(hr_rec_wait, tid),
            FIELD(hr_rec_wait, number), FIELD(hr_rec_wait, operation), HEX(hr_rec_wait, address),
            FIELD(hr_rec_wait, joins))},
    {"wake", HR_REC_WAKE,
     FIELDS(hr_rec_wake, FIELD(hr_rec_wake, time), FIELD(hr_rec_wake, tid),
            FIELD(hr_rec_wake, woken))},
    {"mapping", HR_REC_MAPPING,
     FIELDS(hr_rec_mapping, FIELD(hr_rec_mapping, time), FIELD(hr_rec_mapping, tid),
            FIELD(hr_rec_mapping, kind), HEX(hr_rec_mapping, address), FIELD(hr_rec_mapping, bytes),
            HEX(hr_rec_mapping, old_address), FIELD(hr_rec_mapping, old_bytes),
            HEX(hr_rec_mapping, flags), FIELD(hr_rec_mapping, protection))},
    {"pages", HR_REC_PAGES,
     FIELDS(hr_rec_pages, FIELD(hr_rec_pages, time), FIELD(hr_rec_pages, pid),
            HEX(hr_rec_pages, address))},
    {"page-fault", HR_REC_PAGE_FAULT,
     FIELDS(hr_rec_page_fault, FIELD(hr_rec_page_fault, time), FIELD(hr_rec_page_fault, tid),
            HEX(hr_rec_page_fault, address), HEX(hr_rec_page_fault, ip),
            FIELD(hr_rec_page_fault, bytes), FIELD(hr_rec_page_fault, flags))},
    {"base", HR_REC_BASE,
     FIELDS(hr_rec_base, FIELD(hr_rec_base, time), FIELD(hr_rec_base, interval),
            HEX(hr_rec_base, ip), FIELD(hr_rec_base, cost_ticks), FIELD(hr_rec_base, event_count))},
    {"lost", HR_REC_LOST,
     FIELDS(hr_rec_lost, FIELD(hr_rec_lost, time_first), FIELD(hr_rec_lost, time_last),
            FIELD(hr_rec_lost, count))},
    {"skipped", HR_REC_SKIPPED,
     FIELDS(hr_rec_skipped, FIELD(hr_rec_skipped, time_first), FIELD(hr_rec_skipped, time_last),
            FIELD(hr_rec_skipped, count))},
    {"syscall", HR_REC_SYSCALL,
     FIELDS(hr_rec_syscall, FIELD(hr_rec_syscall, time), FIELD(hr_rec_syscall, tid),
            FIELD(hr_rec_syscall, number), HEX(hr_rec_syscall, result),
            FIELD(hr_rec_syscall, duration_ticks))},
    {"switch", HR_REC_SWITCH,
     FIELDS(hr_rec_switch, FIELD(hr_rec_switch, time), FIELD(hr_rec_switch, from_tid),
            FIELD(hr_rec_switch, to_tid), FIELD(hr_rec_switch, reason),
            FIELD(hr_rec_switch, waker_tid))},
    {"output", HR_REC_OUTPUT,
     FIELDS(hr_rec_output, FIELD(hr_rec_output, time), FIELD(hr_rec_output, stream),
            FIELD(hr_rec_output, offset), FIELD(hr_rec_output, bytes))},
    {"mark", HR_REC_MARK, .text = true,
     FIELDS(hr_rec_mark, FIELD(hr_rec_mark, time), FIELD(hr_rec_mark, tid))},
    {"gap", HR_REC_GAP,
     FIELDS(hr_rec_gap, FIELD(hr_rec_gap, time_first), FIELD(hr_rec_gap, time_last),
            FIELD(hr_rec_gap, reason), FIELD(hr_rec_gap, tid))},
    {"period", HR_REC_PERIOD,
     FIELDS(hr_rec_period, FIELD(hr_rec_period, time), FIELD(hr_rec_period, period))},
    {"fault", HR_REC_FAULT,
     FIELDS(hr_rec_fault, FIELD(hr_rec_fault, time), HEX(hr_rec_fault, ip),
            HEX(hr_rec_fault, address), FIELD(hr_rec_fault, vector), HEX(hr_rec_fault, error),
            FIELD(hr_rec_fault, signal), FIELD(hr_rec_fault, tid))},
    {"stack_nodes", HR_REC_STACK_NODES, .bytes = 0},
    {"sample_stacks", HR_REC_STACKS, .bytes = 0},
    {"user_stacks", HR_REC_USER_STACKS, .bytes = 0},
    {"sample_accesses", HR_REC_ACCESSES, .bytes = 0},
    {"exit", HR_REC_EXIT,
     FIELDS(hr_rec_exit, FIELD(hr_rec_exit, time), FIELD(hr_rec_exit, user_ticks),
            FIELD(hr_rec_exit, kind), FIELD(hr_rec_exit, code),
            FIELD(hr_rec_exit, peak_memory_bytes))},
    {"total", HR_REC_TOTAL,
     FIELDS(hr_rec_total, FIELD(hr_rec_total, index), FIELD(hr_rec_total, value))},
    {"stream", HR_REC_STREAM,
     FIELDS(hr_rec_stream, FIELD(hr_rec_stream, cpu), FIELD(hr_rec_stream, samples),
            FIELD(hr_rec_stream, lost), FIELD(hr_rec_stream, chunks))},
    {"region", HR_REC_REGION, .text = true,
     FIELDS(hr_rec_region, FIELD(hr_rec_region, event), FIELD(hr_rec_region, passes),
            FIELD(hr_rec_region, sum), FIELD(hr_rec_region, min), FIELD(hr_rec_region, max),
            FIELD(hr_rec_region, threads), FIELD(hr_rec_region, bucket_count))},
    {"nmi", HR_REC_NMI,
     FIELDS(hr_rec_nmi, FIELD(hr_rec_nmi, cpu), FIELD(hr_rec_nmi, samples),
            FIELD(hr_rec_nmi, spurious), FIELD(hr_rec_nmi, unknown))},
    {"activity", HR_REC_ACTIVITY,
     FIELDS(hr_rec_activity, FIELD(hr_rec_activity, cpu), FIELD(hr_rec_activity, interruptions),
            FIELD(hr_rec_activity, switches), FIELD(hr_rec_activity, slices),
            FIELD(hr_rec_activity, blocks), FIELD(hr_rec_activity, wakeups))},
    {"calls", HR_REC_CALLS,
     FIELDS(hr_rec_calls, FIELD(hr_rec_calls, scans), FIELD(hr_rec_calls, scan_ticks),
            FIELD(hr_rec_calls, longest_ticks), FIELD(hr_rec_calls, missed),
            FIELD(hr_rec_calls, beyond), FIELD(hr_rec_calls, strays),
            FIELD(hr_rec_calls, unnumbered), FIELD(hr_rec_calls, refused))},
    {"share", HR_REC_SHARE,
     FIELDS(hr_rec_share, FIELD(hr_rec_share, cpu), FIELD(hr_rec_share, skipped),
            FIELD(hr_rec_share, spacing_ticks), FIELD(hr_rec_share, stolen_ns),
            FIELD(hr_rec_share, flags))},
    {"machine-cpu", HR_REC_MACHINE_CPU,
     FIELDS(hr_rec_machine_cpu, FIELD(hr_rec_machine_cpu, cpu), FIELD(hr_rec_machine_cpu, apic_id),
            HEX(hr_rec_machine_cpu, core_kind), HEX(hr_rec_machine_cpu, microcode),
            HEX(hr_rec_machine_cpu, flags), FIELD(hr_rec_machine_cpu, tsc),
            FIELD(hr_rec_machine_cpu, aperf), FIELD(hr_rec_machine_cpu, mperf),
            FIELD(hr_rec_machine_cpu, aperf_before), FIELD(hr_rec_machine_cpu, mperf_before),
            FIELD(hr_rec_machine_cpu, aperf_after), FIELD(hr_rec_machine_cpu, mperf_after),
            FIELD(hr_rec_machine_cpu, smi_before), FIELD(hr_rec_machine_cpu, smi_after),
            HEX(hr_rec_machine_cpu, thermal_before), HEX(hr_rec_machine_cpu, thermal_after),
            HEX(hr_rec_machine_cpu, package_before), HEX(hr_rec_machine_cpu, package_after))},
    {"host-end", HR_HOST_END, .text = true,
     FIELDS(hr_host_end, FIELD(hr_host_end, wall_ns), FIELD(hr_host_end, reason))},
    {"exact", HR_HOST_EXACT,
     FIELDS(hr_host_exact, FIELD(hr_host_exact, instructions), FIELD(hr_host_exact, homeless),
            FIELD(hr_host_exact, lost_faults), FIELD(hr_host_exact, event_count))},
    {"exact-counts", HR_HOST_EXACT_COUNTS,
     FIELDS(hr_host_exact_counts, FIELD(hr_host_exact_counts, tid),
            FIELD(hr_host_exact_counts, count))},
    {"file", HR_HOST_FILE, .text = true,
     FIELDS(hr_host_file, FIELD(hr_host_file, bytes), FIELD(hr_host_file, modified),
            HEX(hr_host_file, hash), FIELD(hr_host_file, flags))},
    {"index-trailer", HR_INDEX_TRAILER,
     FIELDS(hr_index_trailer, FIELD(hr_index_trailer, first_offset),
            FIELD(hr_index_trailer, entry_count))},
};

static void put_value(struct output *out, const char *name, uint64_t value, bool hex)
{
    output_char(out, ' ');
    output_text(out, name);
    output_char(out, '=');
    if (hex)
        output_hex(out, value);
    else
        output_decimal(out, value);
}

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

/* A text of so many bytes, which may end before. */
static void put_escaped(struct output *out, const char *key, const void *bytes, size_t count)
{
    static char text[UINT16_MAX + 1], safe[4 * sizeof text];

    snprintf(text, sizeof text, "%.*s", (int)count, (const char *)bytes);
    output_text(out, key);
    output_text(out, text_escape(safe, sizeof safe, text));
    output_char(out, '"');
}

static void put_function(struct output *out, const struct trace_record *record)
{
    struct hr_meta_probe_function function;
    const uint8_t *tail;
    size_t bytes;

    trace_body(record, &function, sizeof function, &tail, &bytes);
    if ((size_t)function.name_bytes + function.path_bytes > bytes)
        return;
    put_escaped(out, " name=\"", tail, function.name_bytes);
    put_escaped(out, " path=\"", tail + function.name_bytes, function.path_bytes);
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

static void put_tail(struct output *out, const struct layout *layout,
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
    const struct layout *layout = NULL;

    for (size_t i = 0; i < ARRAY_COUNT(layouts); i++)
        if (layouts[i].type == record->type)
            layout = &layouts[i];
    output_text(out, "  ");
    output_text(out, layout != NULL ? layout->name : "record");
    if (layout == NULL || record->bytes < layout->bytes) {
        output_csv_print(out, " type=%u bytes=%u offset=%lu", record->type, record->bytes,
                         chunk->offset + sizeof chunk->header + record->offset);
    } else {
        for (uint32_t i = 0; i < layout->field_count; i++) {
            const struct field *f = &layout->fields[i];
            uint64_t value = 0;

            memcpy(&value, record->body + f->offset, f->bytes);
            put_value(out, f->name, value, f->hex);
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
            put_value(out, "bytes", record->bytes, false);
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

static void put_flags(struct output *out, uint32_t flags)
{
    static const char *const names[] = {"kernel", "late", "polled", "resumed"};
    char before = '(';

    put_value(out, "flags", flags, false);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((flags >> i & 1) == 0)
            continue;
        output_char(out, before);
        output_text(out, names[i]);
        before = ',';
    }
    if (before == ',')
        output_char(out, ')');
}

/* The innermost frame first, and how the stack ends. */
static void put_stack(struct output *out, const struct stacks *stacks, uint32_t node)
{
    static const char *const roots[] = {"none", "whole", "cut", "broken"};

    output_text(out, " stack=");
    for (; node >= HR_STACK_ROOTS; node = stacks->nodes[node].parent) {
        output_hex(out, stacks->nodes[node].address);
        output_char(out, ',');
    }
    output_text(out, roots[node]);
}

static void put_access(struct output *out, const struct hr_access *access, bool registers)
{
    output_text(out, " events=");
    output_hex(out, access->events);
    if (access->address != 0) {
        put_value(out, "address", access->address, true);
        put_value(out, "source", access->source, true);
        put_value(out, "latency", access->latency, false);
    }
    output_text(out, registers ? " registers=" : "");
    for (uint32_t i = 0; registers && i < HR_ACCESS_REGISTERS; i++) {
        output_text(out, i != 0 ? "," : "");
        output_hex(out, access->registers[i]);
    }
}

static int put_run(struct dump *dump, const struct trace_samples *samples, const char *name)
{
    const struct trace_processes *processes = &dump->reader.scan.info.processes;
    bool registers = (dump->reader.scan.info.accesses.flags & HR_ACCESSES_REGISTERS) != 0;
    struct output *out = &dump->output;

    dump->any = true;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];

        output_text(out, name);
        put_value(out, "time", sample->time, false);
        if (trace_processes_any(processes))
            put_value(out, "pid", trace_processes_pid(processes, sample->tid, sample->time), false);
        put_value(out, "tid", sample->tid, false);
        put_value(out, "ip", sample->ip, true);
        put_value(out, "cost_ticks", sample->cost_ticks, false);
        put_flags(out, sample->flags);
        output_text(out, " counters=");
        for (uint32_t i = 0; i < samples->event_count; i++) {
            if (i != 0)
                output_char(out, ',');
            output_decimal(out, sample->counters[i]);
        }
        if (samples->stacks != NULL)
            put_stack(out, &dump->reader.scan.stacks, samples->stacks[n]);
        if (samples->accesses != NULL)
            put_access(out, &samples->accesses[n], registers);
        output_char(out, '\n');
    }
    return out->error;
}

static int put_samples(void *context, const struct trace_samples *samples)
{
    return put_run(context, samples, "  sample");
}

static int put_waits(void *context, const struct trace_samples *samples)
{
    return put_run(context, samples, "  waiting");
}

static void put_values(struct output *out, const char *name, const uint64_t *values, uint32_t count,
                       bool hex)
{
    output_text(out, name);
    for (uint32_t i = 0; i < count; i++) {
        output_text(out, i != 0 ? "," : "");
        (hex ? output_hex : output_decimal)(out, values[i]);
    }
}

static int put_hits(void *context, const struct trace_hits *hits)
{
    static const char *const whats[] = {"reached", "entered", "returned", "entered+returned"};
    struct dump *dump = context;
    const struct trace_info *info = &dump->reader.scan.info;
    struct output *out = &dump->output;

    dump->any = true;
    for (uint32_t n = 0; n < hits->count; n++) {
        const struct trace_hit *hit = &hits->hits[n];
        char room[24];

        output_text(out, "  hit");
        put_value(out, "time", hit->time, false);
        if (trace_processes_any(&info->processes))
            put_value(out, "pid", trace_processes_pid(&info->processes, hit->tid, hit->time),
                      false);
        put_value(out, "tid", hit->tid, false);
        put_value(out, "sp", hit->sp, true);
        put_value(out, "point", hit->point, false);
        output_char(out, ' ');
        output_text(out, whats[hit->what & 3]);
        put_escaped(out, " function=\"",
                    trace_points_name(&info->points,
                                      trace_points_function(&info->points, hit->point), room),
                    UINT16_MAX);
        put_values(out, " counters=", hit->counters, info->event_count, false);
        put_values(out, " arguments=", hit->arguments, info->points.meta.argument_count, true);
        output_char(out, '\n');
    }
    return out->error;
}

const struct dump_format dump_records = {
    .name = "records",
    .visitor = {.stacks = TRACE_SCAN_STACKS,
                .accesses = true,
                .own_addresses = true,
                .samples = put_samples,
                .waits = put_waits,
                .hits = put_hits,
                .allocations = put_hits,
                .record = put_record,
                .step = put_step},
};
