/* guest/trace/trace.c and trace_stream.c: from rings to chunks, with and without room in the
 * transport: every sample is in the trace, whole, or in a loss that says when; what holds after a
 * loss is told.
 */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "guest/sample/ring.c"
#include "guest/trace/trace.c"
#include "guest/trace/trace_loss.c"
#include "guest/trace/trace_record.c"
#include "guest/trace/trace_stream.c"
#include "lib/trace/trace_reader.h"

#define TRACE_BYTES_MAX (8u << 20)
#define SAMPLES_MAX 20000u
#define WIDTH_BITS 16 /* of the counter: passes its range within a long loss */
#define STEP 500u /* its increment from sample to sample */

struct run_config run;
uint64_t transport_end_bytes;
struct sampling sampling;
struct cpu cpus[CPUS_MAX];
uint32_t cpu_count = 2;
struct hr_rec_calls called_sums;

static struct boot_info boot;
static uint8_t *trace;
static size_t trace_bytes;
static uint64_t room_samples, room_records;
static unsigned notices;

/* ---- what they ask of others */

void *platform_allocate(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

    memset(memory, 0, bytes);
    return memory;
}

bool sampling_whole(uint32_t i)
{
    (void)i;
    return false;
}

struct trace_accesses *pebs_accesses(const struct cpu *cpu)
{
    (void)cpu;
    return NULL;
}

void pebs_complete(const struct pebs *pebs, struct trace_slot *slot, uint64_t *counters)
{
    (void)pebs;
    (void)slot;
    (void)counters;
}

void called_send(void)
{
}

void log_line(const char *format, ...)
{
    notices += strstr(format, "did not fit") != NULL;
}

void panic(const char *format, ...)
{
    fail_msg("panic: %s", format);
    for (;;)
        continue;
}

void panic_report(const char *text, size_t bytes)
{
    fail_msg("report: %.*s", (int)bytes, text);
}

void leave_done(uint32_t end)
{
    fail_msg("end %u", end);
    for (;;)
        continue;
}

bool regions_any(void)
{
    return false;
}

void regions_write(struct trace_writer *w)
{
    (void)w;
}

int stack_add_to_writer(struct trace_writer *w)
{
    (void)w;
    return 0;
}

uint64_t run_ns_to_ticks(uint64_t ns)
{
    return ns;
}

uint64_t paravirt_stolen_ns(const struct cpu *cpu)
{
    return cpu->paravirt.steal_seen;
}

void stack_check(struct trace_slot *slot)
{
    (void)slot;
}

/* A queue of Python's code objects whose bodies are their numbers. */
static uint32_t codes_waiting, codes_taken;

struct python_codes *python_codes_of(uint32_t cpu)
{
    static uint64_t queue;

    return cpu == 1 ? (struct python_codes *)(void *)&queue : NULL;
}

const uint8_t *python_walk_next(struct python_codes *codes, uint32_t *bytes)
{
    static uint8_t body[20000];

    (void)codes;
    memcpy(body, &codes_taken, sizeof codes_taken);
    *bytes = sizeof body;
    return codes_taken < codes_waiting ? body : NULL;
}

void python_walk_taken(struct python_codes *codes)
{
    (void)codes;
    codes_taken++;
}

bool trace_notes_any(void)
{
    return false;
}

void trace_notes_write(struct trace_writer *w)
{
    (void)w;
}

void trace_meta_write(struct trace_writer *w)
{
    trace_writer_record(w, HR_META_INFO, TRACE_NO_TIME, "a\0b", 4, NULL, 0);
}

static struct trace_dropped said;

void trace_meta_end(struct trace_writer *w, const struct trace_dropped *numbers)
{
    (void)w;
    said = *numbers;
}

const char *marks_text(uint64_t number, uint32_t *bytes)
{
    (void)number;
    *bytes = 4;
    return "mark";
}

const struct hr_rec_machine_cpu *machine_record(const struct cpu *cpu)
{
    static const struct hr_rec_machine_cpu nothing;

    (void)cpu;
    return &nothing;
}

