/* hr check: whether a trace is whole, and exactly what is not. */
#include <argp.h>
#include <errno.h>

#include "host/base/commands.h"
#include "host/base/text.h"
#include "host/scan/reader.h"
#include "host/trace/trace_index.h"

#define LOST_SPANS 64

struct lost_span {
    struct hr_rec_lost lost;
    uint16_t cpu;
};

struct check {
    struct reader reader;
    struct trace_index index;
    int index_status; /* of trace_index_load */
    size_t index_next; /* entry that the next chunk should match */
    bool index_wrong;
    struct lost_span lost[LOST_SPANS];
    uint64_t lost_spans;
    uint64_t early; /* samples and hits with an earlier time than the one before */
    uint64_t hits; /* of probes */
    uint64_t pointless; /* hits of points that belong to no function */
    char path[4096]; /* escaped */
};

static int take_step(void *context, int step, const struct trace_chunk *chunk)
{
    struct check *c = context;

    if (c->index_status != 0 || !chunk->has_header || chunk->header.type == HR_CHUNK_INDEX)
        return 0;
    while (step == TRACE_STEP_CHUNK && c->index_next < c->index.count &&
           c->index.entries[c->index_next].offset < chunk->offset)
        c->index_next++; /* entries of chunks that are damaged beyond recognition */
    if (c->index_next >= c->index.count ||
        !trace_index_matches(&c->index.entries[c->index_next], &chunk->header, chunk->offset))
        c->index_wrong = true;
    else
        c->index_next++;
    return 0;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct check *c = context;

    if (record->type != HR_REC_LOST || chunk->header.type != HR_CHUNK_DATA)
        return 0;
    if (c->lost_spans < LOST_SPANS) {
        c->lost[c->lost_spans].cpu = chunk->header.cpu;
        trace_body(record, &c->lost[c->lost_spans].lost, sizeof(struct hr_rec_lost), NULL, NULL);
    }
    c->lost_spans++;
    return 0;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct check *c = context;
    uint64_t time = samples->previous->time;

    for (uint32_t i = 0; i < samples->count; i++) {
        c->early += samples->slots[i].time < time;
        time = samples->slots[i].time;
    }
    return 0;
}

static int take_hits(void *context, const struct trace_hits *hits)
{
    struct check *c = context;
    const struct trace_points *points = &c->reader.scan.info.points;
    uint64_t time = hits->hits[0].time;

    for (uint32_t i = 0; i < hits->count; i++) {
        c->early += hits->hits[i].time < time;
        time = hits->hits[i].time;
        c->pointless += trace_points_function(points, hits->hits[i].point) == TRACE_POINTS_NONE;
    }
    c->hits += hits->count;
    return 0;
}

static const char *cpu_words(uint16_t cpu, char room[32])
{
    if (cpu == HR_CPU_NONE)
        return "no CPU";
    snprintf(room, 32, "CPU %u", cpu);
    return room;
}

static void print_damage(const struct trace_audit *audit)
{
    static const char *const names[] = {"unknown", "META", "DATA", "END", "HOST", "INDEX"};
    char quantity[TEXT_QUANTITY_BYTES], room[32];

    for (uint64_t i = 0; i < audit->damage_count && i < TRACE_AUDIT_SPANS; i++) {
        const struct trace_damage *d = &audit->damage[i];

        printf("  damaged: bytes %lu to %lu (%s): %s", d->offset, d->offset + d->bytes - 1,
               text_bytes(quantity, d->bytes), trace_status_text(d->status));
        if (d->has_header)
            printf("; %s chunk of %s, sequence %u, %u samples",
                   names[d->type <= HR_CHUNK_INDEX ? d->type : 0], cpu_words(d->cpu, room),
                   d->sequence, d->samples);
        putchar('\n');
    }
    if (audit->damage_count > TRACE_AUDIT_SPANS)
        printf("  damaged: %lu more stretches\n", audit->damage_count - TRACE_AUDIT_SPANS);
}

