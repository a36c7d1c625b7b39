/* Writes a trace of a Sapphire Rapids whose slots are divided in known shares, for tests of
 * metrics.
 *
 *   gentopdown FILE
 *
 * The program has four phases of 250 us, in each of which the shares are those of `phases` below.
 * Each sample counts the slots of 1,000 cycles, so that all counts are whole.
 */
#include "tests/tools/genprogram.h"
#include "tests/tools/tracesink.h"

#define START_TICKS 1000000u
#define INTERVAL_TICKS 1000u
#define SAMPLES 250u /* of a phase */
#define CYCLES 1000u /* of a sample */
#define WIDTH 6u /* slots of a cycle */
#define CHUNK_BYTES (64u << 10)

enum {
    INSTRUCTIONS,
    CYCLES_EVENT,
    SLOTS,
    BUBBLES,
    NO_DELIVERY,
    DROPPED,
    BACKEND,
    MISPREDICTED,
    MEMORY,
    RETIRED,
    HEAVY,
    EVENTS
};

/* In thousandths of all slots; what remains is bad speculation. */
static const struct phase {
    const char *name;
    uint32_t frontend, latency, backend, memory, retiring, heavy, mispredicted;
} phases[] = {
    {"computes", 50, 20, 150, 40, 780, 30, 10},
    {"misses", 40, 10, 720, 630, 220, 10, 15},
    {"jumps", 200, 150, 100, 20, 350, 50, 330},
    {"decodes", 480, 90, 80, 10, 410, 120, 20},
};
#define PHASES (sizeof phases / sizeof phases[0])

static const struct {
    const char *name;
    uint64_t encoding;
} events[EVENTS] = {
    [INSTRUCTIONS] = {"instructions:u", 0xc0},
    [CYCLES_EVENT] = {"cycles:u", 0x3c},
    [SLOTS] = {"TOPDOWN.SLOTS_P:u", 0x1a4},
    [BUBBLES] = {"IDQ_UOPS_NOT_DELIVERED.CORE:u", 0x19c},
    [NO_DELIVERY] = {"r600019c:u", 0x600019c},
    [DROPPED] = {"INT_MISC.UOP_DROPPING:u", 0x10ad},
    [BACKEND] = {"TOPDOWN.BACKEND_BOUND_SLOTS:u", 0x2a4},
    [MISPREDICTED] = {"TOPDOWN.BR_MISPREDICT_SLOTS:u", 0x8a4},
    [MEMORY] = {"TOPDOWN.MEMORY_BOUND_SLOTS:u", 0x10a4},
    [RETIRED] = {"UOPS_RETIRED.SLOTS:u", 0x2c2},
    [HEAVY] = {"UOPS_RETIRED.HEAVY:u", 0x1c2},
};

static void put_meta(struct sink *sink, struct trace_writer *w, const struct program *program)
{
    static uint8_t buffer[CHUNK_BYTES];
    const struct hr_meta_clock clock = {1000000000, START_TICKS, 0, HR_CLOCK_CPUID_15H, 0};
    const struct hr_meta_sampling sampling = {
        .interval_ticks = INTERVAL_TICKS,
        .mode = HR_MODE_TIMER,
        .event_count = EVENTS,
        .ring_slots = 65536,
        .cpu_count = 1,
    };

    meta_begin(w, buffer, sizeof buffer, &clock, &sampling);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_meta_event event = {.index = i,
                                            .source = HR_SOURCE_PMU,
                                            .width_bits = 48,
                                            .flags = HR_EVENT_USER,
                                            .encoding = events[i].encoding | 0x410000};

        add_event(w, &event, events[i].name);
    }
    add_text(w, "machine.vendor", "GenuineIntel");
    add_text(w, "machine.family", "family 6 model 143 stepping 4");
    add_text(w, "program.path", "generated");
    add_text(w, "program.args", "generated");
    add_program(w, program);
    put_chunk(sink, w);
}

static void count(uint64_t *counters, const struct phase *phase)
{
    const uint64_t slots = (uint64_t)CYCLES * WIDTH, each = slots / 1000;

    counters[INSTRUCTIONS] += each * phase->retiring / 2;
    counters[CYCLES_EVENT] += CYCLES;
    counters[SLOTS] += slots;
    counters[DROPPED] += each * 5; /* the formulas take it away again */
    counters[BUBBLES] += each * (phase->frontend + 5);
    counters[NO_DELIVERY] += each * (phase->latency + 5) / WIDTH;
    counters[BACKEND] += each * phase->backend;
    counters[MISPREDICTED] += each * phase->mispredicted;
    counters[MEMORY] += each * phase->memory;
    counters[RETIRED] += each * phase->retiring;
    counters[HEAVY] += each * phase->heavy;
}

static void put_samples(struct sink *sink, struct trace_slot *slot, const struct program *program)
{
    static uint8_t buffer[CHUNK_BYTES];
    struct trace_writer w;

    trace_writer_init(&w, buffer, sizeof buffer, 0, EVENTS);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    for (size_t i = 0; i < PHASES * SAMPLES; i++) {
        slot->time += INTERVAL_TICKS;
        slot->ip = program->text_start + 64 * (i / SAMPLES);
        count(slot->counters, &phases[i / SAMPLES]);
        if (trace_writer_sample(&w, slot) == 0)
            continue;
        put_chunk(sink, &w);
        trace_writer_begin(&w, HR_CHUNK_DATA);
        if (trace_writer_sample(&w, slot) != 0)
            fail("sample");
    }
    put_chunk(sink, &w);
}

static void put_end(struct sink *sink, struct trace_writer *w, const struct trace_slot *slot)
{
    const struct hr_rec_exit last = {
        .time = slot->time, .user_ticks = slot->time - START_TICKS, .kind = HR_EXIT_STATUS};

    trace_writer_begin(w, HR_CHUNK_END);
    add(w, HR_REC_EXIT, last.time, &last, sizeof last, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_rec_total total = {.index = i, .value = slot->counters[i]};

        add(w, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL, 0);
    }
    add_streams(sink, w);
    put_chunk(sink, w);
}

int main(int argc, char **argv)
{
    static const struct program program = PROGRAM_MADE_UP;
    struct trace_slot slot = {.time = START_TICKS, .tid = HR_FIRST_PID};
    struct trace_writer w;
    struct sink sink;

    if (argc != 2) {
        fputs("usage: gentopdown FILE\n", stderr);
        return 2;
    }
    sink_begin(&sink, argv[1]);
    put_meta(&sink, &w, &program);
    put_samples(&sink, &slot, &program);
    put_end(&sink, &w, &slot);
    put_collector_part(&sink, &w);
    sink_close(&sink, argv[1]);
    return 0;
}
