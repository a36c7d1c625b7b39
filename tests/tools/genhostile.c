/* Writes a trace that keeps to the format and is made to hurt its readers, for tests.
 *
 *   genhostile KIND [NUMBER] FILE
 *
 * Kinds are the names in `kinds` below; NUMBER is how many of what the kind is about.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "tests/tools/tracesink.h"

#define CHUNK_BYTES (1u << 20)
#define START_TICKS 1000000u
#define DEEP 500u /* frames of a stack */

static const char *const names[] = {
    "\x1b]0;owned\x07\x1b[2J\x1b[31m",
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>",
    "\"quotes' \\ and, commas; and `$(ticks)`",
    "two\nlines\r\ttabs\x01\x7f",
    ("\xff\xfe\xc3( not UTF-8 \xed\xa0\x80 \xf4\x90\x80\x80 \xc2\x9b"
     "31m"), /* in two parts: else 31 would belong to the escape */
    "%s%n%999999d",
    "../../../../../etc/passwd",
    "",
};
#define NAMES (sizeof names / sizeof names[0])

struct kind {
    const char *name;
    uint32_t count; /* unless the command line says so */
    uint32_t events;
    uint64_t ticks_per_second;
    uint64_t ticks; /* between samples */
    uint64_t increment; /* of each counter */
    uint64_t ip_step;
    uint32_t threads; /* samples come from this many; 0: each from its own */
    uint8_t record; /* of this type one before each sample; 0: none */
    bool cpus; /* each sample is on its own CPU */
    bool names; /* whatever has a name has a bad one */
    bool stacks; /* a deep one each, unlike the others */
};

static const struct kind kinds[] = {
    {"names", 64, 3, 1000000000, 1000, 800, 16, 4, .record = HR_REC_MARK, .names = true},
    {"cpus", 20000, 1, 1000000000, 1000, 800, 16, 1, .cpus = true},
    {"threads", 200000, 1, 1000000000, 1000, 800, 16, .threads = 0},
    {"switches", 200000, 1, 1000000000, 1000, 800, 16, 0, .record = HR_REC_SWITCH},
    {"marks", 200000, 1, 1000000000, 1000, 800, 16, 1, .record = HR_REC_MARK},
    {"syscalls", 200000, 1, 1000000000, 1000, 800, 16, 1, .record = HR_REC_SYSCALL},
    {"losses", 200000, 1, 1000000000, 1000, 800, 16, 1, .record = HR_REC_LOST},
    {"gaps", 200000, 1, 1000000000, 1000, 800, 16, 1, .record = HR_REC_GAP},
    {"regions", 5000, 1, 1000000000, 1000, 800, 16, 1, .record = HR_REC_REGION},
    {"files", 100000, 1, 1000000000, 1000, 800, 16, 1, .record = HR_HOST_FILE},
    {"addresses", 1000000, 1, 1000000000, 1000, 800, 0x9e3779b97f4a7c15, .threads = 1},
    {"events", 1000, HR_EVENTS_MAX, 1000000000, 1000, 1ull << 60, 16, .threads = 1},
    {"times", 1000, 1, 1000000000, 1ull << 53, UINT64_MAX, 16, 2, .record = HR_REC_GAP},
    {"back", 1000, 2, 1000000000, UINT64_MAX - 1000, 800, 16, 2, .record = HR_REC_GAP},
    {"slow", 1000, 1, 1, 1000000000, 800, 16, 2, .record = HR_REC_GAP},
    {"fast", 1000, 1, UINT64_MAX, 1, 800, 16, 2, .record = HR_REC_GAP},
    {"stacks", 20000, 1, 1000000000, 1000, 800, 16, 1, .stacks = true},
};

static const char *name_of(const struct kind *kind, uint64_t i, char room[32])
{
    if (kind->names)
        return names[i % NAMES];
    snprintf(room, 32, "name %" PRIu64, i);
    return room;
}

