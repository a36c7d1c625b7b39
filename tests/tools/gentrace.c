/* Writes a trace of N samples that look like a program's, for benches and tests.
 *
 *   gentrace [OPTION...] SAMPLES FILE
 *
 *   --stream        without what the collector adds (HOST and INDEX)
 *   --elf PROGRAM   addresses lie in PROGRAM's first executable segment; the load map names it
 *   --seed N        another program
 *   --stacks fp     samples have call stacks, in PROGRAM's functions if it has symbols
 *   --depth N       frames of a stack, about (20)
 *   --limit N       frames that are kept (127)
 *   --cpus N        CPUs that take samples in turns (1)
 *   --threads N     threads of each CPU, which take turns: switches (1)
 *   --turn N        samples of a thread's turn (3000)
 *   --process PROG  another process, which the one before made and which executes PROG ("-": what
 *                   that one executes), with one more thread; processes take turns like threads
 *   --late          all records of processes come after the samples, as if one forked at last
 *   --liar          records of processes that contradict each other
 *   --marks         a mark where a phase begins
 *   --chunk BYTES   of a chunk of samples
 *
 * The program runs through phases: each has a few hot loops, its own rates of cycles, misses and
 * branches, and a little jitter.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tools/genprocesses.h"
#include "tests/tools/tracesink.h"

#define CHUNK_BYTES (64u << 10)
#define EVENTS 5u
#define INTERVAL_TICKS 1000u
#define START_TICKS 1000000u
#define PHASE_SAMPLES 20000u
#define LOOPS 6u
#define TURN_SAMPLES 3000u /* of a thread */
#define THREADS_MAX 64u
#define CPUS_MAX 256u
#define PROCESSES_MAX 16u
#define DEPTH 20u
#define LIMIT 127u

struct phase { /* rates in events per 256 instructions */
    uint32_t cycles, misses, branches, mispredicted;
    uint64_t loops[LOOPS]; /* start addresses */
};

struct options {
    const char *path; /* of --elf */
    int stream_only, marks, liar, late; /* set by getopt_long */
    bool stacks;
    uint32_t depth, limit, cpus, threads, turn, chunk_bytes;
    uint64_t seed, samples;
    const char *processes[PROCESSES_MAX]; /* beyond the first */
    uint32_t process_count;
};

struct generator { /* a CPU */
    const struct options *options;
    const struct program *programs; /* of the processes */
    const struct program *program; /* of the thread that runs */
    uint64_t random;
    struct phase phase;
    struct trace_slot slot;
    uint64_t samples;
    uint32_t thread;
    struct calls *calls; /* of each thread */
    struct trace_writer writer;
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
        g->phase.loops[i] = g->program->text_start + next_random(g) % g->program->text_bytes;
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
    if (g->slot.ip >= g->program->text_start + g->program->text_bytes)
        g->slot.ip = g->program->text_start;
    g->slot.cost_ticks = (uint16_t)(46 + (roll == 1 ? below(g, 9) : 0));
    g->slot.counters[0] += elapsed;
    g->slot.counters[1] += rate(g, elapsed, g->phase.cycles);
    g->slot.counters[2] += rate(g, elapsed, g->phase.misses);
    g->slot.counters[3] += rate(g, elapsed, g->phase.branches);
    g->slot.counters[4] += rate(g, elapsed, g->phase.mispredicted);
    g->samples++;
}

