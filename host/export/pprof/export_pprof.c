/* hr export pprof: a profile for `go tool pprof` and the viewers that read its format.
 *
 * A gzip-compressed message Profile of
 * https://github.com/google/pprof/blob/main/proto/profile.proto.  Its repeated fields may come in
 * any order, so strings, functions and locations are written when they are first needed.  Samples
 * of the same address, stack, thread and CPU are added up; a full table is written and emptied,
 * as pprof adds up equal samples itself.
 */
#include <errno.h>
#include <stdlib.h>

#include "host/export/pprof/pprof_places.h"
#include "host/export/pprof/sample_time.h"
#include "host/object/symbols_file.h"

#define ROWS_MAX (1u << 17) /* 22 MB with all events */
#define FRAMES_MAX 1024u
#define BUILD_ID_TEXT (TRACE_INFO_BUILD_ID_MAX * 2 + 1)

/* The published field numbers; those of Profile are in pprof_places.h. */
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE };
enum { MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS, MAPPING_HAS_FILES, MAPPING_HAS_LINES };
enum { MAPPING_HAS_INLINES = 10 };

struct row { /* samples of one address, stack, thread and CPU */
    uint64_t location;
    uint32_t stack;
    uint32_t tid;
    uint32_t process;
    uint32_t cpu;
    uint64_t values[2 + HR_EVENTS_MAX]; /* samples, nanoseconds, events */
};

struct pprof {
    struct export *e;
    struct pprof_places places;
    struct numbers keys;
    struct sample_time time;
    struct row *rows; /* by number in keys; owned */
    uint64_t label_tid, label_cpu, label_pid, label_process; /* strings */
    uint64_t first_ns, last_ns;
};

/* The locations of a row, innermost first: how many. */
static uint32_t locations_of(struct pprof *p, const struct row *row,
                             uint64_t locations[FRAMES_MAX + 2])
{
    const struct stacks *stacks = &p->e->scan.stacks;
    uint64_t addresses[FRAMES_MAX];
    uint32_t depth = stacks_addresses(stacks, row->stack, addresses, FRAMES_MAX);
    uint32_t root = stacks_root(stacks, row->stack);
    uint32_t count = 0;

    locations[count++] = row->location;
    for (uint32_t i = 0; i < depth; i++)
        locations[count++] = pprof_places_location(&p->places, addresses[i] - 1);
    if (root == HR_STACK_CUT || root == HR_STACK_BROKEN)
        locations[count++] = pprof_places_ending(&p->places, root);
    return count;
}

static uint64_t string_of_number(struct pprof *p, uint32_t number)
{
    char text[16];

    snprintf(text, sizeof text, "%u", number);
    return pprof_places_string(&p->places, text);
}

/* As text: pprof takes a number that is 0 for none. */
static void put_label(struct pprof *p, uint64_t key, uint64_t text)
{
    size_t mark = proto_begin(&p->places.message, SAMPLE_LABEL);

    proto_number(&p->places.message, LABEL_KEY, key);
    proto_number(&p->places.message, LABEL_TEXT, text);
    proto_end(&p->places.message, mark);
}

static void put_rows(struct pprof *p)
{
    uint64_t locations[FRAMES_MAX + 2];

    for (uint64_t i = 0; i < p->keys.next - p->keys.first; i++) {
        const struct row *row = &p->rows[i];
        uint32_t count = locations_of(p, row, locations);
        uint64_t tid = string_of_number(p, row->tid);
        uint64_t cpu = string_of_number(p, row->cpu);
        uint64_t pid = 0, name = 0;
        size_t mark;

        if (trace_processes_any(&p->e->info.processes)) {
            pid = string_of_number(p, p->e->info.processes.all[row->process].pid);
            name = pprof_places_string(
                &p->places, trace_info_process_name(&p->e->info, row->process, UINT64_MAX));
        }
        mark = proto_begin(&p->places.message, PROFILE_SAMPLE);

        proto_numbers(&p->places.message, SAMPLE_LOCATIONS, locations, count);
        proto_numbers(&p->places.message, SAMPLE_VALUES, row->values, 2 + p->e->info.event_count);
        put_label(p, p->label_tid, tid);
        put_label(p, p->label_cpu, cpu);
        if (trace_processes_any(&p->e->info.processes)) {
            put_label(p, p->label_pid, pid);
            put_label(p, p->label_process, name);
        }
        proto_end(&p->places.message, mark);
        pprof_places_put(&p->places);
    }
    numbers_forget(&p->keys);
}

