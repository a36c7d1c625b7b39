/* hr export perf: a perf.data that `perf report`, `perf script` and `perf annotate` read.
 *
 * A sample is one of the event "samples", which leads a group, and carries the counters of the
 * group's other members, the trace's events: perf shows for each what it rose by.  What a counter
 * rose by in a pause belongs to no sample and is left out, as in hr report.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "host/base/text.h"
#include "host/export/common/export.h"
#include "host/export/common/numbers.h"
#include "host/export/perf/perf_file.h"
#include "host/export/perf/perf_records.h"
#include "host/export/perf/rounds.h"
#include "host/object/symbols_file.h"

#define THREADS_MAX (1u << 16)

struct cpu {
    uint64_t values[1 + HR_EVENTS_MAX]; /* of the group's members */
    uint64_t latest_ns; /* of its samples: perf needs them in order */
};

struct perf {
    struct export *e;
    struct perf_file file;
    struct perf_records records;
    struct cpu *cpus[PERF_FILE_CPUS_MAX]; /* NULL: none of its records was seen */
    struct numbers threads;
    struct rounds rounds;
    uint64_t round_ns; /* latest record before the previous round's end */
    size_t map_count; /* of the trace's maps; those of e->info have its processes' after them */
    bool begun;
};

static void put_name(struct perf *p, const struct perf_place *place, const char *path, bool exec)
{
    char safe[256];

    text_escape(safe, sizeof safe, text_base_name(path));
    perf_records_name(&p->records, place, safe, exec);
}

/* The files that perf shall open: where they are now, else where they were. */
static int find_files(struct perf *p)
{
    const struct trace_info *info = &p->e->info;
    const char *program = symbols_file_program(info);
    int error = 0;

    p->file.paths = calloc(info->map_count + 1, sizeof p->file.paths[0]);
    if (p->file.paths == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < info->map_count && error != -ENOMEM; i++) {
        const struct trace_map *map = &info->maps[i];
        struct symbols_file file;

        if (!symbols_file_named(map))
            continue;
        error = symbols_file_open(&file, map, program != NULL && strcmp(map->path, program) == 0,
                                  &p->e->options->reader.symbols);
        p->file.paths[i] = error == 0 ? realpath(file.path, NULL) : NULL;
        if (p->file.paths[i] == NULL)
            p->file.paths[i] = strdup(map->path);
        if (error == 0)
            symbols_file_close(&file);
        if (p->file.paths[i] == NULL)
            error = -ENOMEM;
    }
    return error == -ENOMEM ? error : 0;
}

/* In a trace that does not tell of processes, its first thread gives the process its number. */
static void begin(struct perf *p, uint32_t tid)
{
    static const char header[PERF_FILE_HEADER_BYTES];
    const struct trace_info *info = &p->e->info;
    const uint32_t pid = trace_processes_any(&info->processes) ? HR_FIRST_PID : tid;
    const struct perf_place place = {.pid = pid, .tid = pid}, nowhere = {.pid = pid};

    if (p->begun)
        return;
    p->begun = true;
    p->file.pid = pid;
    row_team_bytes(p->records.team, header, sizeof header);
    row_team_bytes(p->records.team, OUTPUT_MARK_PERF, strlen(OUTPUT_MARK_PERF));
    put_name(p, &place, trace_info_text(info, "program.path", "program"), false);
    for (size_t i = 0; i < p->map_count; i++)
        if (p->file.paths[i] != NULL)
            perf_records_map(&p->records, &nowhere, &info->maps[i], p->file.paths[i]);
    numbers_add(&p->threads, pid);
}

static uint32_t pid_of(const struct perf *p, uint32_t tid, uint64_t time)
{
    const struct trace_processes *processes = &p->e->info.processes;

    return trace_processes_any(processes) ? trace_processes_pid(processes, tid, time) : p->file.pid;
}