static void put_meta(struct sink *sink, struct trace_writer *w, const struct options *options,
                     const struct program *program)
{
    static const char *const names[EVENTS] = {"instructions:u", "cycles:u", "cache-misses:u",
                                              "branches:u", "branch-misses:u"};
    const struct hr_meta_clock clock = {1000000000, START_TICKS, 0, HR_CLOCK_VIRTUAL, 0};
    const struct hr_meta_calibration calibration = {180, 46, 0, 1000, 0};
    static uint8_t buffer[CHUNK_BYTES];
    const struct hr_meta_sampling sampling = {
        .interval_ticks = INTERVAL_TICKS,
        .mode = HR_MODE_TIMER,
        .flags =
            HR_SAMPLING_EMULATED | (options->cpus == 1 ? HR_SAMPLING_SHARED : HR_SAMPLING_INEXACT),
        .event_count = EVENTS,
        .ring_slots = 65536,
        .cpu_count = options->cpus,
    };
    const struct hr_meta_stacks stacks = {.kind = HR_STACK_FP, .limit = options->limit};

    meta_begin(w, buffer, sizeof buffer, &clock, &sampling);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_meta_event event = {.index = i,
                                            .source = i == 0 ? HR_SOURCE_ICOUNT : HR_SOURCE_STUB,
                                            .width_bits = 64,
                                            .flags = HR_EVENT_USER};

        add_event(w, &event, names[i]);
    }
    if (options->stacks)
        add(w, HR_META_STACKS, TRACE_NO_TIME, &stacks, sizeof stacks, NULL, 0);
    add(w, HR_META_CALIBRATION, TRACE_NO_TIME, &calibration, sizeof calibration, NULL, 0);
    add_text(w, "program.path", program->path != NULL ? program->path : "generated");
    add_text(w, "program.args", program->path != NULL ? program->path : "generated");
    add_program(w, program);
    put_chunk(sink, w);
}

/* Adds a record to the CPU's chunk, or to the next one when this is full. */
static void put_record(struct sink *sink, struct generator *g, uint8_t type, const void *body,
                       uint32_t bytes, const char *text)
{
    for (int tries = 0; tries < 2; tries++) {
        if (trace_writer_record(&g->writer, type, g->slot.time, body, bytes, text,
                                text != NULL ? (uint32_t)strlen(text) : 0) == 0)
            return;
        put_chunk(sink, &g->writer);
        trace_writer_begin(&g->writer, HR_CHUNK_DATA);
    }
    fail("record");
}

static void put_sample(struct sink *sink, struct generator *g)
{
    static union {
        struct trace_slot slot;
        uint8_t bytes[sizeof(struct trace_slot) + 8 * HR_STACK_FRAMES_MAX];
    } room;

    if (g->calls != NULL) {
        struct calls *calls = &g->calls[g->thread];

        calls_advance(calls);
        g->slot.ip = calls_ip(calls);
        calls_stack(calls, g->options->limit,
                    (struct trace_slot_stack *)&room.slot.counters[TRACE_SLOT_SMALL_EVENTS]);
    }
    memcpy(&room, &g->slot, offsetof(struct trace_slot, counters[EVENTS]));
    if (trace_writer_sample(&g->writer, &room.slot) == 0)
        return;
    put_chunk(sink, &g->writer);
    trace_writer_begin(&g->writer, HR_CHUNK_DATA);
    if (trace_writer_sample(&g->writer, &room.slot) != 0)
        fail("sample");
}

static void next_thread(struct sink *sink, struct generator *g)
{
    uint32_t first = g->slot.tid - g->thread;
    struct hr_rec_switch change = {
        .time = g->slot.time, .from_tid = g->slot.tid, .reason = HR_SWITCH_SLICE};

    g->thread = (g->thread + 1) % g->options->threads;
    change.to_tid = g->slot.tid = first + g->thread;
    if (g->options->process_count != 0) {
        change.to_tid = g->slot.tid = process_tid(g->thread);
        g->program = &g->programs[process_of(g->thread)];
        new_phase(g);
    }
    put_record(sink, g, HR_REC_SWITCH, &change, sizeof change, NULL);
}

static void put_phase(struct sink *sink, struct generator *g)
{
    const struct hr_rec_mark mark = {.time = g->slot.time, .tid = g->slot.tid};
    char text[32];

    snprintf(text, sizeof text, "phase %llu", (unsigned long long)(g->samples / PHASE_SAMPLES));
    put_record(sink, g, HR_REC_MARK, &mark, sizeof mark, text);
}

