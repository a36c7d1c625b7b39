/* Writes a trace of precise accesses, for tests of its readers: what standard input says, a line
 * each.
 *
 *   genaccesses FILE [PROGRAM] <<END
 *   cpu N                        what follows happens on this CPU (0)
 *   load TIME TID IP ADDRESS SOURCE LATENCY [COUNT [STEP]]
 *   store TIME TID IP ADDRESS SOURCE [COUNT [STEP]]
 *                                TIME: ns since the start; numbers may be written as 0x10.  COUNT
 *                                of them, one a microsecond, at addresses STEP apart
 *   none TIME TID IP             an instruction that accesses nothing
 *   END
 *
 *   genaccesses --many N FILE [PROGRAM]      N accesses of two threads on two CPUs: half to 4096
 *                                variables' worth of the program's data, half to 64 MiB of memory
 *
 * PROGRAM is an ELF file that is not position-independent; without it nothing is mapped.  Loads
 * are records of the first event, 1 in 1009 loads; stores of the second, 1 in 2003.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "lib/trace/trace_accesses.h"
#include "tests/tools/genprogram.h"
#include "tests/tools/tracesink.h"

#define CHUNK_BYTES 262144u
#define START_TICKS 1000000u
#define EVENTS 2u
#define CPUS 8u
#define ARENA 0x7ffff0000000ull

struct generator {
    struct sink sink;
    struct trace_writer meta, cpus[CPUS];
    uint8_t meta_buffer[CHUNK_BYTES];
    uint8_t buffers[CPUS][CHUNK_BYTES];
    struct trace_accesses accesses[CPUS];
    struct program program;
    uint32_t cpu;
    uint64_t last, records[EVENTS];
};

static struct generator g;

static const uint64_t periods[EVENTS] = {1009, 2003};

static void put_program(const char *path)
{
    add_text(&g.meta, "program.args", path != NULL ? path : "accesses");
    if (path == NULL)
        return;
    program_open(&g.program, path);
    add_program(&g.meta, &g.program);
    add_text(&g.meta, "program.path", g.program.path);
}

static void begin(const char *path, const char *program)
{
    static const struct {
        const char *name;
        uint64_t encoding;
    } events[EVENTS] = {{"mem-loads:u", 0x1cd}, {"mem-stores:u", 0x82d0}};
    const struct hr_meta_clock clock = {1000000000, START_TICKS, 0, HR_CLOCK_CPUID_15H, 0};
    const struct hr_meta_sampling sampling = {
        .mode = HR_MODE_PEBS, .event_count = EVENTS, .ring_slots = 65536, .cpu_count = CPUS};
    const struct hr_meta_accesses accesses = {
        .periods = {periods[0], periods[1]}, .sources = HR_SOURCES_INTEL, .latency_least = 3};

    sink_begin(&g.sink, path);
    meta_begin(&g.meta, g.meta_buffer, CHUNK_BYTES, &clock, &sampling);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_meta_event event = {.index = i,
                                            .source = HR_SOURCE_PMU,
                                            .width_bits = 48,
                                            .flags = HR_EVENT_USER,
                                            .encoding = events[i].encoding};

        add_event(&g.meta, &event, events[i].name);
    }
    add(&g.meta, HR_META_ACCESSES, TRACE_NO_TIME, &accesses, sizeof accesses, NULL, 0);
    put_program(program);
    put_chunk(&g.sink, &g.meta);
    for (uint16_t i = 0; i < CPUS; i++) {
        trace_writer_init(&g.cpus[i], g.buffers[i], CHUNK_BYTES, i, EVENTS);
        trace_writer_accesses(&g.cpus[i], &g.accesses[i], false);
    }
}

static void put_access(uint64_t time, uint32_t tid, uint64_t ip, const struct hr_access *access)
{
    struct trace_writer *w = &g.cpus[g.cpu];
    union {
        struct trace_slot slot;
        uint8_t bytes[256];
    } room = {
        .slot = {.time = START_TICKS + time, .ip = ip, .tid = tid, .flags = HR_SAMPLE_NO_COUNTERS}};

    g.records[access->events - 1]++;
    for (uint32_t i = 0; i < EVENTS; i++)
        room.slot.counters[i] = periods[i] * g.records[i];
    memcpy(room.bytes + offsetof(struct trace_slot, counters[EVENTS]), access,
           TRACE_SLOT_ACCESS * sizeof(uint64_t));
    g.last = time > g.last ? time : g.last;
    if (w->used == 0)
        trace_writer_begin(w, HR_CHUNK_DATA);
    if (trace_writer_sample(w, &room.slot) == 0)
        return;
    put_chunk(&g.sink, w);
    trace_writer_begin(w, HR_CHUNK_DATA);
    if (trace_writer_sample(w, &room.slot) != 0)
        fail("access");
}

/* Words of a line that are needed. */
static int words_of(const char *word)
{
    static const struct {
        const char *word;
        int count;
    } lines[] = {{"cpu", 2}, {"load", 7}, {"store", 6}, {"none", 4}};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strcmp(lines[i].word, word) == 0)
            return lines[i].count;
    return INT_MAX;
}

