/* hr export perfetto: a trace for ui.perfetto.dev.
 *
 * The process and its threads are tracks, with their system calls as slices and marks as instants;
 * each CPU has a track of the threads that ran on it, one of the gaps in which the program did not
 * run, and a counter for each event: what it rose by, per microsecond, averaged over --bin.
 * Samples appear as call stacks of their threads.  Probes, waits and requests: perfetto_follow.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/export/perfetto/perfetto_follow.h"
#include "lib/program/syscall_names.h"

#define CPUS_MAX 65536u

struct cpu {
    uint32_t running; /* thread whose slice is open; 0: none */
    bool counting; /* the sums began at begin_ns */
    uint64_t begin_ns, latest_ns; /* of samples */
    uint64_t sums[HR_EVENTS_MAX];
};

struct perfetto {
    struct export *e;
    struct perfetto_packets packets;
    bool follows; /* there are requests or waits */
    struct cpu *cpus[CPUS_MAX]; /* NULL: nothing was seen of it; owned */
    uint64_t latest_ns;
};

static uint64_t time_ns(struct perfetto *p, uint64_t time)
{
    uint64_t ns = trace_info_time_ns(&p->e->info, time);

    if (ns > p->latest_ns)
        p->latest_ns = ns;
    return ns;
}

/* A CPU's state, with its tracks; NULL: no memory. */
static struct cpu *cpu_of(struct perfetto *p, uint32_t number)
{
    const struct trace_info *info = &p->e->info;
    uint64_t uuid = perfetto_packets_uuid(PERFETTO_CPU, number);
    char name[160], word[64];

    if (p->cpus[number] != NULL)
        return p->cpus[number];
    p->cpus[number] = calloc(1, sizeof *p->cpus[number]);
    if (p->cpus[number] == NULL)
        return NULL;
    snprintf(name, sizeof name, "CPU %u", number);
    perfetto_packets_track(&p->packets, uuid, 0, name, false);
    snprintf(name, sizeof name, "CPU %u: program does not run", number);
    perfetto_packets_track(&p->packets, perfetto_packets_uuid(PERFETTO_GAPS, number), uuid, name,
                           false);
    for (uint32_t i = 0; i < info->event_count; i++) {
        const char *source = trace_info_source_words(info, i);

        snprintf(name, sizeof name, "CPU %u: %s%s%s%s", number,
                 trace_info_event_word(info, i, word), source[0] != 0 ? " (" : "", source,
                 source[0] != 0 ? ")" : "");
        perfetto_packets_track(&p->packets,
                               perfetto_packets_uuid(PERFETTO_RATE, number * HR_EVENTS_MAX + i),
                               uuid, name, true);
    }
    return p->cpus[number];
}

/* Writes the rates since begin_ns, and that they are 0 from `ns` on where `stop` is set. */
static void put_rates(struct perfetto *p, struct cpu *cpu, uint32_t number, uint64_t ns, bool stop)
{
    double us = (double)(ns - cpu->begin_ns) / 1000;

    for (uint32_t i = 0; i < p->e->info.event_count && cpu->counting; i++) {
        uint64_t uuid = perfetto_packets_uuid(PERFETTO_RATE, number * HR_EVENTS_MAX + i);

        if (us > 0)
            perfetto_packets_rate(&p->packets, cpu->begin_ns, uuid, (double)cpu->sums[i] / us);
        if (stop)
            perfetto_packets_rate(&p->packets, ns, uuid, 0);
        cpu->sums[i] = 0;
    }
    cpu->begin_ns = ns;
}

/* Adds a sample to its CPU's rates. */
static void count(struct perfetto *p, struct cpu *cpu, uint32_t number,
                  const struct trace_slot *sample, const struct trace_slot *previous, uint64_t ns)
{
    if ((sample->flags & HR_SAMPLE_RESUMED) != 0 || ns < cpu->latest_ns) {
        put_rates(p, cpu, number, cpu->latest_ns, true);
        cpu->counting = false;
    }
    if (!cpu->counting) {
        cpu->begin_ns = (sample->flags & HR_SAMPLE_RESUMED) != 0
                            ? ns
                            : trace_info_time_ns(&p->e->info, previous->time);
        cpu->counting = true;
    }
    for (uint32_t i = 0; i < p->e->info.event_count; i++)
        cpu->sums[i] += export_increment(sample, previous, i);
    cpu->latest_ns = ns;
    if (ns >= cpu->begin_ns && ns - cpu->begin_ns >= p->e->options->bin_ns)
        put_rates(p, cpu, number, ns, false);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct perfetto *p = context;
    const struct trace_slot *previous = samples->previous;
    uint32_t number = samples->chunk->cpu;
    struct cpu *cpu = cpu_of(p, number);

    if (cpu == NULL)
        return -ENOMEM;
    perfetto_packets_thread(&p->packets, samples->slots[0].tid,
                            samples->slots[0].time); /* a run is one thread's */
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];

        count(p, cpu, number, sample, previous, time_ns(p, sample->time));
        perfetto_packets_sample(&p->packets, number, sample,
                                trace_samples_stack(samples, n, HR_STACK_WHOLE));
        previous = sample;
    }
    return p->packets.message.error != 0 ? p->packets.message.error
                                         : row_team_error(p->packets.team);
}

