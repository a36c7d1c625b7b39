/* Writes a trace of probes, for tests of its readers: what standard input says, a line each.
 *
 *   genprobes FILE <<END
 *   cpu N                        what follows happens on this CPU (0)
 *   count VALUE                  the second event, cache-misses:u, has counted so much (0)
 *   enter TIME TID NAME SP [ARGUMENT]      TIME: ns since the start, which instructions are, too
 *   return TIME TID NAME SP [RESULT]
 *   switch TIME FROM TO REASON [WAKER]     as in enum hr_switch_reason
 *   syscall TIME DURATION TID NUMBER
 *   wait TIME TID NUMBER ADDRESS [OPERATION [JOINS]]
 *   wake TIME TID WOKEN                    it was woken at WOKEN, and runs again at TIME
 *   gap TIME TID END REASON                as in enum hr_gap_reason
 *   request TIME TID NUMBER KIND           as in enum hr_request_kind
 *   lost TIME COUNT
 *   chunk                        the CPU's chunk ends here
 *   END
 *
 *   A function whose NAME begins with "loops" jumps to its first instruction.
 *
 *   genprobes --many N FILE      N invocations of four functions that call each other, on one CPU
 *   genprobes --drop FILE        as the first, without chunks 1 of the CPUs: they are missing
 */
#include <inttypes.h>
#include <stdbool.h>

#include "tests/tools/tracesink.h"

#define CHUNK_BYTES 65536u
#define START_TICKS 1000000u
#define EVENTS 2u
#define CPUS 8u
#define FUNCTIONS_MAX 64u
#define RESULT_POINT(f) (2 * (f) + 1)

struct generator {
    struct sink sink;
    struct trace_writer meta, cpus[CPUS];
    uint8_t meta_buffer[CHUNK_BYTES];
    uint8_t buffers[CPUS][CHUNK_BYTES];
    char functions[FUNCTIONS_MAX][64];
    uint32_t function_count, cpu;
    uint64_t count, last;
    bool drops;
};

static struct generator g;

static uint32_t loops(const char *name)
{
    return strncmp(name, "loops", 5) == 0 ? HR_PROBE_LOOPS : 0;
}

static void put_functions(void)
{
    const struct hr_meta_probes probes = {g.function_count, 2 * g.function_count, 1, 0};
    const struct hr_meta_probe_points head = {0, 2 * g.function_count};
    struct hr_probe_point points[2 * FUNCTIONS_MAX];
    static const char path[] = "/bin/generated";

    add(&g.meta, HR_META_PROBES, TRACE_NO_TIME, &probes, sizeof probes, NULL, 0);
    for (uint32_t i = 0; i < g.function_count; i++) {
        const struct hr_meta_probe_function function = {.address = 0x401000 + 256 * i,
                                                        .bytes = 200,
                                                        .number = i,
                                                        .kind = HR_PROBE_FUNCTION,
                                                        .flags = loops(g.functions[i]),
                                                        .name_bytes =
                                                            (uint16_t)strlen(g.functions[i]),
                                                        .path_bytes = sizeof path - 1};
        char tail[128];

        snprintf(tail, sizeof tail, "%s%s", g.functions[i], path);
        add(&g.meta, HR_META_PROBE_FUNCTION, TRACE_NO_TIME, &function, sizeof function, tail,
            strlen(tail));
        points[2 * i] = (struct hr_probe_point){function.address, i, 0};
        points[RESULT_POINT(i)] = (struct hr_probe_point){function.address + 199, i, 0};
    }
    add(&g.meta, HR_META_PROBE_POINTS, TRACE_NO_TIME, &head, sizeof head, points,
        head.count * sizeof points[0]);
}

static void begin(const char *path)
{
    static const char *const names[EVENTS] = {"instructions:u", "cache-misses:u"};
    const struct hr_meta_clock clock = {1000000000, START_TICKS, 0, HR_CLOCK_VIRTUAL, 0};
    const struct hr_meta_sampling sampling = {.mode = HR_MODE_OFF,
                                              .flags = HR_SAMPLING_EMULATED,
                                              .event_count = EVENTS,
                                              .ring_slots = 65536,
                                              .cpu_count = CPUS};

    sink_begin(&g.sink, path);
    meta_begin(&g.meta, g.meta_buffer, CHUNK_BYTES, &clock, &sampling);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_meta_event event = {.index = i,
                                            .source = i == 0 ? HR_SOURCE_ICOUNT : HR_SOURCE_PMU,
                                            .width_bits = 64,
                                            .flags = HR_EVENT_USER};

        add_event(&g.meta, &event, names[i]);
    }
    put_functions();
    put_chunk(&g.sink, &g.meta);
    for (uint16_t i = 0; i < CPUS; i++) {
        trace_writer_init(&g.cpus[i], g.buffers[i], CHUNK_BYTES, i, EVENTS);
        trace_writer_probes(&g.cpus[i], 1);
    }
}