static void open_cpu(struct generator *g, const struct options *options,
                     const struct program *programs, uint16_t cpu)
{
    uint8_t *buffer = malloc(options->chunk_bytes);

    *g = (struct generator){
        .options = options,
        .programs = programs,
        .program = programs,
        .random = options->seed + 2ull * cpu,
        .slot = {.time = START_TICKS, .tid = 1 + cpu * options->threads},
    };
    if (options->process_count != 0)
        g->slot.tid = HR_FIRST_PID;
    if (buffer == NULL)
        fail("buffer");
    trace_writer_init(&g->writer, buffer, options->chunk_bytes, cpu, EVENTS);
    if (options->stacks) {
        void *memory = malloc(trace_stacks_bytes(HR_STACK_FP));

        g->calls = malloc(options->threads * sizeof g->calls[0]);
        if (memory == NULL || g->calls == NULL)
            fail("stacks");
        trace_writer_stacks(&g->writer, HR_STACK_FP, memory);
        for (uint32_t i = 0; i < options->threads; i++)
            calls_begin(&g->calls[i],
                        &programs[options->process_count != 0 ? process_of(i) : 0].calls,
                        g->random + 1000ull * i, options->depth);
    }
    trace_writer_begin(&g->writer, HR_CHUNK_DATA);
}

static void put_samples(struct sink *sink, struct generator *cpus, const struct options *options)
{
    for (uint64_t i = 0; i < options->samples; i++) {
        struct generator *g = &cpus[i % options->cpus];

        if (options->marks && g->samples % PHASE_SAMPLES == 0)
            put_phase(sink, g);
        if (options->threads > 1 && g->samples % options->turn == options->turn - 1)
            next_thread(sink, g);
        next_sample(g);
        put_sample(sink, g);
    }
    for (uint32_t i = 0; i < options->cpus; i++)
        if (trace_writer_dirty(&cpus[i].writer))
            put_chunk(sink, &cpus[i].writer);
}

static void put_processes(struct sink *sink, struct trace_writer *w, const struct options *options,
                          const struct program *programs, uint64_t time)
{
    if (options->process_count == 0)
        return;
    trace_writer_begin(w, HR_CHUNK_META);
    for (uint32_t i = 1; i <= options->process_count; i++) {
        if (programs != NULL)
            add_process_start(w, i, time + 10ull * i, &programs[i - 1], &programs[i]);
        else
            add_process_end(w, i, time - options->process_count + i);
    }
    if (options->liar && programs == NULL)
        add_process_lies(w, time);
    put_chunk(sink, w);
}

static void put_end(struct sink *sink, struct trace_writer *w, const struct generator *cpus,
                    const struct options *options)
{
    const uint64_t end = cpus[0].slot.time;
    const struct hr_rec_exit last = {
        .time = end, .user_ticks = (end - START_TICKS) * options->cpus, .kind = HR_EXIT_STATUS};

    trace_writer_begin(w, HR_CHUNK_END);
    add(w, HR_REC_EXIT, last.time, &last, sizeof last, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        struct hr_rec_total total = {.index = i};

        for (uint32_t cpu = 0; cpu < options->cpus; cpu++)
            total.value += cpus[cpu].slot.counters[i];
        add(w, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL, 0);
    }
    for (uint16_t cpu = 0; cpu < options->cpus; cpu++) {
        const struct trace_writer *data = &cpus[cpu].writer;
        const struct hr_rec_stream stream = {
            .samples = data->samples, .lost = data->lost, .chunks = data->sequence, .cpu = cpu};

        add(w, HR_REC_STREAM, TRACE_NO_TIME, &stream, sizeof stream, NULL, 0);
    }
    put_chunk(sink, w);
}

static void generate(struct sink *sink, const struct options *options,
                     const struct program *programs)
{
    struct generator *cpus = calloc(options->cpus, sizeof *cpus);
    struct trace_writer w;

    if (cpus == NULL)
        fail("CPUs");
    for (uint32_t i = 0; i < options->cpus; i++)
        open_cpu(&cpus[i], options, programs, (uint16_t)i);
    put_meta(sink, &w, options, programs);
    if (!options->late)
        put_processes(sink, &w, options, programs, START_TICKS);
    put_samples(sink, cpus, options);
    if (options->late)
        put_processes(sink, &w, options, programs, START_TICKS);
    put_processes(sink, &w, options, NULL, cpus[0].slot.time);
    put_end(sink, &w, cpus, options);
    if (!options->stream_only)
        put_collector_part(sink, &w);
}