struct taking { /* a record that is being taken */
    struct perfetto *p;
    struct cpu *cpu;
    uint32_t number; /* of the CPU */
};

static void take_switch(const struct taking *t, const struct trace_record *record)
{
    uint64_t uuid = perfetto_packets_uuid(PERFETTO_CPU, t->number);
    struct hr_rec_switch change;
    char name[32];
    uint64_t ns;

    if (!trace_body(record, &change, sizeof change, NULL, NULL))
        return;
    ns = time_ns(t->p, change.time);
    if (t->cpu->running != 0)
        perfetto_packets_event(&t->p->packets, ns, PERFETTO_SLICE_END, uuid, NULL);
    t->cpu->running = change.to_tid;
    if (change.to_tid == 0)
        return;
    perfetto_packets_thread(&t->p->packets, change.to_tid, change.time);
    snprintf(name, sizeof name, "thread %u", change.to_tid);
    perfetto_packets_event(&t->p->packets, ns, PERFETTO_SLICE_BEGIN, uuid, name);
}

static void put_slice(const struct taking *t, uint64_t uuid, uint64_t from, uint64_t to,
                      const char *name)
{
    perfetto_packets_event(&t->p->packets, time_ns(t->p, from), PERFETTO_SLICE_BEGIN, uuid, name);
    perfetto_packets_event(&t->p->packets, time_ns(t->p, to), PERFETTO_SLICE_END, uuid, NULL);
}

static void take_syscall(const struct taking *t, const struct trace_record *record)
{
    struct hr_rec_syscall call;
    char number[32];
    const char *name;

    if (!trace_body(record, &call, sizeof call, NULL, NULL))
        return;
    name = syscall_name(call.number);
    snprintf(number, sizeof number, "system call %u", call.number);
    perfetto_packets_thread(&t->p->packets, call.tid, call.time);
    put_slice(t, perfetto_packets_uuid(PERFETTO_THREAD, call.tid), call.time,
              call.time + call.duration_ticks, name != NULL ? name : number);
}

static void take_gap(const struct taking *t, const struct trace_record *record)
{
    static const char *const reasons[] = {
        [HR_GAP_SLEEP] = "sleep",
        [HR_GAP_INPUT] = "waits for input",
        [HR_GAP_OUTPUT] = "waits for output",
        [HR_GAP_WAIT] = "waits for a thread",
        [HR_GAP_STEAL] = "taken by the hypervisor",
    };
    struct hr_rec_gap gap;

    if (!trace_body(record, &gap, sizeof gap, NULL, NULL) || gap.time_last < gap.time_first)
        return;
    put_slice(t, perfetto_packets_uuid(PERFETTO_GAPS, t->number), gap.time_first, gap.time_last,
              gap.reason < sizeof reasons / sizeof reasons[0] && reasons[gap.reason] != NULL
                  ? reasons[gap.reason]
                  : "gap");
}

static void take_mark(const struct taking *t, const struct trace_record *record)
{
    struct hr_rec_mark mark;
    const uint8_t *tail;
    size_t bytes;
    char text[1024];

    if (!trace_body(record, &mark, sizeof mark, &tail, &bytes))
        return;
    snprintf(text, sizeof text, "%.*s", (int)bytes, (const char *)tail);
    perfetto_packets_thread(&t->p->packets, mark.tid, mark.time);
    perfetto_packets_event(&t->p->packets, time_ns(t->p, mark.time), PERFETTO_INSTANT,
                           perfetto_packets_uuid(PERFETTO_THREAD, mark.tid), text);
}

