/* Gathers points, sorts them and drops functions that overlap. */
#include "host/probe/probe_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"

#define NAME_BYTES_MAX 8192 /* of a function */
#define PRINTED_MAX 64u /* functions whose points are printed in any case */

static int out_of_memory(struct run_failure *failure)
{
    return run_fail(failure, "out of memory; end other programs");
}

void probe_table_free(struct probe_table *t)
{
    for (size_t i = 0; i < t->function_count; i++)
        free(t->functions[i].name);
    free(t->functions);
    free(t->points);
    *t = (struct probe_table){0};
}

int probe_table_add(struct probe_table *t, const struct probe_function *function, const char *name,
                    int name_bytes, struct run_failure *failure)
{
    struct probe_function *added;

    if (array_grow(&t->functions, t->function_count, sizeof *t->functions) != 0)
        return out_of_memory(failure);
    added = &t->functions[t->function_count];
    *added = *function;
    added->name =
        strndup(name, (size_t)(name_bytes < NAME_BYTES_MAX ? name_bytes : NAME_BYTES_MAX));
    if (added->name == NULL)
        return out_of_memory(failure);
    t->function_count++;
    return 0;
}

int probe_table_add_point(struct probe_table *t, const struct probe_code_point *point,
                          struct run_failure *failure)
{
    const struct probe_function *function = &t->functions[t->function_count - 1];
    struct probe_point *added;
    uint64_t left;

    if (t->point_count == HR_PROBE_POINTS_MAX)
        return run_fail(failure,
                        "--probe %s: more than %u points, entries and returns, with those before "
                        "it; name fewer functions",
                        function->spec, HR_PROBE_POINTS_MAX);
    if (array_grow(&t->points, t->point_count, sizeof *t->points) != 0)
        return out_of_memory(failure);
    added = &t->points[t->point_count++];
    *added = (struct probe_point){function->file, point->address, point->point};
    added->point.function = (uint32_t)(t->function_count - 1);
    if (!probe_file_offset(function->file, point->address, &added->point.file_offset, &left))
        return run_fail(failure, "--probe %s: 0x%" PRIx64 " is not in the file", function->spec,
                        point->address);
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct probe_point *x = a, *y = b;
    int files = x->file == y->file ? 0 : strcmp(x->file->path, y->file->path);

    if (files != 0)
        return files;
    if (x->point.file_offset != y->point.file_offset)
        return x->point.file_offset < y->point.file_offset ? -1 : 1;
    return x->point.function < y->point.function ? -1 : x->point.function > y->point.function;
}

/* Two functions want one instruction: the one that was named stays, or the first. */
static int drop_one(struct probe_function *first, struct probe_function *second,
                    const struct probe_point *point, size_t *dropped, struct run_failure *failure)
{
    bool same = first->address == second->address && first->kind == second->kind;

    if (first->dropped || second->dropped || first == second)
        return 0;
    if (first->named && second->named && !same)
        return run_fail(failure,
                        "--probe %s and --probe %s: both need a probe at the instruction at "
                        "0x%" PRIx64 " of %s; leave one of them out",
                        first->spec, second->spec, point->address, point->file->path);
    if (second->named && !first->named)
        first->dropped = true;
    else
        second->dropped = true;
    *dropped += !same;
    return 0;
}

/* Removes what was dropped and gives the rest its numbers. */
static int renumber(struct probe_table *t, struct run_failure *failure)
{
    uint32_t *numbers = calloc(t->function_count + 1, sizeof *numbers);
    size_t functions = 0, points = 0;

    if (numbers == NULL)
        return out_of_memory(failure);
    for (size_t i = 0; i < t->point_count; i++)
        if (!t->functions[t->points[i].point.function].dropped && t->points[i].point.kind != 0)
            t->points[points++] = t->points[i];
    for (size_t i = 0; i < t->function_count; i++) {
        numbers[i] = (uint32_t)functions;
        if (t->functions[i].dropped)
            free(t->functions[i].name);
        else
            t->functions[functions++] = t->functions[i];
    }
    for (size_t i = 0; i < points; i++)
        t->points[i].point.function = numbers[t->points[i].point.function];
    t->function_count = functions;
    t->point_count = points;
    free(numbers);
    return 0;
}

static bool begins_allocator(const struct probe_point *point)
{
    return (point->point.kind >> RUN_PROBE_HEAP_SHIFT & RUN_PROBE_HEAP_ENTRY) != 0;
}

/* What was asked for by name stays, and is a point of an allocator besides. */
static int merge(struct probe_table *t, struct probe_point *first, struct probe_point *second,
                 struct run_failure *failure)
{
    struct probe_function *one = &t->functions[first->point.function];
    struct probe_function *other = &t->functions[second->point.function];

