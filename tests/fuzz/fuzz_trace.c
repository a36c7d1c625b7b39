/* Fuzzes the trace reader; whatever decodes must come out the same after encoding it again.
 * What other chunks say about the trace is gathered as the commands do.
 *
 * Every input is read as it is, and once more with its checksums put right, because mutation
 * hardly ever gets past a checksum.
 */
#include <string.h>

#include "host/trace/trace_info.h"
#include "lib/crc32c.h"
#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_writer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_stacks.h"

#define SLOT_BYTES(event_count) (offsetof(struct trace_slot, counters) + 8 * (event_count))

static struct trace_slot slots[TRACE_RUN_SAMPLES_MAX];
static struct trace_slot slots_again[TRACE_RUN_SAMPLES_MAX];
static uint8_t chunk[256 * 1024];

/* Decodes the chunk that encode_again left; compares with slots. */
static void compare_again(uint32_t bytes, uint32_t event_count, uint32_t count)
{
    struct hr_chunk_header header;
    struct trace_decoder d;
    struct trace_cursor c;
    struct trace_record r;
    uint32_t at = 0, got;

    fuzz_check(trace_check_header(chunk, bytes, &header) == TRACE_OK);
    fuzz_check(trace_check_payload(&header, chunk + sizeof header) == TRACE_OK);
    fuzz_check(header.sample_count == count);
    trace_decoder_init(&d, event_count);
    trace_cursor_init(&c, chunk + sizeof header, header.payload_bytes);
    fuzz_check(trace_next(&c, &r) == TRACE_OK && trace_decoder_base(&d, &r) == TRACE_OK);
    while (trace_next(&c, &r) == TRACE_OK) {
        fuzz_check(trace_decoder_samples(&d, &r, slots_again, TRACE_RUN_SAMPLES_MAX, &got) ==
                   TRACE_OK);
        for (uint32_t i = 0; i < got; i++, at++)
            fuzz_check(memcmp(&slots_again[i], &slots[at], SLOT_BYTES(event_count)) == 0);
    }
    fuzz_check(c.offset == header.payload_bytes && at == count);
}

static void encode_again(uint32_t event_count, uint32_t count)
{
    struct trace_writer w;

    trace_writer_init(&w, chunk, sizeof chunk, 0, event_count);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    for (uint32_t i = 0; i < count; i++)
        fuzz_check(trace_writer_sample(&w, &slots[i]) == 0);
    compare_again(trace_writer_finish(&w), event_count, count);
}

static struct trace_hit hits[TRACE_RUN_SAMPLES_MAX];
static struct trace_hit hits_again[TRACE_RUN_SAMPLES_MAX];

static void put_hit(struct trace_writer *w, const struct trace_hit *hit, uint32_t event_count,
                    uint32_t argument_count)
{
    union {
        struct trace_slot slot;
        uint8_t bytes[192];
    } room = {.slot = {.time = hit->time, .ip = hit->sp, .tid = hit->tid, .kind = HR_REC_PROBES}};
    uint8_t *values = room.bytes + offsetof(struct trace_slot, counters);

    trace_slot_set_point(&room.slot, hit->point, hit->what);
    memcpy(values, hit->counters, 8 * event_count);
    memcpy(values + 8 * event_count, hit->arguments, 8 * argument_count);
    fuzz_check(trace_writer_probe(w, &room.slot) == 0);
}

/* What was decoded comes out the same after it was encoded again. */
static void encode_hits_again(uint32_t event_count, uint32_t argument_count, uint32_t count)
{
    struct trace_writer w;
    struct trace_decoder d;
    struct trace_probes_decoder p;
    struct trace_cursor c;
    struct trace_record r;
    uint32_t at = 0, got;

    trace_writer_init(&w, chunk, sizeof chunk, 0, event_count);
    trace_writer_probes(&w, argument_count);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    for (uint32_t i = 0; i < count; i++)
        put_hit(&w, &hits[i], event_count, argument_count);
    trace_writer_finish(&w);
    trace_decoder_init(&d, event_count);
    trace_cursor_init(&c, chunk + sizeof(struct hr_chunk_header), w.header.payload_bytes);
    fuzz_check(trace_next(&c, &r) == TRACE_OK && trace_decoder_base(&d, &r) == TRACE_OK);
    trace_probes_decoder_begin(&p, argument_count, &d);
    while (trace_next(&c, &r) == TRACE_OK) {
        fuzz_check(trace_probes_decoder_hits(&p, &r, hits_again, TRACE_RUN_SAMPLES_MAX, &got) ==
                   TRACE_OK);
        for (uint32_t i = 0; i < got; i++, at++) {
            fuzz_check(memcmp(&hits_again[i], &hits[at],
                              offsetof(struct trace_hit, counters) + 8 * event_count) == 0);
            fuzz_check(memcmp(hits_again[i].arguments, hits[at].arguments, 8 * argument_count) ==
                       0);
        }
    }
    fuzz_check(at == count);
}