static void put_meta(struct sink *sink, struct trace_writer *w, const struct kind *kind)
{
    const struct hr_meta_clock clock = {kind->ticks_per_second, START_TICKS, 0, 2, 0};
    const struct hr_meta_sampling sampling = {.interval_ticks = kind->ticks,
                                              .mode = HR_MODE_TIMER,
                                              .event_count = kind->events,
                                              .ring_slots = 65536,
                                              .cpu_count = 1};
    static const char *const keys[] = {"machine.model",  "machine.hypervisor", "kernel.version",
                                       "program.path",   "program.args",       "machine.cpus",
                                       "machine.vendor", "pmu.driver",         "sampling.trigger",
                                       "run.page_faults"};
    const struct hr_meta_stacks stacks = {.kind = HR_STACK_FP, .limit = DEEP};
    static uint8_t buffer[CHUNK_BYTES];
    char room[32];

    meta_begin(w, buffer, sizeof buffer, &clock, &sampling);
    for (uint16_t i = 0; i < kind->events; i++) {
        const struct hr_meta_event event = {.index = i, .source = HR_SOURCE_PMU, .width_bits = 48};

        add_event(w, &event, name_of(kind, i, room));
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        add_text(w, keys[i], name_of(kind, i, room));
    for (uint64_t i = 0; i < NAMES; i++) {
        const char *name = name_of(kind, i, room);
        const struct hr_meta_map map = {.start = 0x400000 + i * 64,
                                        .end = 0x400000 + i * 64 + 64,
                                        .flags = HR_MAP_READ | HR_MAP_EXEC,
                                        .path_bytes = (uint16_t)strlen(name)};

        add(w, HR_META_MAP, TRACE_NO_TIME, &map, sizeof map, name, strlen(name));
    }
    if (kind->stacks)
        add(w, HR_META_STACKS, TRACE_NO_TIME, &stacks, sizeof stacks, NULL, 0);
    put_chunk(sink, w);
}

/* One record of kind->record's type; 0 or -ENOSPC. */
static int put_record(const struct kind *kind, struct trace_writer *w, const struct trace_slot *at,
                      uint64_t i)
{
    const struct hr_rec_mark mark = {.time = at->time, .tid = at->tid};
    const struct hr_rec_switch change = {
        .time = at->time, .from_tid = at->tid, .to_tid = at->tid + 1, .reason = 1 + i % 7};
    const struct hr_rec_syscall call = {
        .time = at->time, .tid = at->tid, .number = (uint32_t)i, .duration_ticks = (uint32_t)i};
    const struct hr_rec_gap gap = {at->time, at->time + kind->ticks, 1 + i % 5, at->tid};
    const struct hr_rec_lost lost = {at->time, at->time + 1, 1ull << 40};
    char room[32];
    const char *name = name_of(kind, i, room);
    uint32_t bytes = (uint32_t)strlen(name);

    switch (kind->record) {
    case HR_REC_MARK:
        return trace_writer_record(w, HR_REC_MARK, at->time, &mark, sizeof mark, name, bytes);
    case HR_REC_SWITCH:
        return trace_writer_record(w, HR_REC_SWITCH, at->time, &change, sizeof change, NULL, 0);
    case HR_REC_SYSCALL:
        return trace_writer_record(w, HR_REC_SYSCALL, at->time, &call, sizeof call, NULL, 0);
    case HR_REC_GAP:
        return trace_writer_record(w, HR_REC_GAP, at->time, &gap, sizeof gap, NULL, 0);
    case HR_REC_LOST:
        return trace_writer_lost(w, &lost);
    default:
        return 0;
    }
}

static void next_chunk(struct sink *sink, struct trace_writer *w)
{
    put_chunk(sink, w);
    trace_writer_begin(w, HR_CHUNK_DATA);
}

static void next_sample(const struct kind *kind, struct trace_slot *slot, uint64_t i)
{
    uint64_t step = kind->ip_step;

    slot->time += kind->ticks;
    slot->ip = 0x400000 + (step > 4096 ? (i * step) >> 17 : i * step % (NAMES * 64));
    slot->tid = 1 + (uint32_t)(kind->threads == 0 ? i : i / 8 % kind->threads);
    for (uint32_t event = 0; event < kind->events; event++)
        slot->counters[event] += kind->increment;
}

static void put_samples(struct sink *sink, const struct kind *kind, uint32_t count)
{
    static union {
        struct trace_slot slot;
        uint8_t bytes[sizeof(struct trace_slot) + 8 * HR_STACK_FRAMES_MAX];
    } room = {.slot = {.time = START_TICKS, .cost_ticks = 30}};
    struct trace_slot_stack *stack =
        (struct trace_slot_stack *)&room.slot.counters[TRACE_SLOT_SMALL_EVENTS];
    uint8_t *buffer = malloc(CHUNK_BYTES);
    struct trace_writer w;

    trace_writer_init(&w, buffer, CHUNK_BYTES, 0, kind->events);
    if (kind->stacks)
        trace_writer_stacks(&w, HR_STACK_FP, malloc(trace_stacks_bytes(HR_STACK_FP)));
    trace_writer_begin(&w, HR_CHUNK_DATA);
    for (uint64_t i = 0; i < count; i++) {
        if (put_record(kind, &w, &room.slot, i) != 0) {
            next_chunk(sink, &w);
            put_record(kind, &w, &room.slot, i);
        }
        next_sample(kind, &room.slot, i);
        if (kind->stacks) {
            *stack = (struct trace_slot_stack){.root = HR_STACK_WHOLE, .count = DEEP};
            for (uint32_t n = 0; n < DEEP; n++)
                stack->words[n] = i * DEEP * 4096 + n * 4096ull;
        }
        if (trace_writer_sample(&w, &room.slot) != 0) {
            next_chunk(sink, &w);
            trace_writer_sample(&w, &room.slot);
        }
        if (kind->cpus) {
            put_chunk(sink, &w);
            trace_writer_init(&w, buffer, CHUNK_BYTES, (uint16_t)(i + 1), kind->events);
            trace_writer_begin(&w, HR_CHUNK_DATA);
        }
    }
    put_chunk(sink, &w);
}

static void put_regions(struct sink *sink, struct trace_writer *w, const struct kind *kind,
                        uint32_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        char room[32];
        const char *name = name_of(kind, i, room);
        uint8_t tail[512];
        const struct hr_rec_region region = {.passes = 1,
                                             .event = HR_REGION_TICKS,
                                             .bucket_count = 1,
                                             .name_bytes = (uint16_t)strlen(name),
                                             .threads = 1};
        const uint64_t bucket = 1;

        memcpy(tail, &bucket, sizeof bucket);
        memcpy(tail + sizeof bucket, name, region.name_bytes);
        if (trace_writer_record(w, HR_REC_REGION, TRACE_NO_TIME, &region, sizeof region, tail,
                                (uint32_t)sizeof bucket + region.name_bytes) == 0)
            continue;
        put_chunk(sink, w);
        trace_writer_begin(w, HR_CHUNK_END);
    }
}