static struct row *row_of(struct pprof *p, uint32_t cpu, const struct trace_slot *sample,
                          uint32_t stack)
{
    uint64_t location = pprof_places_location(&p->places, sample->ip);
    bool added;
    uint64_t number;
    struct row *row;

    if (numbers_full(&p->keys))
        put_rows(p);
    number =
        numbers_of(&p->keys, location << 16 | cpu, (uint64_t)stack << 32 | sample->tid, &added);
    row = &p->rows[number - p->keys.first];
    if (added)
        *row = (struct row){
            .location = location,
            .stack = stack,
            .tid = sample->tid,
            .process = trace_processes_of(&p->e->info.processes, sample->tid,
                                          p->e->info.has_exact ? UINT64_MAX : sample->time),
            .cpu = cpu,
        };
    return row;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct pprof *p = context;
    const struct trace_slot *previous = samples->previous;
    uint32_t cpu = samples->chunk->cpu;

    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint64_t ns = trace_info_time_ns(&p->e->info, sample->time);
        struct row *row =
            row_of(p, cpu, sample, samples->stacks != NULL ? samples->stacks[n] : HR_STACK_WHOLE);

        row->values[0] += trace_samples_weight(samples, n);
        row->values[1] += samples->weights != NULL /* an instruction is a nanosecond there */
                              ? samples->weights[n]
                              : sample_time_ns(&p->time, cpu, sample, previous);
        for (uint32_t i = 0; i < p->e->info.event_count; i++)
            row->values[2 + i] += export_increment(sample, previous, i);
        if (p->last_ns == 0 || ns < p->first_ns)
            p->first_ns = ns;
        if (ns > p->last_ns)
            p->last_ns = ns;
        previous = sample;
    }
    return p->places.message.error != 0 ? p->places.message.error : row_team_error(p->places.team);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct pprof *p = context;

    sample_time_record(&p->time, chunk, record);
    return row_team_error(p->places.team);
}

static void put_type(struct pprof *p, uint32_t field, const char *type, const char *unit)
{
    uint64_t type_string = pprof_places_string(&p->places, type);
    uint64_t unit_string = pprof_places_string(&p->places, unit);
    size_t mark = proto_begin(&p->places.message, field);

    proto_number(&p->places.message, TYPE_TYPE, type_string);
    proto_number(&p->places.message, TYPE_UNIT, unit_string);
    proto_end(&p->places.message, mark);
    pprof_places_put(&p->places);
}

static void put_string_field(struct pprof *p, uint32_t field, const char *text)
{
    uint64_t string = pprof_places_string(&p->places, text);

    proto_number(&p->places.message, field, string);
    pprof_places_put(&p->places);
}

/* What is known before the samples. */
static void put_head(struct pprof *p)
{
    const struct trace_info *info = &p->e->info;
    const struct hr_meta_sampling *sampling = &info->sampling;
    char word[64], comment[256];

    proto_text(&p->places.message, PROFILE_STRING, ""); /* string 0 */
    put_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
    put_type(p, PROFILE_SAMPLE_TYPE, "time", "nanoseconds");
    for (uint32_t i = 0; i < info->event_count; i++)
        put_type(p, PROFILE_SAMPLE_TYPE, trace_info_event_word(info, i, word), "count");
    if (sampling->interval_ticks != 0) {
        put_type(p, PROFILE_PERIOD_TYPE, "time", "nanoseconds");
        proto_number(&p->places.message, PROFILE_PERIOD, trace_info_interval_ns(info));
    } else if (sampling->period_events != 0 && info->event_count != 0) {
        put_type(p, PROFILE_PERIOD_TYPE, trace_info_event_word(info, 0, word), "count");
        proto_number(&p->places.message, PROFILE_PERIOD, sampling->period_events);
    }
    put_string_field(p, PROFILE_DEFAULT_TYPE, "time");
    put_string_field(p, PROFILE_COMMENT, trace_info_text(info, "program.args", "program unknown"));
    for (uint32_t i = 0; i < info->event_count; i++) {
        const char *source = trace_info_source_words(info, i);

        snprintf(comment, sizeof comment, "%s: %s", trace_info_event_word(info, i, word), source);
        if (source[0] != 0)
            put_string_field(p, PROFILE_COMMENT, comment);
    }
    p->label_tid = pprof_places_string(&p->places, "thread");
    p->label_cpu = pprof_places_string(&p->places, "cpu");
    p->label_pid = pprof_places_string(&p->places, "pid");
    p->label_process = pprof_places_string(&p->places, "process");
}

