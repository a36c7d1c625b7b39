/* Writes a trace of N samples that look like a program's, for benches and tests.
 *
 *   gentrace [--stream] [--elf PROGRAM] [--seed N] SAMPLES FILE
 *
 * The program runs through phases: each has a few hot loops, its own rates of cycles, misses and
 * branches, and a little jitter.  --stream leaves out what the collector adds (HOST and INDEX).
 * With --elf the addresses lie in PROGRAM's first executable segment and the load map names it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/elf64.h"
#include "tests/tools/tracesink.h"

#define CHUNK_BYTES (64u << 10)
#define EVENTS 5u
#define INTERVAL_TICKS 1000u
#define START_TICKS 1000000u
#define PHASE_SAMPLES 20000u
#define LOOPS 6u

struct phase { /* rates in events per 256 instructions */
    uint32_t cycles, misses, branches, mispredicted;
    uint64_t loops[LOOPS]; /* start addresses */
};

struct generator {
    uint64_t random;
    uint64_t text_start;
    uint64_t text_bytes;
    struct phase phase;
    struct trace_slot slot;
    uint64_t samples;
};

struct program { /* of --elf */
    const char *path;
    struct hr_meta_map map;
    uint8_t build_id[64];
};

static uint64_t next_random(struct generator *g)
{
    g->random ^= g->random >> 12;
    g->random ^= g->random << 25;
    g->random ^= g->random >> 27;
    return g->random * 0x2545f4914f6cdd1dull;
}

static uint32_t below(struct generator *g, uint32_t limit)
{
    return (uint32_t)((next_random(g) >> 32) * limit >> 32);
}

static void new_phase(struct generator *g)
{
    g->phase.cycles = 128 + below(g, 512);
    g->phase.misses = below(g, 12);
    g->phase.branches = 20 + below(g, 40);
    g->phase.mispredicted = below(g, 5);
    for (uint32_t i = 0; i < LOOPS; i++)
        g->phase.loops[i] = g->text_start + next_random(g) % g->text_bytes;
}

static uint64_t rate(struct generator *g, uint64_t instructions, uint32_t per_256)
{
    uint64_t events = instructions * per_256 / 256;

    return events + (per_256 != 0 ? below(g, 8) : 0);
}

/* The next sample of the program: mostly the loop of the last one, on time but for a few ticks. */
static void next_sample(struct generator *g)
{
    uint32_t roll = below(g, 64);
    uint64_t elapsed = INTERVAL_TICKS + (roll == 0 ? below(g, 40) : 0);
    uint64_t loop;

    if (g->samples % PHASE_SAMPLES == 0)
        new_phase(g);
    loop = g->phase.loops[roll < 48 ? 0 : roll % LOOPS];
    g->slot.time += elapsed;
    g->slot.ip = loop + below(g, 96);
    if (g->slot.ip >= g->text_start + g->text_bytes)
        g->slot.ip = g->text_start;
    g->slot.cost_ticks = (uint16_t)(46 + (roll == 1 ? below(g, 9) : 0));
    g->slot.counters[0] += elapsed;
    g->slot.counters[1] += rate(g, elapsed, g->phase.cycles);
    g->slot.counters[2] += rate(g, elapsed, g->phase.misses);
    g->slot.counters[3] += rate(g, elapsed, g->phase.branches);
    g->slot.counters[4] += rate(g, elapsed, g->phase.mispredicted);
    g->samples++;
}

static void put_meta(struct sink *sink, struct trace_writer *w, const struct program *program)
{
    static const char *const names[EVENTS] = {"instructions:u", "cycles:u", "cache-misses:u",
                                              "branches:u", "branch-misses:u"};
    const struct hr_meta_clock clock = {1000000000, START_TICKS, 0, HR_CLOCK_VIRTUAL, 0};
    const struct hr_meta_calibration calibration = {180, 46, 0, 1000, 0};
    const struct hr_meta_sampling sampling = {
        .interval_ticks = INTERVAL_TICKS,
        .mode = HR_MODE_TIMER,
        .flags = HR_SAMPLING_EMULATED | HR_SAMPLING_SHARED,
        .event_count = EVENTS,
        .ring_slots = 65536,
        .cpu_count = 1,
    };

    trace_writer_begin(w, HR_CHUNK_META);
    add(w, HR_META_CLOCK, TRACE_NO_TIME, &clock, sizeof clock, NULL, 0);
    add(w, HR_META_SAMPLING, TRACE_NO_TIME, &sampling, sizeof sampling, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_meta_event event = {.index = i,
                                            .source = i == 0 ? HR_SOURCE_ICOUNT : HR_SOURCE_STUB,
                                            .width_bits = 64,
                                            .flags = HR_EVENT_USER};

        add(w, HR_META_EVENT, TRACE_NO_TIME, &event, sizeof event, names[i], strlen(names[i]));
    }
    add(w, HR_META_CALIBRATION, TRACE_NO_TIME, &calibration, sizeof calibration, NULL, 0);
    add_text(w, "program.path", program->path != NULL ? program->path : "generated");
    add_text(w, "program.args", program->path != NULL ? program->path : "generated");
    if (program->path != NULL) {
        uint8_t tail[64 + PATH_MAX];

        memcpy(tail, program->build_id, program->map.build_id_bytes);
        memcpy(tail + program->map.build_id_bytes, program->path, program->map.path_bytes);
        add(w, HR_META_MAP, TRACE_NO_TIME, &program->map, sizeof program->map, tail,
            (size_t)program->map.build_id_bytes + program->map.path_bytes);
    }
    put_chunk(sink, w);
}