/* Takes a record of hits, with as many arguments as the thread's number says. */
static void read_hits(const struct trace_decoder *d, const struct trace_record *r)
{
    struct trace_probes_decoder p;
    struct hr_rec_probes head;
    uint32_t arguments, count = 77;

    if (!trace_body(r, &head, sizeof head, NULL, NULL))
        return;
    arguments = head.tid % (HR_PROBE_ARGUMENTS_MAX + 2);
    trace_probes_decoder_begin(&p, arguments, d);
    if (trace_probes_decoder_hits(&p, r, hits, TRACE_RUN_SAMPLES_MAX, &count) != TRACE_OK) {
        fuzz_check(count == 0);
        return;
    }
    fuzz_check(d->has_base && count > 0 && count <= TRACE_RUN_SAMPLES_MAX);
    fuzz_check(r->type == HR_REC_PROBES || r->type == HR_REC_PROBES_WIDE);
    for (uint32_t i = 0; i < count; i++)
        fuzz_check(hits[i].point < HR_PROBE_POINTS_MAX && hits[i].what < 4);
    encode_hits_again(d->event_count, arguments, count);
}

/* Points are of functions that there are. */
static void check_points(const struct trace_points *p)
{
    char room[24];

    for (uint32_t i = 0; p->any && i < p->meta.point_count; i++)
        fuzz_check(p->points[i].function == TRACE_POINTS_NONE ||
                   p->points[i].function < p->meta.function_count);
    for (uint32_t i = 0; p->any && i < p->meta.function_count && i < 64; i++)
        fuzz_check(strlen(trace_points_name(p, i, room)) <= UINT16_MAX);
}

/* Takes a record of a DATA chunk; the first good base decides the number of events.  How many
 * samples it has. */
static uint32_t read_record(struct trace_decoder *d, const struct trace_record *r)
{
    struct hr_rec_base base;
    struct trace_slot before = d->previous;
    uint32_t count = 77;

    if (r->type == HR_REC_BASE) {
        if (trace_body(r, &base, sizeof base, NULL, NULL) && !d->has_base)
            trace_decoder_init(d, base.event_count % (HR_EVENTS_MAX + 2));
        trace_decoder_base(d, r);
        return 0;
    }
    if (trace_decoder_samples(d, r, slots, TRACE_RUN_SAMPLES_MAX, &count) == TRACE_OK) {
        fuzz_check(d->has_base && count > 0 && count <= TRACE_RUN_SAMPLES_MAX);
        fuzz_check(r->type == HR_REC_SAMPLES || r->type == HR_REC_SAMPLES_WIDE);
        if (slots[0].flags & HR_SAMPLE_ASIDE) /* later samples do not depend on it */
            fuzz_check(memcmp(&before, &d->previous, sizeof before) == 0);
        else
            encode_again(d->event_count, count);
    } else {
        fuzz_check(count == 0);
    }
    return count;
}

static void read_payload(const uint8_t *payload, uint32_t bytes)
{
    static struct stacks_reader stacks;
    struct trace_decoder d;
    struct trace_cursor c;
    struct trace_record r;
    enum trace_status status;

    trace_decoder_init(&d, 0);
    stacks_begin(&stacks);
    trace_cursor_init(&c, payload, bytes);
    while ((status = trace_next(&c, &r)) == TRACE_OK) {
        fuzz_check(r.body >= payload && r.body + r.bytes <= payload + bytes);
        read_hits(&d, &r);
        stacks_read(&stacks, &r, read_record(&d, &r));
    }
    fuzz_check(status == TRACE_END ? c.offset == bytes : status == TRACE_BAD_LENGTH);
}

/* Figures of regions stay in order however the histogram and its bounds were made up. */
static void check_regions(const struct trace_regions *regions)
{
    fuzz_check(regions->count <= TRACE_REGIONS_MAX);
    for (size_t i = 0; i < regions->count; i++)
        for (uint32_t k = 0; k < TRACE_REGION_FIGURES; k++) {
            const struct trace_region_figures *f = &regions->all[i].figures[k];
            uint64_t p50 = trace_region_percentile(f, 0.50);
            uint64_t p99 = trace_region_percentile(f, 0.99);

            fuzz_check(f->bucket_count <= HR_REGION_BUCKETS);
            fuzz_check(f->min > f->max || (p50 >= f->min && p50 <= p99 && p99 <= f->max));
        }
}