    if ((first->point.kind & RUN_PROBE_PLACE) != 0 && begins_allocator(second))
        return run_fail(failure,
                        "--probe %s: --alloc has a probe at this instruction; leave one "
                        "of the two out, or name the function",
                        one->spec);
    if (begins_allocator(second) && one != other) {
        one->allocates = other->dropped = true;
        other->into = first->point.function + 1u;
    }
    first->point.kind |= second->point.kind;
    second->point.kind = 0;
    return 0;
}

/* Gives the points of functions that were merged to those that have their entries. */
static void follow_merged(struct probe_table *t)
{
    for (size_t i = 0; i < t->point_count; i++) {
        size_t into = t->functions[t->points[i].point.function].into;

        if (into != 0)
            t->points[i].point.function = (uint32_t)(into - 1);
    }
}

int probe_table_settle(struct probe_table *t, size_t *dropped, struct run_failure *failure)
{
    *dropped = 0;
    if (t->point_count != 0)
        qsort(t->points, t->point_count, sizeof t->points[0], by_place);
    for (size_t i = 1, before = 0; i < t->point_count; i++) {
        struct probe_point *first = &t->points[before], *one = &t->points[i];

        if (first->file != one->file || first->address != one->address ||
            (t->functions[first->point.function].dropped &&
             t->functions[first->point.function].into == 0))
            before = i;
        else if (((first->point.kind | one->point.kind) & RUN_PROBE_HEAP) != 0) {
            if (merge(t, first, one, failure) != 0)
                return -1;
        } else if (first->point.function == one->point.function)
            one->point.kind = 0; /* found twice */
        else if (drop_one(&t->functions[first->point.function], &t->functions[one->point.function],
                          one, dropped, failure) != 0)
            return -1;
    }
    follow_merged(t);
    return renumber(t, failure);
}

static void put(uint8_t **at, const void *bytes, size_t count)
{
    memcpy(*at, bytes, count);
    *at += count;
}

#define POINTS_OF_RECORD 4000u /* their record is shorter than 64 KB */

static size_t records_of_points(const struct probe_table *t)
{
    return (t->point_count + POINTS_OF_RECORD - 1) / POINTS_OF_RECORD;
}

static size_t function_bytes(const struct probe_function *f)
{
    return sizeof(struct hr_record_header) + sizeof(struct hr_meta_probe_function) +
           strlen(f->name) + strlen(f->file->path);
}

static size_t meta_bytes(const struct probe_table *t)
{
    size_t bytes = sizeof(struct hr_record_header) + sizeof(struct hr_meta_probes);

    for (size_t i = 0; i < t->function_count; i++)
        bytes += function_bytes(&t->functions[i]);
    return bytes +
           records_of_points(t) *
               (sizeof(struct hr_record_header) + sizeof(struct hr_meta_probe_points)) +
           t->point_count * sizeof(struct hr_probe_point);
}

static void put_header(uint8_t **at, uint8_t type, size_t bytes)
{
    struct hr_record_header header = {.type = type, .bytes = (uint16_t)bytes};

    put(at, &header, sizeof header);
}

static void put_function(uint8_t **at, const struct probe_function *f, uint32_t number)
{
    struct hr_meta_probe_function meta = {
        .address = f->address,
        .bytes = f->bytes,
        .number = number,
        .kind = f->kind,
        .flags = (f->loops ? HR_PROBE_LOOPS : 0u) | (f->allocates ? HR_PROBE_ALLOCATES : 0u),
        .name_bytes = (uint16_t)strlen(f->name),
        .path_bytes = (uint16_t)strlen(f->file->path),
    };

    put_header(at, HR_META_PROBE_FUNCTION, function_bytes(f) - sizeof(struct hr_record_header));
    put(at, &meta, sizeof meta);
    put(at, f->name, meta.name_bytes);
    put(at, f->file->path, meta.path_bytes);
}

static void put_points(uint8_t **at, const struct probe_table *t, size_t first)
{
    size_t left = t->point_count - first;
    struct hr_meta_probe_points meta = {
        .first = (uint32_t)first,
        .count = (uint32_t)(left < POINTS_OF_RECORD ? left : POINTS_OF_RECORD),
    };

    put_header(at, HR_META_PROBE_POINTS, sizeof meta + meta.count * sizeof(struct hr_probe_point));
    put(at, &meta, sizeof meta);
    for (size_t i = first; i < first + meta.count; i++) {
        struct hr_probe_point point = {.address = t->points[i].address,
                                       .function = t->points[i].point.function};

        put(at, &point, sizeof point);
    }
}

static void put_meta(uint8_t **at, const struct probe_table *t, uint32_t argument_count)
{
    struct hr_meta_probes meta = {
        .function_count = (uint32_t)t->function_count,
        .point_count = (uint32_t)t->point_count,
        .argument_count = argument_count,
    };

    put_header(at, HR_META_PROBES, sizeof meta);
    put(at, &meta, sizeof meta);
    for (size_t i = 0; i < t->function_count; i++)
        put_function(at, &t->functions[i], (uint32_t)i);
    for (size_t first = 0; first < t->point_count; first += POINTS_OF_RECORD)
        put_points(at, t, first);
}

