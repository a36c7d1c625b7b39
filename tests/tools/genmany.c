/* Writes a trace of which nothing repeats: every sample has its own address, thread and call stack,
 * every mark its own text.  For tests that readers' memory is bounded.
 *
 *   genmany SAMPLES FILE
 */
#include "lib/trace/trace_stacks.h"
#include "tests/tools/tracesink.h"

#define EVENTS HR_EVENTS_MAX
#define DEPTH 24u
#define CPUS 500u
#define START_TICKS 1000u
#define SAMPLES_PER_MARK 2u

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252ull;

    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1dull;
}

static void put_meta(struct sink *sink, struct trace_writer *w)
{
    const struct hr_meta_clock clock = {1000000000, START_TICKS, 0, HR_CLOCK_VIRTUAL, 0};
    const struct hr_meta_stacks stacks = {.kind = HR_STACK_FP, .limit = DEPTH};
    const struct hr_meta_sampling sampling = {
        .interval_ticks = 1000, .mode = HR_MODE_TIMER, .event_count = EVENTS, .cpu_count = CPUS};
    static uint8_t buffer[64u << 10];

    meta_begin(w, buffer, sizeof buffer, &clock, &sampling);
    add(w, HR_META_STACKS, TRACE_NO_TIME, &stacks, sizeof stacks, NULL, 0);
    add_text(w, "program.args", "many");
    put_chunk(sink, w);
}

static void put_mark(struct trace_writer *w, const struct trace_slot *slot)
{
    const struct hr_rec_mark mark = {.time = slot->time, .tid = slot->tid};
    char text[160];

    memset(text, 'x', sizeof text);
    snprintf(text, sizeof text, "%020llu", (unsigned long long)next_random());
    text[20] = 'x';
    add(w, HR_REC_MARK, slot->time, &mark, sizeof mark, text, sizeof text);
}

static void next_sample(struct trace_slot *slot, struct trace_slot_stack *stack)
{
    slot->time += 1000;
    slot->ip = next_random() >> 20;
    slot->tid++;
    for (uint32_t i = 0; i < EVENTS; i++)
        slot->counters[i] += next_random() >> 40;
    stack->count = DEPTH;
    stack->root = HR_STACK_BROKEN;
    for (uint32_t i = 0; i < DEPTH; i++)
        stack->words[i] = next_random() >> 20;
}

static void put_samples(struct sink *sink, uint64_t count)
{
    static uint8_t buffer[TRACE_STACKS_CHUNK_BYTES];
    static union {
        struct trace_slot slot;
        uint8_t bytes[sizeof(struct trace_slot) + 8 * HR_STACK_FRAMES_MAX];
    } room = {.slot = {.time = START_TICKS}};
    struct trace_slot_stack *stack = (struct trace_slot_stack *)(room.bytes + sizeof room.slot);
    void *memory = malloc(trace_stacks_bytes(HR_STACK_FP));
    struct trace_writer w;

    if (memory == NULL)
        fail("stacks");
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        trace_writer_init(&w, buffer, sizeof buffer, (uint16_t)(cpu * 100), EVENTS);
        trace_writer_stacks(&w, HR_STACK_FP, memory);
        trace_writer_begin(&w, HR_CHUNK_DATA);
        for (uint64_t i = 0; i < count / CPUS; i++) {
            next_sample(&room.slot, stack);
            if (trace_writer_sample(&w, &room.slot) != 0) {
                put_chunk(sink, &w);
                trace_writer_begin(&w, HR_CHUNK_DATA);
                if (trace_writer_sample(&w, &room.slot) != 0)
                    fail("sample");
            }
            if (i % SAMPLES_PER_MARK == 0 && w.samples % 7 != 0)
                put_mark(&w, &room.slot);
        }
        put_chunk(sink, &w);
    }
    free(memory);
}

int main(int argc, char **argv)
{
    struct trace_writer w;
    struct sink sink;

    if (argc != 3) {
        fputs("usage: genmany SAMPLES FILE\n", stderr);
        return 2;
    }
    sink_begin(&sink, argv[2]);
    put_meta(&sink, &w);
    put_samples(&sink, strtoull(argv[1], NULL, 10));
    put_collector_part(&sink, &w);
    sink_close(&sink, argv[2]);
    return 0;
}