static void print_missing(const struct check *c)
{
    const struct trace_audit *audit = &c->reader.scan.audit;
    const struct trace_info *info = &c->reader.scan.info;
    char room[32], after[TEXT_QUANTITY_BYTES], before[TEXT_QUANTITY_BYTES];

    for (uint64_t i = 0; i < audit->missing_spans && i < TRACE_AUDIT_SPANS; i++) {
        const struct trace_missing *m = &audit->missing[i];

        printf("  missing: %s, chunks with sequence %u to %u, after %s", cpu_words(m->cpu, room),
               m->first, m->last,
               text_time(after, (double)trace_info_time_ns(info, m->time_after)));
        if (m->time_before != 0)
            printf(" and before %s",
                   text_time(before, (double)trace_info_time_ns(info, m->time_before)));
        putchar('\n');
    }
    if (audit->missing_spans > TRACE_AUDIT_SPANS)
        printf("  missing: %lu more ranges of chunks\n", audit->missing_spans - TRACE_AUDIT_SPANS);
    if (audit->disordered_chunks != 0)
        printf("  disorder: %lu chunks came twice or late\n", audit->disordered_chunks);
    if (audit->gone != 0)
        printf("  missing: %lu samples in all that the guest sent\n", audit->gone);
}

static void print_absent(const struct check *c)
{
    const struct trace_audit *audit = &c->reader.scan.audit;

    if (!audit->has_meta)
        puts("  missing: META chunk: clock, events and load map are unknown");
    if (!audit->has_end)
        puts("  missing: END chunk: the trace stops before the program did; exit status and event "
             "totals are unknown");
    if (!audit->has_host)
        puts("  missing: HOST chunk: the collector was stopped before it could close the file");
    if (c->index_status == -ENODATA)
        puts("  missing: INDEX: readers find times by scanning; no data is lost");
    else if (c->index_status != 0 || c->index_wrong)
        puts("  damaged: INDEX: it does not describe this file; readers scan instead");
    if (c->reader.scan.info.ignored != 0)
        printf("  note: %lu metadata records beyond this reader's bounds are not looked at\n",
               c->reader.scan.info.ignored);
}

/* What may be odd in a file that is whole, such as the figures of the program's own calls. */
static void print_figures(const struct check *c)
{
    const struct trace_info *info = &c->reader.scan.info;
    const struct trace_processes *processes = &info->processes;
    const struct {
        uint64_t count;
        const char *words;
    } findings[] = {
        {c->reader.scan.audit.contradictions,
         "contradiction: CPUs of which all chunks are here and of which the END chunk says other "
         "numbers of samples, losses or chunks, or nothing"},
        {info->regions.contradictions,
         "contradiction: region records that do not add up: passes, histogram, least, largest"},
        {info->regions.repeated, "note: region records that came twice and were added up"},
        {info->regions.ignored, "note: records of further regions, which are not looked at"},
        {processes->repeated_starts,
         "contradiction: starts of processes that run, and threads that came twice"},
        {processes->unknown_parents, "contradiction: processes whose parent never started"},
        {processes->unknown_pids,
         "contradiction: execs, exits, threads and maps of processes that never started"},
        {processes->after_exit, "contradiction: records of processes after their exit"},
        {processes->early, "note: records of processes that are not in the order of time"},
        {processes->ignored, "note: records of further processes, which are not looked at"},
        {c->early,
         "note: samples and hits with an earlier time than the one before them on their CPU"},
        {c->pointless, "contradiction: hits of probes at points of no function"},
        {trace_points_count(&info->points) - info->points.described,
         "note: probed functions that the trace does not name"},
        {info->nmis.repeated, "note: NMI records that came twice; the first counts"},
    };

    for (size_t i = 0; i < sizeof findings / sizeof findings[0]; i++)
        if (findings[i].count != 0)
            printf("  %s: %lu\n", findings[i].words, findings[i].count);
}