static int send(enum transport_port port, const void *bytes, size_t count)
{
    assert_int_equal(port, TRANSPORT_TRACE);
    assert_true(trace_bytes + count <= TRACE_BYTES_MAX);
    memcpy(trace + trace_bytes, bytes, count);
    trace_bytes += count;
    return 0;
}

static bool trace_room(uint64_t bytes, bool samples)
{
    return (samples ? room_samples : room_records) >= bytes;
}

static const struct transport fake = {.name = "fake", .send = send, .trace_room = trace_room};
const struct transport *transport = &fake;

/* ---- a CPU that makes samples, and now and then other records */

static struct ring ring;
static uint64_t produced; /* slots; a slot's time is 10 * its number */
static uint64_t samples_made, records_made;
static uint64_t whole[SAMPLES_MAX]; /* of the sample at that slot number; 0: no sample */
static uint64_t last_switch;

static void begin(void)
{
    static const struct trigger trigger;

    run = (struct run_config){.boot = &boot};
    boot = (struct boot_info){0};
    sampling.trigger = &trigger;
    sampling.session.event_count = 1;
    sampling.session.events[0].width_bits = WIDTH_BITS;
    sampling.session.events[0].source = HR_SOURCE_PMU;
    memset(streams, 0, sizeof streams);
    memset(whole, 0, sizeof whole);
    memset(&meta, 0, sizeof meta);
    trace_stream_dropped = (struct trace_dropped){0};
    codes_waiting = codes_taken = 0;
    trace_bytes = produced = samples_made = records_made = last_switch = notices = 0;
    room_samples = room_records = UINT64_MAX;
    assert_int_equal(ring_init(&ring, 1, 256, 1), 0);
    cpus[1].ring = &ring;
    trace_init(NULL);
    trace_add_ring(&ring);
    trace_start();
}

static void end(void)
{
    const struct hr_rec_exit report = {.time = 10 * produced, .kind = HR_EXIT_STATUS};

    trace_end(&report);
    free(streams[1]);
    free(ring.slots);
}

static void produce(uint8_t kind)
{
    uint64_t time = 10 * ++produced;
    struct trace_slot *slot = ring_reserve(&ring);

    assert_true(produced < SAMPLES_MAX);
    if (kind == 0) {
        samples_made++;
        whole[produced] = samples_made * STEP;
    }
    if (!slot) {
        assert_int_equal(kind, 0); /* the kernel waits with other records */
        ring_drop(&ring, time);
        return;
    }
    memset(slot, 0, 64);
    slot->time = time;
    slot->kind = kind;
    slot->tid = 1000;
    slot->ip = 0x400000 + produced;
    if (kind == 0)
        slot->counters[0] = (whole[produced] - PMU_START_BEFORE_END) & ((1ull << WIDTH_BITS) - 1);
    if (kind == HR_REC_SWITCH)
        last_switch = time;
    records_made += kind != 0;
    ring_publish(&ring);
}

/* A thread begins to wait: no sample. */
static void produce_wait(void)
{
    struct trace_slot *slot = ring_reserve(&ring);

    assert_non_null(slot);
    memset(slot, 0, 64);
    slot->time = 10 * ++produced;
    slot->tid = 1000;
    slot->flags = HR_SAMPLE_WAITING | HR_SAMPLE_NO_COUNTERS;
    ring_publish(&ring);
}

static void drain_all(bool flush)
{
    trace_drain(&ring, flush);
    assert_int_equal(ring.tail, ring.head);
}

/* ---- what a reader finds */

static struct {
    uint64_t samples, lost, records, last_time, losses;
    uint64_t stream_samples, stream_lost, last_switch;
    bool is_lost[SAMPLES_MAX];
    bool has_end;
    uint32_t codes;
} found;

static void find_samples(struct trace_decoder *decoder, const struct trace_record *record)
{
    static struct trace_slot slots[TRACE_RUN_SAMPLES_MAX];
    uint32_t count;

    assert_int_equal(trace_decoder_samples(decoder, record, slots, TRACE_RUN_SAMPLES_MAX, &count),
                     TRACE_OK);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = slots[i].time / 10;

        assert_true(slots[i].time > found.last_time);
        found.last_time = slots[i].time;
        assert_true(number <= produced && whole[number]);
        assert_int_equal(slots[i].ip, 0x400000 + number);
        assert_int_equal(slots[i].counters[0], whole[number]);
    }
    found.samples += count;
}