static void end_chunk(uint32_t cpu)
{
    struct trace_writer *w = &g.cpus[cpu];

    if (!trace_writer_dirty(w))
        return;
    if (g.drops && w->sequence == 1)
        trace_writer_finish(w);
    else
        put_chunk(&g.sink, w);
}

static struct trace_writer *writer(void)
{
    struct trace_writer *w = &g.cpus[g.cpu];

    if (w->used == 0)
        trace_writer_begin(w, HR_CHUNK_DATA);
    return w;
}

static void put_hit(uint64_t time, uint32_t tid, uint32_t point, uint32_t what, uint64_t sp,
                    uint64_t value)
{
    struct trace_slot slot = {.time = START_TICKS + time,
                              .ip = sp,
                              .tid = tid,
                              .kind = HR_REC_PROBES,
                              .counters = {time, g.count, value}};

    trace_slot_set_point(&slot, point, what);
    g.last = time > g.last ? time : g.last;
    if (trace_writer_probe(writer(), &slot) == 0)
        return;
    end_chunk(g.cpu);
    if (trace_writer_probe(writer(), &slot) != 0)
        fail("hit");
}

static void put_record(uint8_t type, uint64_t time, const void *body, uint32_t bytes)
{
    g.last = time - START_TICKS > g.last ? time - START_TICKS : g.last;
    if (trace_writer_record(writer(), type, time, body, bytes, NULL, 0) == 0)
        return;
    end_chunk(g.cpu);
    add(writer(), type, time, body, bytes, NULL, 0);
}

static uint32_t function_of(const char *name)
{
    for (uint32_t i = 0; i < g.function_count; i++)
        if (strcmp(g.functions[i], name) == 0)
            return i;
    if (g.function_count == FUNCTIONS_MAX)
        exit(2);
    snprintf(g.functions[g.function_count], sizeof g.functions[0], "%s", name);
    return g.function_count++;
}

static void take_record(const char *word, const uint64_t *n)
{
    if (strcmp(word, "switch") == 0) {
        const struct hr_rec_switch change = {.time = START_TICKS + n[0],
                                             .from_tid = (uint32_t)n[1],
                                             .to_tid = (uint32_t)n[2],
                                             .reason = (uint32_t)n[3],
                                             .waker_tid = (uint32_t)n[4]};
        put_record(HR_REC_SWITCH, change.time, &change, sizeof change);
    } else if (strcmp(word, "syscall") == 0) {
        const struct hr_rec_syscall call = {.time = START_TICKS + n[0],
                                            .duration_ticks = (uint32_t)n[1],
                                            .tid = (uint32_t)n[2],
                                            .number = (uint32_t)n[3]};
        put_record(HR_REC_SYSCALL, call.time, &call, sizeof call);
    } else if (strcmp(word, "wait") == 0) {
        const struct hr_rec_wait wait = {.time = START_TICKS + n[0],
                                         .tid = (uint32_t)n[1],
                                         .number = (uint32_t)n[2],
                                         .address = n[3],
                                         .operation = (uint32_t)n[4],
                                         .joins = (uint32_t)n[5]};
        put_record(HR_REC_WAIT, wait.time, &wait, sizeof wait);
    } else if (strcmp(word, "wake") == 0) {
        const struct hr_rec_wake wake = {
            .time = START_TICKS + n[0], .tid = (uint32_t)n[1], .woken = START_TICKS + n[2]};
        put_record(HR_REC_WAKE, wake.time, &wake, sizeof wake);
    } else if (strcmp(word, "gap") == 0) {
        const struct hr_rec_gap gap = {.time_first = START_TICKS + n[0],
                                       .tid = (uint32_t)n[1],
                                       .time_last = START_TICKS + n[2],
                                       .reason = (uint32_t)n[3]};
        put_record(HR_REC_GAP, gap.time_first, &gap, sizeof gap);
    } else if (strcmp(word, "request") == 0) {
        const struct hr_rec_request request = {.time = START_TICKS + n[0],
                                               .tid = (uint32_t)n[1],
                                               .request = n[2],
                                               .kind = (uint32_t)n[3]};
        put_record(HR_REC_REQUEST, request.time, &request, sizeof request);
    } else if (strcmp(word, "lost") == 0) {
        const struct hr_rec_lost lost = {START_TICKS + n[0], START_TICKS + n[0], n[1]};

        if (trace_writer_lost(writer(), &lost) != 0)
            fail("lost");
    } else {
        fprintf(stderr, "genprobes: %s: no such line\n", word);
        exit(2);
    }
}