/* What the guest itself counted as dropped is known and in order: a note, no damage. */
static void print_lost(const struct check *c)
{
    const struct trace_info *info = &c->reader.scan.info;
    char room[32], first[TEXT_QUANTITY_BYTES], last[TEXT_QUANTITY_BYTES];

    for (uint64_t i = 0; i < c->lost_spans && i < LOST_SPANS; i++)
        printf("  lost: %s, %lu %s between %s and %s: %s\n", cpu_words(c->lost[i].cpu, room),
               c->lost[i].lost.count, c->hits != 0 ? "samples and hits" : "samples",
               text_time(first, (double)trace_info_time_ns(info, c->lost[i].lost.time_first)),
               text_time(last, (double)trace_info_time_ns(info, c->lost[i].lost.time_last)),
               trace_info_loss_words(info, c->reader.scan.audit.lost));
    if (c->lost_spans > LOST_SPANS)
        printf("  lost: %lu more spans\n", c->lost_spans - LOST_SPANS);
}

static int present(struct reader *reader)
{
    const struct check *c = (struct check *)reader;
    const struct trace_audit *audit = &c->reader.scan.audit;
    bool damaged = audit->damage_count != 0 || audit->disordered_chunks != 0 || c->index_wrong ||
                   (c->index_status != 0 && c->index_status != -ENODATA) || c->pointless != 0 ||
                   audit->contradictions != 0 || c->reader.scan.info.regions.contradictions != 0 ||
                   trace_processes_contradictions(&c->reader.scan.info.processes) != 0;
    bool whole = !damaged && trace_audit_complete(audit) && audit->has_host && c->index_status == 0;
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], d[TEXT_QUANTITY_BYTES];

    char hits[TEXT_QUANTITY_BYTES];

    printf("%s: %s: %s in %s chunks, %s samples, %s%s%s lost\n", c->path,
           whole     ? "complete"
           : damaged ? "damaged"
                     : "incomplete",
           text_bytes(a, c->reader.scan.file.file_bytes), text_count(b, audit->chunks),
           text_count(d, audit->samples), c->hits != 0 ? text_count(hits, c->hits) : "",
           c->hits != 0 ? " hits of probes, " : "",
           text_count((char[TEXT_QUANTITY_BYTES]){0}, audit->lost));
    print_damage(audit);
    print_missing(c);
    print_absent(c);
    print_figures(c);
    print_lost(c);
    return whole ? HR_EXIT_OK : HR_EXIT_FAILED;
}

static int read_trace(struct reader *reader)
{
    struct check *c = (struct check *)reader;
    const struct trace_visitor visitor = {.context = c,
                                          .stacks = TRACE_SCAN_ROOTS,
                                          .accesses = true,
                                          .step = take_step,
                                          .samples = take_samples,
                                          .hits = take_hits,
                                          .allocations = take_hits,
                                          .record = take_record};
    int error;

    text_escape(c->path, sizeof c->path, reader->path);
    c->index_status = trace_index_load(&c->index, reader->scan.file.fd);
    error = trace_scan_run(&reader->scan, &visitor);
    if (c->index_status == 0 && reader->scan.audit.damage_count == 0 &&
        c->index_next != c->index.count)
        c->index_wrong = true;
    return error;
}

static void free_index(struct reader *reader)
{
    trace_index_free(&((struct check *)reader)->index);
}

int check_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = reader_parse,
        .args_doc = "[FILE]",
        .doc =
            "Verify a trace (default hr.bin) and say exactly what is damaged or missing."
            "\vExit status: 0 complete and undamaged, 1 damaged or incomplete, 2 not a trace.\n\n"
            "Examples:\n"
            "  hr check              is hr.bin whole?\n"
            "  hr check copy.bin && rm hr.bin\n",
    };
    static const struct reader_command command = {read_trace, present, free_index};
    struct check check = {0};

    reader_command_line(&check.reader, &argp, argc, argv);
    return reader_run(&check.reader, &command);
}