/* The span holds as many samples as it says, and nothing after it is earlier. */
static void find_lost(const struct trace_record *record)
{
    struct hr_rec_lost lost;
    uint64_t count = 0;

    assert_true(trace_body(record, &lost, sizeof lost, NULL, NULL));
    assert_true(lost.time_first > found.last_time && lost.time_last >= lost.time_first);
    for (uint64_t i = lost.time_first / 10; i <= lost.time_last / 10; i++)
        count += whole[i] != 0;
    assert_int_equal(lost.count, count);
    assert_true(whole[lost.time_first / 10] && whole[lost.time_last / 10]);
    found.last_time = lost.time_last;
    found.lost += count;
    found.losses++;
}

static void find_stream(const struct trace_record *record)
{
    struct hr_rec_stream stream;

    assert_true(trace_body(record, &stream, sizeof stream, NULL, NULL));
    found.stream_samples = stream.samples;
    found.stream_lost = stream.lost;
}

static void find_record(struct trace_decoder *decoder, const struct trace_record *record)
{
    struct hr_rec_switch switched;

    switch (record->type) {
    case HR_META_PYTHON_CODE: /* each once, in order */
        assert_memory_equal(record->body, &found.codes, sizeof found.codes);
        found.codes++;
        break;
    case HR_REC_BASE:
        assert_int_equal(trace_decoder_base(decoder, record), TRACE_OK);
        break;
    case HR_REC_SAMPLES:
    case HR_REC_SAMPLES_WIDE:
        find_samples(decoder, record);
        break;
    case HR_REC_LOST:
        find_lost(record);
        break;
    case HR_REC_SWITCH:
        assert_true(trace_body(record, &switched, sizeof switched, NULL, NULL));
        assert_true(switched.time > found.last_switch);
        found.last_switch = switched.time;
        found.records++;
        break;
    case HR_REC_MARK:
    case HR_REC_OUTPUT:
        found.records++;
        break;
    case HR_REC_STREAM:
        find_stream(record);
        break;
    case HR_REC_EXIT:
        found.has_end = true;
    }
}

static void read_back(void)
{
    uint32_t at;

    memset(&found, 0, sizeof found);
    assert_int_equal(trace_check_file(trace, trace_bytes, &at), TRACE_OK);
    while (at < trace_bytes) {
        struct hr_chunk_header header;
        struct trace_cursor cursor;
        struct trace_record record;
        struct trace_decoder decoder;

        assert_int_equal(trace_check_header(trace + at, trace_bytes - at, &header), TRACE_OK);
        at += sizeof header;
        assert_int_equal(trace_check_payload(&header, trace + at), TRACE_OK);
        trace_decoder_init(&decoder, 1);
        trace_cursor_init(&cursor, trace + at, header.payload_bytes);
        while (trace_next(&cursor, &record) == TRACE_OK)
            find_record(&decoder, &record);
        at += header.payload_bytes;
    }
    assert_int_equal(at, trace_bytes);
    assert_true(found.has_end);
    assert_int_equal(found.samples + found.lost, samples_made);
    assert_int_equal(found.stream_samples, found.samples);
    assert_int_equal(found.stream_lost, found.lost);
    assert_int_equal(boot.result.lost_samples, found.lost);
    assert_int_equal(found.records + said.records, records_made);
    assert_int_equal(found.last_switch, last_switch);
}

/* ---- tests */

static void nothing_is_lost_where_there_is_room(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 1000; i++) {
        produce(i % 10 == 9 ? HR_REC_SWITCH : 0);
        if (i % 100 == 0)
            drain_all(false);
    }
    end();
    read_back();
    assert_int_equal(found.lost, 0);
    assert_int_equal(found.samples, 900);
    assert_int_equal(found.records, 100);
    assert_int_equal(notices, 0);
}