static void put_mapping(struct pprof *p, size_t i)
{
    const struct trace_map *map = &p->e->info.maps[i];
    const struct pprof_seen *seen = &p->places.seen[i + 1];
    uint64_t file = pprof_places_string(&p->places, map->path);
    char build_id[BUILD_ID_TEXT] = "";
    uint64_t id;
    size_t mark;

    for (uint32_t n = 0; n < map->meta.build_id_bytes && n < TRACE_INFO_BUILD_ID_MAX; n++)
        snprintf(build_id + (size_t)n * 2, 3, "%02x", map->build_id[n]);
    id = pprof_places_string(&p->places, build_id);
    mark = proto_begin(&p->places.message, PROFILE_MAPPING);
    proto_number(&p->places.message, MAPPING_ID, i + 1);
    proto_number(&p->places.message, MAPPING_START, map->meta.start);
    proto_number(&p->places.message, MAPPING_LIMIT, map->meta.end);
    proto_number(&p->places.message, MAPPING_OFFSET, map->meta.file_offset);
    proto_number(&p->places.message, MAPPING_FILE, file);
    if (build_id[0] != 0)
        proto_number(&p->places.message, MAPPING_BUILD_ID, id);
    proto_number(&p->places.message, MAPPING_HAS_FUNCTIONS, seen->function);
    proto_number(&p->places.message, MAPPING_HAS_FILES, seen->file);
    proto_number(&p->places.message, MAPPING_HAS_LINES, seen->line);
    proto_number(&p->places.message, MAPPING_HAS_INLINES, seen->inlined);
    proto_end(&p->places.message, mark);
    pprof_places_put(&p->places);
}

/* What is known after them; pprof takes the first map for the program's. */
static void put_tail(struct pprof *p)
{
    const struct trace_info *info = &p->e->info;
    const char *program = symbols_file_program(info);

    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < info->map_count; i++)
            if ((program == NULL || strcmp(info->maps[i].path, program) != 0) == others)
                put_mapping(p, i);
    if (info->clock.start_unix_ns != 0)
        proto_number(&p->places.message, PROFILE_TIME_NS, info->clock.start_unix_ns + p->first_ns);
    proto_number(&p->places.message, PROFILE_DURATION_NS, p->last_ns - p->first_ns);
    pprof_places_put(&p->places);
}

static int walk(struct pprof *p)
{
    const struct trace_visitor visitor = {.context = p,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .exact = true,
                                          .names = true,
                                          .samples = take_samples,
                                          .record = take_record};
    int error;

    put_head(p);
    error = export_walk(p->e, &visitor);
    if (error != 0)
        return error;
    put_rows(p);
    put_tail(p);
    pprof_places_finish(&p->places);
    return p->places.message.error;
}

static int allocate(struct pprof *p)
{
    p->rows = calloc(ROWS_MAX, sizeof p->rows[0]);
    if (p->rows == NULL || numbers_init(&p->keys, ROWS_MAX) != 0 ||
        sample_time_init(&p->time, &p->e->info) != 0)
        return -ENOMEM;
    return pprof_places_init(&p->places, p->e);
}

static int run(struct export *e)
{
    struct pprof *p = calloc(1, sizeof *p);
    int error;

    if (p == NULL)
        return -ENOMEM;
    p->e = e;
    error = export_common_maps(e);
    if (error == 0)
        error = allocate(p);
    if (error == 0)
        error = walk(p);
    pprof_places_free(&p->places);
    sample_time_free(&p->time);
    numbers_free(&p->keys);
    free(p->rows);
    free(p);
    return error;
}

const struct export_format export_pprof = {
    .name = "pprof",
    .extension = "pb.gz",
    .summary = "profile for go tool pprof, with stacks, inlined functions and lines",
    .opener = "go tool pprof",
    .exact = true,
    .run = run,
};