/* Names of code keep their bounds, and are found where they say. */
static void read_names(const uint8_t *payload, uint32_t bytes)
{
    struct trace_names *names = trace_names_new(NULL);
    struct trace_cursor cursor;
    struct trace_record record;

    fuzz_check(names != NULL);
    trace_cursor_init(&cursor, payload, bytes);
    while (trace_next(&cursor, &record) == TRACE_OK)
        fuzz_check(trace_names_take(names, &record) == 0);
    trace_names_sort(names);
    for (size_t i = 0; i < names->code_count; i++) {
        const struct trace_python_code *code = &names->codes[i];

        fuzz_check(code->first->meta.first_line == code->meta.first_line);
        fuzz_check(strcmp(code->first->name, code->name) == 0 && strlen(code->file) < SIZE_MAX);
        fuzz_check(code->meta.start >= HR_PYTHON_BASE && code->meta.start < HR_PYTHON_END);
        trace_names_python(names, code->meta.start);
    }
    trace_names_release(names);
}

/* Whatever the records say, parents come before children, every thread is of a process, and the
 * addresses of a process lead to views. */
static void check_processes(const struct trace_processes *p)
{
    char text[TRACE_INFO_STATUS_BYTES];

    fuzz_check(p->count <= TRACE_PROCESSES_MAX);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct trace_process *process = &p->all[i];
        const struct trace_space_ranges *ranges = p->spaces.all[process->space].ranges;

        fuzz_check(process->parent == TRACE_PROCESS_NONE || process->parent < i);
        fuzz_check(trace_processes_of(p, process->pid, UINT64_MAX) < p->count);
        trace_processes_path(p, i, process->start);
        trace_info_status(process->status, text);
        for (size_t n = 0; ranges != NULL && n < ranges->map.count; n++) {
            uint64_t address = ranges->map.ranges[n].start;
            uint64_t common = trace_processes_address(p, process->pid, UINT64_MAX, address);

            fuzz_check(ranges->map.ranges[n].object < p->spaces.view_count);
            fuzz_check(trace_spaces_view(&p->spaces, common) == UINT32_MAX ||
                       trace_spaces_view(&p->spaces, common) < p->spaces.view_count);
        }
    }
    for (uint32_t i = 0; i < p->thread_count; i++)
        fuzz_check(trace_processes_of(p, p->threads[i].tid, p->threads[i].time) < p->count);
}

static void read_info(const struct hr_chunk_header *header, const uint8_t *payload)
{
    const struct trace_chunk of_info = {.header = *header, .payload = payload};
    struct trace_info info;
    int error = 0;

    if (header->type == HR_CHUNK_DATA)
        return;
    trace_info_init(&info);
    trace_info_chunk(&info, &of_info, &error);
    fuzz_check(error == 0 && info.event_count <= HR_EVENTS_MAX);
    check_regions(&info.regions);
    check_points(&info.points);
    read_names(payload, header->payload_bytes);
    check_processes(&info.processes);
    trace_info_free(&info);
}

static void put_right(uint8_t *at, size_t available)
{
    struct hr_chunk_header h;

    if (available < sizeof h)
        return;
    memcpy(&h, at, sizeof h);
    h.magic = HR_CHUNK_MAGIC;
    if (h.payload_bytes > available - sizeof h)
        h.payload_bytes = (uint32_t)(available - sizeof h);
    h.payload_crc = crc32c(0, at + sizeof h, h.payload_bytes);
    h.header_crc = crc32c(0, &h, offsetof(struct hr_chunk_header, header_crc));
    memcpy(at, &h, sizeof h);
}

static void read_chunks(uint8_t *bytes, size_t size, size_t at, int repair)
{
    struct hr_chunk_header header;

    while (at < size) {
        if (repair)
            put_right(bytes + at, size - at);
        if (trace_check_header(bytes + at, size - at, &header) != TRACE_OK)
            return;
        at += sizeof header;
        fuzz_check(header.payload_bytes <= HR_CHUNK_PAYLOAD_MAX);
        if (header.payload_bytes > size - at)
            return;
        if (trace_check_payload(&header, bytes + at) == TRACE_OK) {
            read_payload(bytes + at, header.payload_bytes);
            read_info(&header, bytes + at);
        }
        at += header.payload_bytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct hr_file_header header;
    uint32_t first = 0;

    fuzz_check(copy != NULL);
    memcpy(copy, data, size);
    if (trace_check_file(copy, size, &first) == TRACE_OK) {
        fuzz_check(first >= sizeof header);
        read_chunks(copy, size, first, 0);
    }
    if (size >= sizeof header) {
        memcpy(&header, copy, sizeof header);
        header.crc = crc32c(0, &header, offsetof(struct hr_file_header, crc));
        memcpy(copy, &header, sizeof header);
        trace_check_file(copy, size, &first);
        read_chunks(copy, size, sizeof header, 1);
    }
    free(copy);
    return 0;
}