static void code_objects_go_to_chunks_of_their_own(void **state)
{
    (void)state;
    begin();
    produce(0);
    codes_waiting = 10; /* more than one chunk holds */
    drain_all(false);
    assert_int_equal(codes_taken, 10);
    room_records = 0;
    codes_waiting = 12;
    drain_all(false);
    assert_int_equal(codes_taken, 10); /* they wait for room */
    room_records = UINT64_MAX;
    end();
    read_back();
    assert_int_equal(found.codes, 12);
    assert_int_equal(found.samples, 1);
}

static void full_for_ever(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 100; i++)
        produce(0);
    drain_all(true);
    room_samples = room_records = 0;
    for (int i = 0; i < 5000; i++) {
        produce(i % 50 == 9 ? HR_REC_SWITCH : i % 50 == 19 ? HR_REC_MARK : 0);
        if (i % 100 == 0)
            drain_all(i % 200 == 0);
    }
    end();
    read_back();
    assert_int_equal(found.samples, 100);
    assert_int_equal(found.losses, 1);
    assert_int_equal(found.records, 1); /* the last switch */
    assert_int_equal(said.records, 199);
    assert_int_equal(said.samples, 4800);
    assert_int_equal(notices, 1);
}

/* In the margin that samples leave, other records stay exact. */
static void waits_that_are_dropped_are_not_lost(void **state)
{
    (void)state;
    begin();
    produce(0);
    drain_all(true);
    room_samples = room_records = 0;
    for (int i = 0; i < 500; i++) {
        produce_wait();
        if (i % 5 == 3)
            produce(0);
        if (i % 4 == 0)
            produce(HR_REC_MARK);
        drain_all(true);
    }
    end();
    read_back();
    assert_int_equal(found.samples, 1);
    assert_int_equal(found.lost, 100);
}

static void records_have_room_longer(void **state)
{
    (void)state;
    begin();
    room_samples = 0;
    for (int i = 0; i < 2000; i++) {
        produce(i % 20 == 9 ? HR_REC_OUTPUT : 0);
        if (i % 100 == 0)
            drain_all(i % 300 == 0);
    }
    end();
    read_back();
    assert_int_equal(found.samples, 0);
    assert_int_equal(found.records, 100);
    assert_int_equal(said.records, 0);
    assert_int_equal(found.losses, 101);
}

static void room_comes_back(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 9000; i++) {
        if (i == 1000)
            room_samples = room_records = 0;
        if (i == 3000)
            room_records = UINT64_MAX;
        if (i == 5000)
            room_samples = UINT64_MAX;
        produce(i % 20 == 9 ? HR_REC_SWITCH : 0);
        if (i % 100 == 0)
            drain_all(i % 300 == 0);
    }
    end();
    read_back();
    assert_true(found.samples > 4500 && found.lost > 3500);
    assert_true(said.records > 90 && said.records < 110);
}

static void random_room(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct test_random r = {seed};

        begin();
        for (int i = 0; i < 4000; i++) {
            uint64_t kind = test_random_below(&r, 20);

            if (ring.head - ring.tail < ring.mask) /* the kernel would wait */
                produce(kind == 0   ? HR_REC_SWITCH
                        : kind == 1 ? HR_REC_MARK
                        : kind == 2 ? HR_REC_OUTPUT
                                    : 0);
            else
                produce(0);
            if (test_random_below(&r, 50) == 0)
                room_samples = test_random_below(&r, 2) ? UINT64_MAX : 0;
            if (test_random_below(&r, 50) == 0)
                room_records = test_random_below(&r, 2) ? UINT64_MAX : 0;
            /* the ring must not lose half of the counter's range at once */
            if (test_random_below(&r, 60) == 0 || ring.lost_count > 50)
                drain_all(test_random_below(&r, 3) == 0);
        }
        end();
        read_back();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_where_there_is_room),
        cmocka_unit_test(code_objects_go_to_chunks_of_their_own),
        cmocka_unit_test(full_for_ever),
        cmocka_unit_test(waits_that_are_dropped_are_not_lost),
        cmocka_unit_test(records_have_room_longer),
        cmocka_unit_test(room_comes_back),
        cmocka_unit_test(random_room),
    };

    trace = malloc(TRACE_BYTES_MAX);
    int failed = cmocka_run_group_tests_name("trace", tests, NULL, NULL);
    free(trace);
    return failed;
}
