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
#include "host/export/pprof/pprof_table.h"
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

struct pprof {
    struct export *e;
    struct pprof_places places;
    struct pprof_table table;
    uint64_t *locations; /* of the stacks' nodes, below `first`: not known; owned */
    uint32_t locations_room;
    uint64_t label_tid, label_cpu, label_pid, label_process; /* strings */
};

/* That of a stack's node, which remembers it. */
static uint64_t location_of_node(struct pprof *p, uint32_t node)
{
    uint64_t number = p->locations[node];

    if (number < p->places.locations.first) {
        number = pprof_places_location(&p->places, p->e->scan.stacks.nodes[node].address - 1);
        p->locations[node] = number;
    }
    return number;
}

/* The locations of a row, innermost first: how many. */
static uint32_t locations_of(struct pprof *p, const struct pprof_row *row,
                             uint64_t locations[FRAMES_MAX + 2])
{
    const struct stacks *stacks = &p->e->scan.stacks;
    uint32_t node = row->stack, count = 0;

    locations[count++] = row->place;
    for (; node >= HR_STACK_ROOTS && count <= FRAMES_MAX; node = stacks->nodes[node].parent)
        locations[count++] = location_of_node(p, node);
    node = stacks_root(stacks, node);
    if (node == HR_STACK_CUT || node == HR_STACK_BROKEN)
        locations[count++] = pprof_places_ending(&p->places, node);
    return count;
}

static int result_of(const struct pprof *p)
{
    return p->places.message.error != 0 ? p->places.message.error : row_team_error(p->places.team);
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

static void put_row(struct pprof *p, const struct pprof_row *row)
{
    const struct trace_info *info = &p->e->info;
    uint64_t locations[FRAMES_MAX + 2];
    uint32_t count = locations_of(p, row, locations);
    uint64_t tid = string_of_number(p, row->tid);
    uint64_t cpu = string_of_number(p, row->cpu);
    uint64_t pid = 0, name = 0;
    size_t mark;

    if (trace_processes_any(&info->processes)) {
        pid = string_of_number(p, info->processes.all[row->process].pid);
        name = pprof_places_string(&p->places,
                                   trace_info_process_name(info, row->process, UINT64_MAX));
    }
    mark = proto_begin(&p->places.message, PROFILE_SAMPLE);
    proto_numbers(&p->places.message, SAMPLE_LOCATIONS, locations, count);
    proto_numbers(&p->places.message, SAMPLE_VALUES, row->values, p->table.value_count);
    put_label(p, p->label_tid, tid);
    put_label(p, p->label_cpu, cpu);
    if (trace_processes_any(&info->processes)) {
        put_label(p, p->label_pid, pid);
        put_label(p, p->label_process, name);
    }
    proto_end(&p->places.message, mark);
    pprof_places_put(&p->places);
}

static int put_rows(struct pprof *p)
{
    if (stacks_extend(&p->e->scan.stacks, &p->locations, &p->locations_room,
                      sizeof p->locations[0]) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < numbers_count(&p->table.keys); i++)
        put_row(p, pprof_table_row(&p->table, i));
    numbers_forget(&p->table.keys);
    return 0;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct pprof *p = context;
    struct pprof_table *t = &p->table;

    for (uint32_t n = 0; n < samples->count; n++) {
        uint64_t location = pprof_places_location(&p->places, samples->slots[n].ip);

        if (numbers_full(&t->keys) && put_rows(p) != 0)
            return -ENOMEM;
        pprof_table_add(t, location << 16 | samples->chunk->cpu, location, samples, n);
    }
    return result_of(p);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct pprof *p = context;

    sample_time_record(&p->table.time, chunk, record);
    return row_team_error(p->places.team);
}

static void *join(void *context, struct trace_scan *scan)
{
    return pprof_digest_new(&((struct pprof *)context)->e->info, scan);
}

/* Where a table may become full, samples are to be visited one after the other. */
static int take_digest(void *context, void *digest)
{
    struct pprof *p = context;
    struct pprof_digest *d = digest;
    uint32_t count = numbers_count(&d->table.keys);

    if (numbers_count(&p->table.keys) + count >= ROWS_MAX || !pprof_places_fit(&p->places, count) ||
        !sample_time_join(&p->table.time, &d->table.time, d->cpu))
        return -EAGAIN;
    if (stacks_adopt(&p->e->scan.stacks, &d->scan->stacks, &d->nodes) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct pprof_row *row = pprof_table_row(&d->table, i);

        export_count(p->e, row->place, row->values[0]);
        row->place = pprof_places_location(&p->places, row->place);
        row->stack = d->nodes.all[row->stack];
        pprof_table_add_row(&p->table, row->place << 16 | row->cpu, row);
    }
    pprof_table_span(&p->table, d->table.first_ns, d->table.last_ns);
    return result_of(p);
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
    if (p->table.last_ns < p->table.first_ns) /* there was no sample */
        p->table.first_ns = p->table.last_ns;
    if (info->clock.start_unix_ns != 0)
        proto_number(&p->places.message, PROFILE_TIME_NS,
                     info->clock.start_unix_ns + p->table.first_ns);
    proto_number(&p->places.message, PROFILE_DURATION_NS, p->table.last_ns - p->table.first_ns);
    pprof_places_put(&p->places);
}

static int walk(struct pprof *p)
{
    const struct trace_digest digest = {.visitor = pprof_digest_visitor,
                                        .join = join,
                                        .take = take_digest,
                                        .leave = pprof_digest_free};
    const struct trace_visitor visitor = {.context = p,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .exact = true,
                                          .names = true,
                                          .samples = take_samples,
                                          .record = take_record,
                                          .digest = &digest};
    int error;

    put_head(p);
    error = export_walk(p->e, &visitor);
    if (error == 0)
        error = put_rows(p);
    if (error != 0)
        return error;
    put_tail(p);
    pprof_places_finish(&p->places);
    return p->places.message.error;
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
        error = pprof_table_init(&p->table, &e->info, ROWS_MAX);
    if (error == 0)
        error = pprof_places_init(&p->places, e);
    if (error == 0)
        error = walk(p);
    pprof_places_free(&p->places);
    pprof_table_free(&p->table);
    free(p->locations);
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
