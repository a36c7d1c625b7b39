/* hr dump --format records: everything in a trace, one line each. */

#include "host/base/text.h"
#include "host/dump/dump.h"

struct field { /* of a fixed record body */
    const char *name;
    uint16_t offset;
    uint8_t bytes;
    bool hex;
};

struct layout {
    uint8_t type;
    uint16_t bytes; /* of the fixed body */
    bool text; /* the rest is text */
    const char *name;
    const struct field *fields; /* ends with a NULL name */
};

#define FIELD(type, member)                                                 \
    {                                                                       \
#member, offsetof(type, member), sizeof(((type *)0)->member), false \
    }
#define HEX(type, member)                                                  \
    {                                                                      \
#member, offsetof(type, member), sizeof(((type *)0)->member), true \
    }
#define FIELDS (const struct field[])

static const struct layout layouts[] = {
    {HR_META_INFO, 0, true, "info", FIELDS{{0}}},
    {HR_META_CLOCK, sizeof(struct hr_meta_clock), false, "clock",
     FIELDS{FIELD(struct hr_meta_clock, ticks_per_second),
            FIELD(struct hr_meta_clock, start_ticks),
            FIELD(struct hr_meta_clock, start_unix_ns),
            FIELD(struct hr_meta_clock, method),
            {0}}},
    {HR_META_EVENT, sizeof(struct hr_meta_event), true, "event",
     FIELDS{FIELD(struct hr_meta_event, index),
            FIELD(struct hr_meta_event, source),
            FIELD(struct hr_meta_event, width_bits),
            FIELD(struct hr_meta_event, flags),
            HEX(struct hr_meta_event, encoding),
            HEX(struct hr_meta_event, encoding_ext),
            {0}}},
    {HR_META_SAMPLING, sizeof(struct hr_meta_sampling), false, "sampling",
     FIELDS{FIELD(struct hr_meta_sampling, interval_ticks),
            FIELD(struct hr_meta_sampling, period_events),
            FIELD(struct hr_meta_sampling, mode),
            FIELD(struct hr_meta_sampling, flags),
            FIELD(struct hr_meta_sampling, event_count),
            FIELD(struct hr_meta_sampling, ring_slots),
            FIELD(struct hr_meta_sampling, cpu_count),
            FIELD(struct hr_meta_sampling, frequency_hz),
            {0}}},
    {HR_META_CALIBRATION, sizeof(struct hr_meta_calibration), false, "calibration",
     FIELDS{FIELD(struct hr_meta_calibration, sample_ticks),
            FIELD(struct hr_meta_calibration, read_ticks),
            FIELD(struct hr_meta_calibration, rdpmc_ticks),
            FIELD(struct hr_meta_calibration, rounds),
            FIELD(struct hr_meta_calibration, late_ticks),
            {0}}},
    {HR_META_MAP, sizeof(struct hr_meta_map), true, "map",
     FIELDS{HEX(struct hr_meta_map, start),
            HEX(struct hr_meta_map, end),
            HEX(struct hr_meta_map, file_offset),
            FIELD(struct hr_meta_map, flags),
            FIELD(struct hr_meta_map, build_id_bytes),
            FIELD(struct hr_meta_map, path_bytes),
            {0}}},
    {HR_META_STACKS, sizeof(struct hr_meta_stacks), false, "stacks",
     FIELDS{FIELD(struct hr_meta_stacks, kind), FIELD(struct hr_meta_stacks, limit), {0}}},
    {HR_REC_BASE, sizeof(struct hr_rec_base), false, "base",
     FIELDS{FIELD(struct hr_rec_base, time),
            FIELD(struct hr_rec_base, interval),
            HEX(struct hr_rec_base, ip),
            FIELD(struct hr_rec_base, cost_ticks),
            FIELD(struct hr_rec_base, event_count),
            {0}}},
    {HR_REC_LOST, sizeof(struct hr_rec_lost), false, "lost",
     FIELDS{FIELD(struct hr_rec_lost, time_first),
            FIELD(struct hr_rec_lost, time_last),
            FIELD(struct hr_rec_lost, count),
            {0}}},
    {HR_REC_SKIPPED, sizeof(struct hr_rec_skipped), false, "skipped",
     FIELDS{FIELD(struct hr_rec_skipped, time_first),
            FIELD(struct hr_rec_skipped, time_last),
            FIELD(struct hr_rec_skipped, count),
            {0}}},
    {HR_REC_SYSCALL, sizeof(struct hr_rec_syscall), false, "syscall",
     FIELDS{FIELD(struct hr_rec_syscall, time),
            FIELD(struct hr_rec_syscall, tid),
            FIELD(struct hr_rec_syscall, number),
            HEX(struct hr_rec_syscall, result),
            FIELD(struct hr_rec_syscall, duration_ticks),
            {0}}},
    {HR_REC_SWITCH, sizeof(struct hr_rec_switch), false, "switch",
     FIELDS{FIELD(struct hr_rec_switch, time),
            FIELD(struct hr_rec_switch, from_tid),
            FIELD(struct hr_rec_switch, to_tid),
            FIELD(struct hr_rec_switch, reason),
            FIELD(struct hr_rec_switch, waker_tid),
            {0}}},
    {HR_REC_OUTPUT, sizeof(struct hr_rec_output), false, "output",
     FIELDS{FIELD(struct hr_rec_output, time),
            FIELD(struct hr_rec_output, stream),
            FIELD(struct hr_rec_output, offset),
            FIELD(struct hr_rec_output, bytes),
            {0}}},
    {HR_REC_MARK, sizeof(struct hr_rec_mark), true, "mark",
     FIELDS{FIELD(struct hr_rec_mark, time), FIELD(struct hr_rec_mark, tid), {0}}},
    {HR_REC_GAP, sizeof(struct hr_rec_gap), false, "gap",
     FIELDS{FIELD(struct hr_rec_gap, time_first),
            FIELD(struct hr_rec_gap, time_last),
            FIELD(struct hr_rec_gap, reason),
            FIELD(struct hr_rec_gap, tid),
            {0}}},
    {HR_REC_PERIOD, sizeof(struct hr_rec_period), false, "period",
     FIELDS{FIELD(struct hr_rec_period, time), FIELD(struct hr_rec_period, period), {0}}},
    {HR_REC_FAULT, sizeof(struct hr_rec_fault), false, "fault",
     FIELDS{FIELD(struct hr_rec_fault, time),
            HEX(struct hr_rec_fault, ip),
            HEX(struct hr_rec_fault, address),
            FIELD(struct hr_rec_fault, vector),
            HEX(struct hr_rec_fault, error),
            FIELD(struct hr_rec_fault, signal),
            FIELD(struct hr_rec_fault, tid),
            {0}}},
    {HR_REC_STACK_NODES, 0, false, "stack_nodes", FIELDS{{0}}},
    {HR_REC_STACKS, 0, false, "sample_stacks", FIELDS{{0}}},
    {HR_REC_USER_STACKS, 0, false, "user_stacks", FIELDS{{0}}},
    {HR_REC_EXIT, sizeof(struct hr_rec_exit), false, "exit",
     FIELDS{FIELD(struct hr_rec_exit, time),
            FIELD(struct hr_rec_exit, user_ticks),
            FIELD(struct hr_rec_exit, kind),
            FIELD(struct hr_rec_exit, code),
            FIELD(struct hr_rec_exit, peak_memory_bytes),
            {0}}},
    {HR_REC_TOTAL, sizeof(struct hr_rec_total), false, "total",
     FIELDS{FIELD(struct hr_rec_total, index), FIELD(struct hr_rec_total, value), {0}}},
    {HR_REC_STREAM, sizeof(struct hr_rec_stream), false, "stream",
     FIELDS{FIELD(struct hr_rec_stream, cpu),
            FIELD(struct hr_rec_stream, samples),
            FIELD(struct hr_rec_stream, lost),
            FIELD(struct hr_rec_stream, chunks),
            {0}}},
    {HR_REC_REGION, sizeof(struct hr_rec_region), true, "region",
     FIELDS{FIELD(struct hr_rec_region, event),
            FIELD(struct hr_rec_region, passes),
            FIELD(struct hr_rec_region, sum),
            FIELD(struct hr_rec_region, min),
            FIELD(struct hr_rec_region, max),
            FIELD(struct hr_rec_region, threads),
            FIELD(struct hr_rec_region, bucket_count),
            {0}}},
    {HR_REC_NMI, sizeof(struct hr_rec_nmi), false, "nmi",
     FIELDS{FIELD(struct hr_rec_nmi, cpu),
            FIELD(struct hr_rec_nmi, samples),
            FIELD(struct hr_rec_nmi, spurious),
            FIELD(struct hr_rec_nmi, unknown),
            {0}}},
    {HR_REC_ACTIVITY, sizeof(struct hr_rec_activity), false, "activity",
     FIELDS{FIELD(struct hr_rec_activity, cpu),
            FIELD(struct hr_rec_activity, interruptions),
            FIELD(struct hr_rec_activity, switches),
            FIELD(struct hr_rec_activity, slices),
            FIELD(struct hr_rec_activity, blocks),
            FIELD(struct hr_rec_activity, wakeups),
            {0}}},
    {HR_REC_SHARE, sizeof(struct hr_rec_share), false, "share",
     FIELDS{FIELD(struct hr_rec_share, cpu),
            FIELD(struct hr_rec_share, skipped),
            FIELD(struct hr_rec_share, spacing_ticks),
            FIELD(struct hr_rec_share, stolen_ns),
            FIELD(struct hr_rec_share, flags),
            {0}}},
    {HR_REC_MACHINE_CPU, sizeof(struct hr_rec_machine_cpu), false, "machine-cpu",
     FIELDS{FIELD(struct hr_rec_machine_cpu, cpu),
            FIELD(struct hr_rec_machine_cpu, apic_id),
            HEX(struct hr_rec_machine_cpu, core_kind),
            HEX(struct hr_rec_machine_cpu, microcode),
            HEX(struct hr_rec_machine_cpu, flags),
            FIELD(struct hr_rec_machine_cpu, tsc),
            FIELD(struct hr_rec_machine_cpu, aperf),
            FIELD(struct hr_rec_machine_cpu, mperf),
            FIELD(struct hr_rec_machine_cpu, aperf_before),
            FIELD(struct hr_rec_machine_cpu, mperf_before),
            FIELD(struct hr_rec_machine_cpu, aperf_after),
            FIELD(struct hr_rec_machine_cpu, mperf_after),
            FIELD(struct hr_rec_machine_cpu, smi_before),
            FIELD(struct hr_rec_machine_cpu, smi_after),
            HEX(struct hr_rec_machine_cpu, thermal_before),
            HEX(struct hr_rec_machine_cpu, thermal_after),
            HEX(struct hr_rec_machine_cpu, package_before),
            HEX(struct hr_rec_machine_cpu, package_after),
            {0}}},
    {HR_HOST_END, sizeof(struct hr_host_end), true, "host-end",
     FIELDS{FIELD(struct hr_host_end, wall_ns), FIELD(struct hr_host_end, reason), {0}}},
    {HR_HOST_EXACT, sizeof(struct hr_host_exact), false, "exact",
     FIELDS{FIELD(struct hr_host_exact, instructions),
            FIELD(struct hr_host_exact, homeless),
            FIELD(struct hr_host_exact, lost_faults),
            FIELD(struct hr_host_exact, event_count),
            {0}}},
    {HR_HOST_EXACT_COUNTS, sizeof(struct hr_host_exact_counts), false, "exact-counts",
     FIELDS{
         FIELD(struct hr_host_exact_counts, tid), FIELD(struct hr_host_exact_counts, count), {0}}},
    {HR_HOST_FILE, sizeof(struct hr_host_file), true, "file",
     FIELDS{FIELD(struct hr_host_file, bytes),
            FIELD(struct hr_host_file, modified),
            HEX(struct hr_host_file, hash),
            FIELD(struct hr_host_file, flags),
            {0}}},
    {HR_INDEX_TRAILER, sizeof(struct hr_index_trailer), false, "index-trailer",
     FIELDS{FIELD(struct hr_index_trailer, first_offset),
            FIELD(struct hr_index_trailer, entry_count),
            {0}}},
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
    struct hr_meta_map map;
    const uint8_t *tail;
    size_t tail_bytes;

    if (!trace_body(record, &map, sizeof map, &tail, &tail_bytes) ||
        map.build_id_bytes > tail_bytes)
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

static void put_tail(struct output *out, const struct layout *layout,
                     const struct trace_record *record)
{
    static char text[UINT16_MAX + 1], safe[4 * sizeof text]; /* a byte becomes \xNN at most */
    size_t start = layout->bytes, end = record->bytes, used = 0;

    if (record->type == HR_META_MAP)
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

static int put_record(void *context, const struct trace_chunk *chunk,
                      const struct trace_record *record)
{
    struct output *out = &((struct dump *)context)->output;
    const struct layout *layout = NULL;

    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (layouts[i].type == record->type)
            layout = &layouts[i];
    output_text(out, "  ");
    output_text(out, layout != NULL ? layout->name : "record");
    if (layout == NULL || record->bytes < layout->bytes) {
        output_csv_print(out, " type=%u bytes=%u offset=%lu", record->type, record->bytes,
                         chunk->offset + sizeof chunk->header + record->offset);
    } else {
        for (const struct field *f = layout->fields; f->name != NULL; f++) {
            uint64_t value = 0;

            memcpy(&value, record->body + f->offset, f->bytes);
            put_value(out, f->name, value, f->hex);
        }
        if (layout->text)
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

static int put_samples(void *context, const struct trace_samples *samples)
{
    struct dump *dump = context;
    struct output *out = &dump->output;

    dump->any = true;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];

        output_text(out, "  sample");
        put_value(out, "time", sample->time, false);
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
        output_char(out, '\n');
    }
    return out->error;
}

const struct dump_format dump_records = {
    .name = "records",
    .visitor = {.stacks = TRACE_SCAN_STACKS,
                .samples = put_samples,
                .record = put_record,
                .step = put_step},
};