/* The place of a record, which makes its CPU known and its thread begin; NULL: no memory. */
static struct cpu *arrive(struct perf *p, struct perf_place *place, uint32_t tid, uint32_t cpu,
                          uint64_t time)
{
    if (tid != 0)
        begin(p, tid);
    if (p->cpus[cpu] == NULL) {
        p->cpus[cpu] = calloc(1, sizeof *p->cpus[cpu]);
        if (p->cpus[cpu] == NULL)
            return NULL;
        p->file.cpus[p->file.cpu_count++] = (uint16_t)cpu;
    }
    *place = (struct perf_place){
        .pid = tid != 0 ? pid_of(p, tid, time) : 0,
        .tid = tid,
        .cpu = cpu,
        .ns = trace_info_time_ns(&p->e->info, time),
        .id = perf_file_id(&p->file, cpu, 0),
    };
    if (tid != 0 && numbers_add(&p->threads, tid))
        perf_records_begin(&p->records, place, place->pid, place->pid);
    return p->cpus[cpu];
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct perf *p = context;
    const struct trace_slot *previous = samples->previous;
    struct perf_sample out = {
        .members = perf_file_members(&p->file),
        .stacks = samples->stacks != NULL ? &p->e->scan.stacks : NULL,
    };
    uint32_t cpu_number = samples->chunk->cpu;

    if (samples->stacks != NULL) /* for all samples or for none */
        p->file.sample_type |= PERF_SAMPLE_CALLCHAIN;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        struct cpu *cpu = arrive(p, &out.place, sample->tid, cpu_number, sample->time);

        if (cpu == NULL)
            return -ENOMEM;
        if (out.place.ns < cpu->latest_ns)
            out.place.ns = cpu->latest_ns;
        cpu->latest_ns = out.place.ns;
        cpu->values[0]++;
        for (uint32_t i = 0; i + 1 < out.members; i++)
            cpu->values[i + 1] += export_increment(sample, previous, i);
        out.ip = sample->ip;
        out.kernel = (sample->flags & HR_SAMPLE_KERNEL) != 0;
        out.values = cpu->values;
        if (samples->stacks != NULL)
            out.stack = samples->stacks[n];
        if (p->file.last_ns == 0 || out.place.ns < p->file.first_ns)
            p->file.first_ns = out.place.ns;
        if (out.place.ns > p->file.last_ns)
            p->file.last_ns = out.place.ns;
        perf_records_sample(&p->records, &out);
        previous = sample;
    }
    return row_team_error(p->records.team);
}

static int take_switch(struct perf *p, uint32_t cpu, const struct hr_rec_switch *record)
{
    struct perf_place place;

    if (record->from_tid != 0) {
        if (arrive(p, &place, record->from_tid, cpu, record->time) == NULL)
            return -ENOMEM;
        perf_records_switch(&p->records, &place, pid_of(p, record->to_tid, record->time),
                            record->to_tid, true, record->reason == HR_SWITCH_SLICE);
        if (record->reason == HR_SWITCH_EXIT && record->from_tid != place.pid)
            perf_records_exit(&p->records, &place);
    }
    if (record->to_tid != 0) {
        if (arrive(p, &place, record->to_tid, cpu, record->time) == NULL)
            return -ENOMEM;
        perf_records_switch(&p->records, &place, pid_of(p, record->from_tid, record->time),
                            record->from_tid, false, false);
    }
    return 0;
}

/* A place on no CPU.  A META chunk may be later than what the last round allowed to be sorted. */
static struct perf_place place_of(struct perf *p, uint32_t pid, uint32_t tid, uint64_t time)
{
    uint64_t ns = trace_info_time_ns(&p->e->info, time);

    begin(p, HR_FIRST_PID);
    return (struct perf_place){.pid = pid, .tid = tid, .ns = ns > p->round_ns ? ns : p->round_ns};
}

static void take_process(struct perf *p, const struct trace_record *record)
{
    struct hr_rec_process body;
    struct perf_place place;
    const uint8_t *tail;
    char path[4096];
    size_t bytes;

    if (!trace_body(record, &body, sizeof body, &tail, &bytes))
        return;
    place = place_of(p, body.pid, body.pid, body.time);
    snprintf(path, sizeof path, "%.*s", (int)bytes, (const char *)tail);
    if (body.kind == HR_PROCESS_START) {
        numbers_add(&p->threads, body.pid);
        perf_records_begin(&p->records, &place, body.parent_pid, body.parent_tid);
        put_name(p, &place, path, false);
    } else if (body.kind == HR_PROCESS_EXEC) {
        put_name(p, &place, path, true);
    } else if (body.kind == HR_PROCESS_EXIT) {
        perf_records_exit(&p->records, &place);
    }
}

static void take_thread(struct perf *p, const struct trace_record *record)
{
    struct hr_rec_thread body;
    struct perf_place place;

    if (!trace_body(record, &body, sizeof body, NULL, NULL) || !numbers_add(&p->threads, body.tid))
        return;
    place = place_of(p, body.pid, body.tid, body.time);
    perf_records_begin(&p->records, &place, body.pid, body.pid);
}