/* A record needs a path, so an empty name has none. */
static void put_files(struct sink *sink, struct trace_writer *w, const struct kind *kind,
                      uint32_t count)
{
    trace_writer_begin(w, HR_CHUNK_HOST);
    for (uint64_t i = 0; i < count; i++) {
        char room[32];
        const char *name = name_of(kind, i, room);
        const struct hr_host_file file = {.bytes = UINT64_MAX - i,
                                          .modified = UINT64_MAX / (i + 1),
                                          .hash = i,
                                          .flags = (uint32_t)i};

        if (name[0] == 0 || trace_writer_record(w, HR_HOST_FILE, TRACE_NO_TIME, &file, sizeof file,
                                                name, (uint32_t)strlen(name)) == 0)
            continue;
        put_chunk(sink, w);
        trace_writer_begin(w, HR_CHUNK_HOST);
    }
    put_chunk(sink, w);
}

static void generate(struct sink *sink, const struct kind *kind, uint32_t count)
{
    const struct hr_rec_exit last = {.kind = HR_EXIT_STATUS};
    struct trace_writer w;

    put_meta(sink, &w, kind);
    put_samples(sink, kind, count);
    trace_writer_begin(&w, HR_CHUNK_END);
    add(&w, HR_REC_EXIT, TRACE_NO_TIME, &last, sizeof last, NULL, 0);
    if (kind->names || kind->record == HR_REC_REGION)
        put_regions(sink, &w, kind, kind->names ? NAMES : count);
    add_streams(sink, &w);
    put_chunk(sink, &w);
    if (kind->names || kind->record == HR_HOST_FILE)
        put_files(sink, &w, kind, kind->names ? NAMES : count);
    put_collector_part(sink, &w);
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds, *end = kinds + sizeof kinds / sizeof kinds[0];
    struct sink sink;

    while (argc >= 3 && kind != end && strcmp(kind->name, argv[1]) != 0)
        kind++;
    if (argc < 3 || argc > 4 || kind == end) {
        fputs("usage: genhostile KIND [NUMBER] FILE\n", stderr);
        return 2;
    }
    sink_begin(&sink, argv[argc - 1]);
    generate(&sink, kind, argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : kind->count);
    sink_close(&sink, argv[argc - 1]);
    return 0;
}