static void put_samples(struct sink *sink, struct generator *g, uint64_t count,
                        struct hr_rec_stream *stream)
{
    uint8_t *buffer = malloc(CHUNK_BYTES);
    struct trace_writer w;

    if (buffer == NULL)
        fail("buffer");
    trace_writer_init(&w, buffer, CHUNK_BYTES, 0, EVENTS);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    for (uint64_t i = 0; i < count; i++) {
        next_sample(g);
        if (trace_writer_sample(&w, &g->slot) == 0)
            continue;
        put_chunk(sink, &w);
        trace_writer_begin(&w, HR_CHUNK_DATA);
        trace_writer_sample(&w, &g->slot);
    }
    if (trace_writer_dirty(&w))
        put_chunk(sink, &w);
    *stream = (struct hr_rec_stream){
        .samples = w.samples, .lost = w.lost, .chunks = w.sequence, .cpu = 0};
    free(buffer);
}

static void put_end(struct sink *sink, struct trace_writer *w, const struct generator *g,
                    const struct hr_rec_stream *stream)
{
    const struct hr_rec_exit last = {
        .time = g->slot.time, .user_ticks = g->slot.time - START_TICKS, .kind = HR_EXIT_STATUS};

    trace_writer_begin(w, HR_CHUNK_END);
    add(w, HR_REC_EXIT, last.time, &last, sizeof last, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_rec_total total = {.value = g->slot.counters[i], .index = i};

        add(w, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL, 0);
    }
    add(w, HR_REC_STREAM, TRACE_NO_TIME, stream, sizeof *stream, NULL, 0);
    put_chunk(sink, w);
}

/* Takes addresses and build-id from an ET_EXEC program. */
static void open_program(struct program *program, const char *path, struct generator *g)
{
    int fd = open(path, O_RDONLY);
    struct elf64_image image;
    struct stat status;
    const uint8_t *bytes;

    if (fd < 0 || fstat(fd, &status) != 0)
        fail(path);
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    program->path = realpath(path, NULL);
    if (bytes == MAP_FAILED || program->path == NULL)
        fail(path);
    errno = ENOEXEC;
    if (elf64_parse(bytes, (size_t)status.st_size, &image) != ELF64_OK ||
        image.build_id_bytes > sizeof program->build_id)
        fail(path);
    for (uint32_t i = 0; i < image.segment_count; i++) {
        const struct elf64_segment *s = &image.segments[i];

        if ((s->flags & 1) == 0)
            continue;
        program->map = (struct hr_meta_map){
            .start = s->address,
            .end = s->address + s->memory_bytes,
            .file_offset = s->file_offset,
            .flags = HR_MAP_READ | HR_MAP_EXEC,
            .build_id_bytes = (uint16_t)image.build_id_bytes,
            .path_bytes = (uint16_t)strlen(program->path),
        };
        g->text_start = s->address;
        g->text_bytes = s->memory_bytes;
    }
    memcpy(program->build_id, bytes + image.build_id_offset, image.build_id_bytes);
    munmap((void *)(uintptr_t)bytes, (size_t)status.st_size);
    close(fd);
}

static void generate(struct sink *sink, struct generator *g, const struct program *program,
                     uint64_t count, bool stream_only)
{
    static uint8_t buffer[CHUNK_BYTES];
    struct hr_file_header header;
    struct hr_rec_stream stream;
    struct trace_writer w;

    trace_writer_init(&w, buffer, sizeof buffer, HR_CPU_NONE, 0);
    trace_file_header(&header);
    put(sink, &header, sizeof header);
    put_meta(sink, &w, program);
    put_samples(sink, g, count, &stream);
    put_end(sink, &w, g, &stream);
    if (!stream_only)
        put_collector_part(sink, &w);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"stream", no_argument, NULL, 's'},
                                            {"elf", required_argument, NULL, 'e'},
                                            {"seed", required_argument, NULL, 'r'},
                                            {0}};
    struct generator g = {.random = 88172645463325252ull,
                          .text_start = 0x401000,
                          .text_bytes = 512u << 10,
                          .slot = {.time = START_TICKS, .tid = 1}};
    struct program program = {0};
    struct sink sink;
    bool stream_only = false;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 's')
            stream_only = true;
        else if (option == 'e')
            open_program(&program, optarg, &g);
        else if (option == 'r')
            g.random = strtoull(optarg, NULL, 10) * 2 + 1;
        else
            return 2;
    }
    if (argc - optind != 2) {
        fputs("usage: gentrace [--stream] [--elf PROGRAM] [--seed N] SAMPLES FILE\n", stderr);
        return 2;
    }
    sink_open(&sink, argv[optind + 1]);
    generate(&sink, &g, &program, strtoull(argv[optind], NULL, 10), stream_only);
    sink_close(&sink, argv[optind + 1]);
    return 0;
}