static void take_line(const char *line)
{
    char word[32] = "", name[64];
    uint64_t n[6] = {0};

    if (sscanf(line, "%31s", word) != 1)
        return;
    if (strcmp(word, "enter") == 0 || strcmp(word, "return") == 0) {
        uint32_t function, entered = word[0] == 'e';

        sscanf(line, "%*s %" SCNu64 " %" SCNu64 " %63s %" SCNi64 " %" SCNi64, &n[0], &n[1], name,
               (int64_t *)&n[2], (int64_t *)&n[3]);
        function = function_of(name);
        put_hit(n[0], (uint32_t)n[1], entered ? 2 * function : RESULT_POINT(function),
                entered ? HR_PROBE_ENTERED : HR_PROBE_RETURNED, n[2], n[3]);
        return;
    }
    sscanf(line, "%*s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNi64 " %" SCNu64 " %" SCNu64, &n[0],
           &n[1], &n[2], (int64_t *)&n[3], &n[4], &n[5]);
    if (strcmp(word, "cpu") == 0)
        g.cpu = (uint32_t)(n[0] % CPUS);
    else if (strcmp(word, "count") == 0)
        g.count = n[0];
    else if (strcmp(word, "chunk") == 0)
        end_chunk(g.cpu);
    else
        take_record(word, n);
}

/* Function 0 calls 1, which calls 2 and 3. */
static void put_many(uint64_t invocations)
{
    uint64_t time = 0, random = 1;

    for (uint64_t i = 0; i < invocations; i += 4) {
        static const struct {
            uint32_t function, what;
        } steps[8] = {{0, 1}, {1, 1}, {2, 1}, {2, 2}, {3, 1}, {3, 2}, {1, 2}, {0, 2}};

        for (uint32_t n = 0; n < 8; n++) {
            uint32_t f = steps[n].function;

            random = random * 6364136223846793005u + 1442695040888963407u;
            time += 100 + (random >> 56);
            g.count += random >> 60;
            put_hit(time, 1000, steps[n].what == 1 ? 2 * f : RESULT_POINT(f), steps[n].what,
                    0x7ffff000 - 64 * (f < 2 ? f : 2), random >> 40);
        }
    }
}

static void finish(const char *path)
{
    const struct hr_rec_exit end = {
        .time = START_TICKS + g.last, .user_ticks = g.last, .kind = HR_EXIT_STATUS};

    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        end_chunk(cpu);
    trace_writer_begin(&g.meta, HR_CHUNK_END);
    add(&g.meta, HR_REC_EXIT, end.time, &end, sizeof end, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_rec_total total = {.value = i == 0 ? g.last : g.count, .index = i};

        add(&g.meta, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL, 0);
    }
    add_streams(&g.sink, &g.meta);
    put_chunk(&g.sink, &g.meta);
    put_collector_part(&g.sink, &g.meta);
    sink_close(&g.sink, path);
}

int main(int argc, char **argv)
{
    bool many = argc == 4 && strcmp(argv[1], "--many") == 0;
    char *text = NULL;
    size_t used, room = 0;

    g.drops = argc == 3 && strcmp(argv[1], "--drop") == 0;
    if (argc != 2 && !many && !g.drops) {
        fprintf(stderr, "usage: genprobes [--drop] FILE <LINES | genprobes --many N FILE\n");
        return 2;
    }
    if (many) {
        for (uint32_t i = 0; i < 4; i++)
            function_of((const char *const[]){"outer", "middle", "first", "second"}[i]);
        begin(argv[3]);
        put_many(strtoull(argv[2], NULL, 10));
        finish(argv[3]);
        return 0;
    }
    for (used = 0; used == room || !feof(stdin);) { /* all lines: functions are known first */
        if (used == room)
            text = realloc(text, (room = 2 * room + 65536) + 1);
        used += fread(text + used, 1, room - used, stdin);
    }
    text[used] = 0;
    for (char *line = text, *end; line != NULL && *line; line = end != NULL ? end + 1 : NULL) {
        char word[32] = "", name[64];

        end = strchr(line, '\n');
        if (end != NULL)
            *end = 0; /* sscanf measures the whole string that it is given */
        if (sscanf(line, "%31s %*s %*s %63s", word, name) == 2 &&
            (strcmp(word, "enter") == 0 || strcmp(word, "return") == 0))
            function_of(name);
        if (end != NULL)
            *end = '\n';
    }
    begin(argv[argc - 1]);
    for (char *line = text, *end; line != NULL && *line; line = end != NULL ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end = 0;
        take_line(line);
    }
    finish(argv[argc - 1]);
    free(text);
    return 0;
}