/* Returns the number of points, from `first` on, that are in one file. */
static size_t points_of_file(const struct probe_table *t, size_t first)
{
    size_t i = first;

    while (i < t->point_count && t->points[i].file == t->points[first].file)
        i++;
    return i - first;
}

static void put_objects(uint8_t **at, const struct probe_table *t)
{
    uint32_t path = 0;

    for (size_t i = 0; i < t->point_count; i += points_of_file(t, i)) {
        struct run_probe_object object = {
            .path_offset = path,
            .path_bytes = (uint32_t)strlen(t->points[i].file->path),
            .first_point = (uint32_t)i,
            .point_count = (uint32_t)points_of_file(t, i),
        };

        put(at, &object, sizeof object);
        path += object.path_bytes;
    }
}

int probe_table_write(const struct probe_table *t, uint32_t argument_count, uint32_t every,
                      uint8_t **bytes, size_t *byte_count, struct run_failure *failure)
{
    struct run_probes_header header = {
        .magic = RUN_PROBES_MAGIC,
        .point_count = (uint32_t)t->point_count,
        .meta_bytes = (uint32_t)meta_bytes(t),
        .argument_count = argument_count,
        .every = every,
    };
    uint8_t *at;

    if (meta_bytes(t) > UINT32_MAX)
        return run_fail(failure, "--probe: the functions' names are too long; name fewer");
    for (size_t i = 0; i < t->point_count; i += points_of_file(t, i)) {
        header.object_count++;
        header.path_bytes += (uint32_t)strlen(t->points[i].file->path);
    }
    *byte_count = sizeof header + header.object_count * sizeof(struct run_probe_object) +
                  t->point_count * sizeof(struct run_probe_point) + header.path_bytes +
                  header.meta_bytes;
    *bytes = at = malloc(*byte_count);
    if (at == NULL)
        return out_of_memory(failure);
    put(&at, &header, sizeof header);
    put_objects(&at, t);
    for (size_t i = 0; i < t->point_count; i++)
        put(&at, &t->points[i].point, sizeof t->points[i].point);
    for (size_t i = 0; i < t->point_count; i += points_of_file(t, i))
        put(&at, t->points[i].file->path, strlen(t->points[i].file->path));
    put_meta(&at, t, argument_count);
    return 0;
}

static const char *flow_name(const struct run_probe_point *point)
{
    static const char *const names[] = {
        "?",          "copied",        "copied, rip", "return", "jump",          "jump if",
        "jump count", "jump register", "jump memory", "call",   "call register", "call memory",
    };

    return names[point->flow];
}

enum {
    INVOCATION = RUN_PROBE_ENTRY | RUN_PROBE_RETURN,
    NAMED = INVOCATION | RUN_PROBE_PLACE, /* else it is an allocator's alone */
};

static void print_points(const struct probe_table *t, size_t first, size_t count, FILE *out)
{
    char name[256];

    for (size_t i = first; i < first + count; i++) {
        const struct run_probe_point *point = &t->points[i].point;

        fprintf(out, "  0x%" PRIx64 " %s: %s%s%s, %s\n", t->points[i].address,
                text_escape(name, sizeof name, t->functions[point->function].name),
                (point->kind & RUN_PROBE_PLACE) != 0 ? "place" : "",
                (point->kind & RUN_PROBE_ENTRY) != 0 ? "entry" : "",
                (point->kind & INVOCATION) == RUN_PROBE_RETURN ? "return"
                : (point->kind & INVOCATION) == INVOCATION     ? " and return"
                : (point->kind & NAMED) == 0                   ? "allocator"
                                                               : "",
                flow_name(point));
    }
}

void probe_table_print(const struct probe_table *t, bool all, FILE *out)
{
    char functions[TEXT_QUANTITY_BYTES], points[TEXT_QUANTITY_BYTES], path[512];

    for (size_t i = 0; i < t->point_count; i += points_of_file(t, i)) {
        size_t count = 0;

        for (size_t f = 0; f < t->function_count; f++)
            count += t->functions[f].file == t->points[i].file;
        fprintf(out, "probes in %s: %s function%s or place%s, %s point%s\n",
                text_escape(path, sizeof path, t->points[i].file->path),
                text_count(functions, count), count == 1 ? "" : "s", count == 1 ? "" : "s",
                text_count(points, points_of_file(t, i)), points_of_file(t, i) == 1 ? "" : "s");
        if (all || t->function_count <= PRINTED_MAX)
            print_points(t, i, points_of_file(t, i), out);
    }
}