/* A number from `least` to `most`; ends the program on others. */
static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
    unsigned long value = strtoul(text, NULL, 10);

    if (value < least || value > most) {
        fprintf(stderr, "gentrace: %s is not from %u to %u\n", text, least, most);
        exit(2);
    }
    return (uint32_t)value;
}

static void take_option(struct options *o, int option)
{
    switch (option) {
    case 'e':
        o->path = optarg;
        break;
    case 'r':
        o->seed = strtoull(optarg, NULL, 10) * 2 + 1;
        break;
    case 'g':
        o->stacks = strcmp(optarg, "fp") == 0;
        break;
    case 'd':
        o->depth = number(optarg, 0, HR_STACK_FRAMES_MAX - 8);
        break;
    case 'l':
        o->limit = number(optarg, 1, HR_STACK_FRAMES_MAX);
        break;
    case 'c':
        o->cpus = number(optarg, 1, CPUS_MAX);
        break;
    case 't':
        o->threads = number(optarg, 1, THREADS_MAX);
        break;
    case 'p':
        if (o->process_count == PROCESSES_MAX)
            exit(2);
        o->processes[o->process_count++] = optarg;
        break;
    case 'u':
        o->turn = number(optarg, 1, UINT32_MAX);
        break;
    case 'b':
        o->chunk_bytes = number(optarg, CHUNK_BYTES / 4, 1u << 20);
        break;
    default:
        exit(2);
    }
}

int main(int argc, char **argv)
{
    static struct options options = {.depth = DEPTH,
                                     .limit = LIMIT,
                                     .cpus = 1,
                                     .threads = 1,
                                     .turn = TURN_SAMPLES,
                                     .seed = 88172645463325252ull};
    static const struct option long_options[] = {{"stream", no_argument, &options.stream_only, 1},
                                                 {"marks", no_argument, &options.marks, 1},
                                                 {"liar", no_argument, &options.liar, 1},
                                                 {"late", no_argument, &options.late, 1},
                                                 {"elf", required_argument, NULL, 'e'},
                                                 {"seed", required_argument, NULL, 'r'},
                                                 {"stacks", required_argument, NULL, 'g'},
                                                 {"depth", required_argument, NULL, 'd'},
                                                 {"limit", required_argument, NULL, 'l'},
                                                 {"cpus", required_argument, NULL, 'c'},
                                                 {"threads", required_argument, NULL, 't'},
                                                 {"turn", required_argument, NULL, 'u'},
                                                 {"process", required_argument, NULL, 'p'},
                                                 {"chunk", required_argument, NULL, 'b'},
                                                 {0}};
    static struct program programs[PROCESSES_MAX + 1];
    struct sink sink;
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (option != 0)
            take_option(&options, option);
    if (argc - optind != 2) {
        fputs("usage: gentrace [OPTION...] SAMPLES FILE\n", stderr);
        return 2;
    }
    options.samples = strtoull(argv[optind], NULL, 10);
    if (options.chunk_bytes == 0)
        options.chunk_bytes = options.stacks ? TRACE_STACKS_CHUNK_BYTES : CHUNK_BYTES;
    programs[0] = PROGRAM_MADE_UP;
    if (options.path != NULL)
        program_open(&programs[0], options.path);
    program_calls(&programs[0], options.seed);
    for (uint32_t i = 1; i <= options.process_count; i++) {
        programs[i] = programs[i - 1];
        if (strcmp(options.processes[i - 1], "-") == 0)
            continue;
        programs[i] = (struct program){0};
        program_open(&programs[i], options.processes[i - 1]);
        program_calls(&programs[i], options.seed);
    }
    if (options.process_count != 0)
        options.threads = 2 * options.process_count + 1;
    sink_begin(&sink, argv[optind + 1]);
    generate(&sink, &options, programs);
    sink_close(&sink, argv[optind + 1]);
    return 0;
}