static void take_line(const char *line)
{
    char word[32] = "";
    uint64_t n[8] = {0};
    struct hr_access access = {.events = 1};
    bool store;
    uint32_t rest;
    int found;

    found = sscanf(line,
                   "%31s %" SCNi64 " %" SCNi64 " %" SCNi64 " %" SCNi64 " %" SCNi64 " %" SCNi64
                   " %" SCNi64 " %" SCNi64,
                   word, (int64_t *)&n[0], (int64_t *)&n[1], (int64_t *)&n[2], (int64_t *)&n[3],
                   (int64_t *)&n[4], (int64_t *)&n[5], (int64_t *)&n[6], (int64_t *)&n[7]);
    if (found < words_of(word)) {
        fprintf(stderr, "genaccesses: %s: no such line, or a part is missing\n", word);
        exit(2);
    }
    if (strcmp(word, "cpu") == 0) {
        g.cpu = (uint32_t)(n[0] % CPUS);
        return;
    }
    store = strcmp(word, "store") == 0;
    access.events = store ? 2 : 1;
    access.source = n[4];
    access.latency = store ? 0 : (uint32_t)n[5];
    rest = store ? 5 : 6;
    for (uint64_t i = 0; i == 0 || i < n[rest]; i++) {
        access.address = n[3] != 0 ? n[3] + i * n[rest + 1] : 0;
        put_access(n[0] + 1000 * i, (uint32_t)n[1], n[2], &access);
    }
}

static void put_many(uint64_t count)
{
    static const uint32_t sources[4] = {0x1, 0x3, 0x4, 0xa}, latencies[4] = {4, 14, 40, 214};
    uint64_t random = 1, ip = g.program.path != NULL ? g.program.text_start : 0x401000;
    uint64_t data = (g.program.map.end + 4095) & ~4095ull;

    for (uint64_t i = 0; i < count; i++) {
        struct hr_access access = {.events = i % 4 == 3 ? 2 : 1};

        random = random * 6364136223846793005u + 1442695040888963407u;
        g.cpu = (uint32_t)(i / 1000 % 2);
        access.address =
            random >> 63 ? ARENA + (random >> 20 & 0x3fffff8) : data + (random >> 20 & 0x7ff8);
        access.source = i % 4 == 3 ? 1 : sources[random >> 40 & 3];
        access.latency = i % 4 == 3 ? 0 : latencies[random >> 40 & 3];
        put_access(i * 100, 1000 + g.cpu, ip + (random >> 50 & 0xfc), &access);
    }
}

static void finish(const char *path)
{
    const struct hr_rec_exit end = {
        .time = START_TICKS + g.last + 1, .user_ticks = g.last, .kind = HR_EXIT_STATUS};

    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        if (trace_writer_dirty(&g.cpus[cpu]))
            put_chunk(&g.sink, &g.cpus[cpu]);
    trace_writer_begin(&g.meta, HR_CHUNK_END);
    add(&g.meta, HR_REC_EXIT, end.time, &end, sizeof end, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_rec_total total = {.value = periods[i] * g.records[i], .index = i};

        add(&g.meta, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL, 0);
    }
    add_streams(&g.sink, &g.meta);
    put_chunk(&g.sink, &g.meta);
    put_collector_part(&g.sink, &g.meta);
    sink_close(&g.sink, path);
}

int main(int argc, char **argv)
{
    bool many = argc >= 4 && strcmp(argv[1], "--many") == 0;
    int file = many ? 3 : 1;
    char line[256];

    if (argc != file + 1 && argc != file + 2) {
        fprintf(stderr, "usage: genaccesses [--many N] FILE [PROGRAM]\n");
        return 2;
    }
    begin(argv[file], argv[file + 1]);
    if (many)
        put_many(strtoull(argv[2], NULL, 10));
    while (!many && fgets(line, sizeof line, stdin) != NULL)
        take_line(line);
    finish(argv[file]);
    return 0;
}