static void take_lost(const struct taking *t, const struct trace_record *record)
{
    struct hr_rec_lost lost;
    char text[64];

    if (!trace_body(record, &lost, sizeof lost, NULL, NULL))
        return;
    snprintf(text, sizeof text, "%lu samples lost", lost.count);
    perfetto_packets_event(&t->p->packets, time_ns(t->p, lost.time_first), PERFETTO_INSTANT,
                           perfetto_packets_uuid(PERFETTO_GAPS, t->number), text);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    static void (*const takers[256])(const struct taking *, const struct trace_record *) = {
        [HR_REC_SWITCH] = take_switch, [HR_REC_SYSCALL] = take_syscall, [HR_REC_GAP] = take_gap,
        [HR_REC_MARK] = take_mark,     [HR_REC_LOST] = take_lost,
    };
    struct perfetto *p = context;
    struct taking taking = {.p = p, .number = chunk->header.cpu};

    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    p->follows |= record->type == HR_REC_REQUEST || record->type == HR_REC_WAIT;
    if (takers[record->type] == NULL)
        return 0;
    taking.cpu = cpu_of(p, taking.number);
    if (taking.cpu == NULL)
        return -ENOMEM;
    takers[record->type](&taking, record);
    return p->packets.message.error != 0 ? p->packets.message.error
                                         : row_team_error(p->packets.team);
}

static void put_instant(struct perfetto *p, uint64_t time, uint64_t uuid, const char *text)
{
    perfetto_packets_event(&p->packets, time_ns(p, time), PERFETTO_INSTANT, uuid, text);
}

/* What happened to each process: instants on its track. */
static void put_processes(struct perfetto *p)
{
    const struct trace_processes *processes = &p->e->info.processes;
    char text[TRACE_INFO_STATUS_BYTES + 64];

    for (uint32_t i = 0; i < processes->count; i++) {
        const struct trace_process *process = &processes->all[i];
        uint64_t uuid = perfetto_packets_process(&p->packets, i);

        if (i != 0 && process->known) {
            snprintf(text, sizeof text, "started by %u",
                     process->parent != TRACE_PROCESS_NONE ? processes->all[process->parent].pid
                                                           : 0);
            put_instant(p, process->start, uuid, text);
        }
        for (uint32_t n = process->first_path; n != TRACE_PROCESS_NONE;
             n = processes->paths[n].next) {
            char exec[1024];

            snprintf(exec, sizeof exec, "exec %s", processes->paths[n].path);
            if (processes->paths[n].exec)
                put_instant(p, processes->paths[n].time, uuid, exec);
        }
        if (process->ended)
            put_instant(p, process->end, uuid, trace_info_status(process->status, text));
    }
}

/* Ends what is open. */
static void finish(struct perfetto *p)
{
    for (uint32_t i = 0; i < CPUS_MAX; i++) {
        struct cpu *cpu = p->cpus[i];

        if (cpu == NULL)
            continue;
        if (cpu->running != 0)
            perfetto_packets_event(&p->packets, p->latest_ns, PERFETTO_SLICE_END,
                                   perfetto_packets_uuid(PERFETTO_CPU, i), NULL);
        put_rates(p, cpu, i, cpu->latest_ns, true);
    }
}

static int walk(struct perfetto *p)
{
    const struct trace_visitor visitor = {.context = p,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .names = true,
                                          .samples = take_samples,
                                          .record = take_record};
    int error = export_common_maps(p->e);

    if (error == 0)
        error = perfetto_packets_init(&p->packets, p->e);
    if (error != 0)
        return error;
    perfetto_packets_head(&p->packets);
    put_processes(p);
    error = export_walk(p->e, &visitor);
    if (error != 0)
        return error;
    if (p->e->info.has_exit)
        time_ns(p, p->e->info.exit.time);
    finish(p);
    error = perfetto_follow(&p->packets, p->follows);
    return error != 0 ? error : p->packets.message.error;
}

static int run(struct export *e)
{
    struct perfetto *p = calloc(1, sizeof *p);
    int error;

    if (p == NULL)
        return -ENOMEM;
    p->e = e;
    error = walk(p);
    perfetto_packets_free(&p->packets);
    for (uint32_t i = 0; i < CPUS_MAX; i++)
        free(p->cpus[i]);
    free(p);
    return error;
}

const struct export_format export_perfetto = {
    .name = "perfetto",
    .extension = "pftrace",
    .summary = "trace for ui.perfetto.dev: threads, system calls, rates, samples, probes",
    .opener = "https://ui.perfetto.dev",
    .run = run,
};
