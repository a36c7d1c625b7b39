/* Divides a trace's chunks among threads and puts together what they found. */
#include "host/scan/trace_parallel.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "host/trace/trace_index.h"

#define BYTES_WORTH_IT (4u << 20) /* below, threads cost more than they save */

enum { KEPT = 1, FRESH = 2 }; /* marks of chunks: a worker reads it; it follows on no kept one */

struct survey { /* all chunks of a whole trace */
    struct trace_index index;
    uint8_t *marks; /* one for each entry */
    uint64_t kept_bytes;
};

struct part {
    struct trace_scan scan;
    struct trace_visitor visitor;
    const struct survey *survey;
    struct progress_bar *progress;
    size_t first; /* entries first .. end - 1 */
    size_t end;
    bool *stop; /* atomic: another part failed */
    pthread_t thread;
    int result;
    bool open;
    bool started;
};

unsigned int trace_parallel_jobs(unsigned int jobs, uint64_t file_bytes)
{
    cpu_set_t cpus;

    if (jobs == 0 && file_bytes >= BYTES_WORTH_IT && sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        jobs = (unsigned int)CPU_COUNT(&cpus);
    if (jobs > TRACE_PARALLEL_JOBS_MAX)
        jobs = TRACE_PARALLEL_JOBS_MAX;
    return jobs > 0 ? jobs : 1;
}

/* -EAGAIN unless the chunk at an entry's place is whole and the one that the entry says. */
static int read_entry(struct trace_scan *scan, const struct hr_index_entry *entry,
                      struct trace_chunk *chunk)
{
    int step;

    if (scan->file.position != entry->offset)
        trace_file_seek(&scan->file, entry->offset);
    step = trace_file_next(&scan->file, chunk);
    if (step < 0)
        return step;
    return step == TRACE_STEP_CHUNK && trace_index_matches(entry, &chunk->header, chunk->offset)
               ? 0
               : -EAGAIN;
}

/* What decoding depends on must not change after the first samples. */
static bool changes_decoding(const struct trace_chunk *chunk)
{
    struct trace_cursor cursor;
    struct trace_record record;

    trace_cursor_init(&cursor, chunk->payload, chunk->header.payload_bytes);
    while (trace_next(&cursor, &record) == TRACE_OK)
        if (record.type == HR_META_CLOCK || record.type == HR_META_SAMPLING ||
            record.type == HR_META_STACKS || record.type == HR_META_PROBES)
            return true;
    return false;
}

static int take_other(struct trace_scan *scan, const struct hr_index_entry *entry, bool after_data)
{
    static const struct trace_visitor nobody = {0};
    struct trace_chunk chunk;
    int error = read_entry(scan, entry, &chunk);

    if (error != 0)
        return error;
    if (after_data && chunk.header.type == HR_CHUNK_META && changes_decoding(&chunk))
        return -EAGAIN;
    trace_audit_step(&scan->audit, TRACE_STEP_CHUNK, &chunk);
    return trace_scan_chunk(scan, &nobody, &chunk, true);
}

static void take_data(struct survey *s, struct trace_scan *scan, size_t i)
{
    const struct hr_index_entry *entry = &s->index.entries[i];
    struct trace_chunk chunk = {.header = trace_index_header(entry), .offset = entry->offset};
    bool follows = trace_audit_step(&scan->audit, TRACE_STEP_CHUNK, &chunk);

    if (trace_scan_outside(scan, &chunk.header)) {
        scan->partial = true;
        scan->audit.cpus[entry->cpu].broken = true;
        return;
    }
    s->marks[i] = (uint8_t)(KEPT | (follows ? 0 : FRESH));
    s->kept_bytes += entry->payload_bytes;
}

/* Reads everything but DATA chunks into the main scan.  -EAGAIN when one worker must walk. */
static int take_chunks(struct survey *s, struct trace_scan *scan)
{
    uint64_t offset = scan->file.first_chunk;
    bool data = false;
    int error = 0;

    for (size_t i = 0; i < s->index.count && error == 0; i++) {
        const struct hr_index_entry *entry = &s->index.entries[i];

        if (entry->offset != offset)
            return -EAGAIN;
        offset += sizeof(struct hr_chunk_header) + entry->payload_bytes;
        if (entry->type == HR_CHUNK_DATA) {
            if (!data && !(scan->info.has_sampling && scan->info.has_clock))
                return -EAGAIN;
            data = true;
            take_data(s, scan, i);
        } else {
            error = take_other(scan, entry, data);
        }
    }
    if (error == 0 &&
        offset != (s->index.first_offset != 0 ? s->index.first_offset : scan->file.file_bytes))
        return -EAGAIN;
    return error;
}

/* The INDEX chunks themselves. */
static int take_rest(struct survey *s, struct trace_scan *scan)
{
    struct trace_chunk chunk;
    int step = TRACE_STEP_END;

    if (s->index.first_offset != 0)
        trace_file_seek(&scan->file, s->index.first_offset);
    else
        trace_file_seek(&scan->file, scan->file.file_bytes);
    while ((step = trace_file_next(&scan->file, &chunk)) == TRACE_STEP_CHUNK)
        trace_audit_step(&scan->audit, step, &chunk);
    return step == TRACE_STEP_DAMAGE ? -EAGAIN : step;
}

static int make_survey(struct survey *s, struct trace_scan *scan)
{
    int error = trace_index_load(&s->index, scan->file.fd);

    if (error == -ENODATA)
        error = trace_index_walk(&s->index, scan->file.fd, scan->file.first_chunk,
                                 scan->file.file_bytes);
    if (error == 0) {
        s->marks = calloc(s->index.count + 1, 1);
        error = s->marks != NULL ? take_chunks(s, scan) : -ENOMEM;
    }
    if (error == 0)
        error = take_rest(s, scan);
    if (error == 0 && (scan->audit.missing_spans != 0 || scan->audit.disordered_chunks != 0 ||
                       scan->audit.damage_count != 0))
        error = -EAGAIN;
    return error == -EBADMSG || error == -E2BIG ? -EAGAIN : error;
}

static int work(struct part *part)
{
    for (size_t i = part->first; i < part->end; i++) {
        const struct hr_index_entry *entry = &part->survey->index.entries[i];
        struct trace_chunk chunk;
        int error;

        if ((part->survey->marks[i] & KEPT) == 0)
            continue;
        if (__atomic_load_n(part->stop, __ATOMIC_RELAXED))
            return 0;
        error = read_entry(&part->scan, entry, &chunk);
        if (error == 0)
            error = trace_scan_chunk(&part->scan, &part->visitor, &chunk,
                                     (part->survey->marks[i] & FRESH) == 0);
        if (error == 0 && part->scan.audit.damage_count != 0)
            error = -EAGAIN;
        if (error != 0)
            return error;
        progress_bar_add(part->progress, chunk.bytes);
    }
    /* Nodes without room end elsewhere than in a walk by one. */
    return part->scan.stacks.refused != 0 ? -EAGAIN : 0;
}

static void *run_part(void *argument)
{
    struct part *part = argument;

    part->result = work(part);
    if (part->result != 0)
        __atomic_store_n(part->stop, true, __ATOMIC_RELAXED);
    return NULL;
}

/* Cuts the entries so that each part has the same number of bytes to read. */
static void cut(const struct survey *s, struct part *parts, unsigned int count)
{
    uint64_t bytes = 0;
    size_t i = 0;

    for (unsigned int n = 0; n < count; n++) {
        parts[n].first = i;
        for (; i < s->index.count && bytes < s->kept_bytes / count * (n + 1); i++)
            bytes += s->marks[i] != 0 ? s->index.entries[i].payload_bytes : 0;
        parts[n].end = n + 1 < count ? i : s->index.count;
    }
}

static int open_parts(struct trace_scan *scan, const struct survey *s,
                      const struct trace_team *team, struct part *parts, unsigned int count,
                      bool *stop)
{
    cut(s, parts, count);
    for (unsigned int n = 0; n < count; n++) {
        struct part *part = &parts[n];
        int error = trace_scan_share(&part->scan, scan);

        if (error != 0)
            return error;
        part->open = true;
        part->scan.stacks.limit = STACKS_NODES_MAX / count;
        part->survey = s;
        part->progress = &scan->progress;
        part->stop = stop;
        part->visitor = team->visitor;
        part->visitor.context = team->join(team->owner, &part->scan);
        if (part->visitor.context == NULL)
            return -ENOMEM;
    }
    return 0;
}

/* The calling thread is the first worker.  What fails first in the file's order is the result. */
static int run_parts(struct part *parts, unsigned int count)
{
    int error = 0;

    for (unsigned int n = 1; n < count && error == 0; n++) {
        error = -pthread_create(&parts[n].thread, NULL, run_part, &parts[n]);
        parts[n].started = error == 0;
    }
    if (error == 0)
        run_part(&parts[0]);
    else
        __atomic_store_n(parts[0].stop, true, __ATOMIC_RELAXED);
    for (unsigned int n = 1; n < count; n++)
        if (parts[n].started)
            pthread_join(parts[n].thread, NULL);
    for (unsigned int n = 0; n < count && error == 0; n++)
        error = parts[n].result;
    return error;
}

static int take_parts(struct trace_scan *scan, const struct trace_team *team, struct part *parts,
                      unsigned int count)
{
    int error = 0;

    for (unsigned int n = 0; n < count && error == 0; n++) {
        error = team->take(team->owner, parts[n].visitor.context);
        if (parts[n].scan.info.has_fault) { /* of the trace's last one */
            scan->info.has_fault = true;
            scan->info.fault = parts[n].scan.info.fault;
        }
    }
    return error;
}

static int run_divided(struct trace_scan *scan, const struct trace_team *team,
                       const struct survey *s, unsigned int jobs)
{
    struct part parts[TRACE_PARALLEL_JOBS_MAX] = {0};
    bool stop = false;
    int error = open_parts(scan, s, team, parts, jobs, &stop);

    progress_bar_begin(&scan->progress, s->kept_bytes);
    if (error == 0)
        error = run_parts(parts, jobs);
    progress_bar_end(&scan->progress);
    if (error == 0)
        error = take_parts(scan, team, parts, jobs);
    if (error == 0)
        trace_audit_finish(&scan->audit, &scan->info);
    for (unsigned int n = 0; n < jobs; n++) {
        if (parts[n].visitor.context != NULL)
            team->leave(team->owner, parts[n].visitor.context);
        if (parts[n].open)
            trace_scan_unshare(&parts[n].scan);
    }
    return error;
}

static int run_alone(struct trace_scan *scan, const struct trace_team *team)
{
    struct trace_visitor visitor = team->visitor;
    int error = trace_scan_rewind(scan);

    if (error != 0)
        return error;
    if (team->restart != NULL)
        team->restart(team->owner);
    visitor.context = team->join(team->owner, scan);
    if (visitor.context == NULL)
        return -ENOMEM;
    error = trace_scan_run(scan, &visitor);
    if (error == 0)
        error = team->take(team->owner, visitor.context);
    team->leave(team->owner, visitor.context);
    return error;
}

int trace_parallel_run(struct trace_scan *scan, const struct trace_team *team, unsigned int jobs)
{
    struct survey s = {0};
    int error = make_survey(&s, scan);

    if (error == 0 && team->visitor.exact && scan->info.has_exact)
        error = -EAGAIN; /* exact counts come from one chunk after the other */
    if (error == 0 && team->divides != NULL && !team->divides(team->owner, &scan->info))
        error = -EAGAIN;
    if (error == 0)
        error = run_divided(scan, team, &s, trace_parallel_jobs(jobs, scan->file.file_bytes));
    trace_index_free(&s.index);
    free(s.marks);
    return error == -EAGAIN ? run_alone(scan, team) : error;
}