/* The file's present path is that of the view, or map, of the same file. */
static void take_map(struct perf *p, const struct trace_record *record)
{
    const struct trace_info *info = &p->e->info;
    struct hr_rec_process_map body;
    struct trace_map map = {.path = NULL};
    struct perf_place place;
    const uint8_t *tail;
    size_t bytes;

    if (!trace_body(record, &body, sizeof body, &tail, &bytes) ||
        body.map.build_id_bytes > sizeof map.build_id ||
        (size_t)body.map.build_id_bytes + body.map.path_bytes > bytes)
        return;
    map.meta = body.map;
    memcpy(map.build_id, tail, map.meta.build_id_bytes);
    tail += map.meta.build_id_bytes;
    place = place_of(p, body.pid, body.pid, body.time);
    for (size_t i = 0; i < info->map_count; i++)
        if (p->file.paths[i] != NULL &&
            info->maps[i].meta.build_id_bytes == map.meta.build_id_bytes &&
            memcmp(info->maps[i].build_id, map.build_id, map.meta.build_id_bytes) == 0 &&
            strlen(info->maps[i].path) == map.meta.path_bytes &&
            memcmp(info->maps[i].path, tail, map.meta.path_bytes) == 0) {
            perf_records_map(&p->records, &place, &map, p->file.paths[i]);
            return;
        }
}

static int take_meta(struct perf *p, const struct trace_record *record)
{
    if (record->type == HR_REC_PROCESS)
        take_process(p, record);
    else if (record->type == HR_REC_THREAD)
        take_thread(p, record);
    else if (record->type == HR_REC_PROCESS_MAP)
        take_map(p, record);
    return row_team_error(p->records.team);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct perf *p = context;
    uint32_t cpu = chunk->header.cpu;
    struct hr_rec_switch change;
    struct perf_place place;
    struct hr_rec_lost lost;

    if (chunk->header.type == HR_CHUNK_META)
        return take_meta(p, record);
    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    if (record->type == HR_REC_SWITCH && trace_body(record, &change, sizeof change, NULL, NULL))
        return take_switch(p, cpu, &change);
    if (record->type == HR_REC_LOST && p->begun &&
        trace_body(record, &lost, sizeof lost, NULL, NULL)) {
        if (arrive(p, &place, p->file.pid, cpu, lost.time_last) == NULL)
            return -ENOMEM;
        perf_records_lost(&p->records, &place, lost.count);
    }
    return row_team_error(p->records.team);
}

/* Tells perf what it may put in order, so that it need not keep the whole trace in memory. */
static int take_chunk(void *context, const struct trace_chunk *chunk, bool /* continues */)
{
    struct perf *p = context;
    uint64_t earliest = rounds_earliest(&p->rounds, chunk->offset);

    if (!p->begun || p->records.latest_ns == p->round_ns || earliest == 0 ||
        trace_info_time_ns(&p->e->info, earliest) < p->round_ns)
        return 0;
    perf_records_round(&p->records);
    p->round_ns = p->records.latest_ns;
    return 0;
}

static int walk(struct perf *p)
{
    const struct trace_visitor visitor = {.context = p,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .own_addresses = true,
                                          .chunk = take_chunk,
                                          .samples = take_samples,
                                          .record = take_record};
    int error;

    p->map_count = p->e->info.map_count;
    error = export_common_maps(p->e);
    if (error == 0)
        error = find_files(p);
    if (error == 0)
        error = numbers_init(&p->threads, THREADS_MAX);
    if (error == 0)
        error = rounds_init(&p->rounds, p->e->scan.file.fd);
    p->records.team = row_team_new(&p->e->output, &p->e->scan, NULL, NULL); /* of bytes alone */
    if (error == 0)
        error = p->records.team != NULL ? export_walk(p->e, &visitor) : -ENOMEM;
    if (error == 0)
        begin(p, 1);
    row_team_free(p->records.team);
    if (error != 0)
        return error;
    p->file.data_bytes = p->records.bytes;
    return perf_file_finish(&p->e->output, &p->file);
}

static void release(struct perf *p)
{
    for (size_t i = 0; p->file.paths != NULL && i < p->e->info.map_count; i++)
        free(p->file.paths[i]);
    for (size_t i = 0; i < PERF_FILE_CPUS_MAX; i++)
        free(p->cpus[i]);
    free(p->file.paths);
    free(p->file.cpus);
    numbers_free(&p->threads);
    rounds_free(&p->rounds);
    free(p);
}

static int run(struct export *e)
{
    struct perf *p = calloc(1, sizeof *p);
    int error = -ENOMEM;

    if (p == NULL)
        return error;
    p->e = e;
    p->file.info = &e->info;
    p->file.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                          PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                          PERF_SAMPLE_READ;
    p->file.cpus = calloc(PERF_FILE_CPUS_MAX, sizeof p->file.cpus[0]);
    if (p->file.cpus != NULL)
        error = walk(p);
    release(p);
    return error;
}

const struct export_format export_perf = {
    .name = "perf",
    .extension = "perf.data",
    .summary = "perf.data for perf report, perf script and perf annotate",
    .opener = "perf report -i",
    .needs_file = true,
    .run = run,
};
