/* Looks up called functions in the load map of the process that called them. */
#include "host/symbols/called.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_name(struct trace_point_function *function, const char *name, const char *path)
{
    size_t name_bytes = strlen(name) + 1, path_bytes = strlen(path) + 1;
    char *both = malloc(name_bytes + path_bytes);

    if (both == NULL)
        return -ENOMEM;
    memcpy(both, name, name_bytes);
    memcpy(both + name_bytes, path, path_bytes);
    function->name = both;
    function->path = both + name_bytes;
    return 0;
}

static int name_one(struct symbols *symbols, const struct trace_info *info,
                    struct trace_point_function *function)
{
    const struct hr_meta_called *called = &function->called;
    uint64_t address = called->address;
    struct symbols_place place;
    char text[24];

    if (trace_processes_any(&info->processes))
        address = trace_processes_address(&info->processes, called->tid, called->time, address);
    symbols_find(symbols, address, &place);
    snprintf(text, sizeof text, "0x%lx", called->address);
    function->meta.kind = HR_PROBE_FUNCTION;
    function->meta.address = called->address;
    function->meta.bytes = place.end - place.start;
    return set_name(function, place.name != NULL ? place.name : text,
                    place.object != NULL ? place.object : "");
}

static int name_all(struct trace_info *info, const struct symbols_options *options)
{
    struct trace_points *points = &info->points;
    struct symbols_options raw = options != NULL ? *options : (struct symbols_options){0};
    struct symbols *symbols;
    int error;

    raw.raw_names = true; /* readers demangle them, as names of probes */
    error = symbols_open(&symbols, info, &raw);

    if (error != 0)
        return error;
    for (uint32_t i = 0; i < points->meta.function_count && error == 0; i++)
        if (points->functions[i].called.tid != 0 && points->functions[i].name == NULL)
            error = name_one(symbols, info, &points->functions[i]);
    symbols_close(symbols);
    return error;
}

static int compare_names(const struct trace_point_function *x, const struct trace_point_function *y)
{
    int names = strcmp(x->name, y->name);

    return names != 0 ? names : strcmp(x->path, y->path);
}

static int compare(const void *a, const void *b, void *context)
{
    const struct trace_point_function *functions = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int names = compare_names(&functions[x], &functions[y]);

    return names != 0 ? names : x < y ? -1 : x > y;
}

/* Stores for each function the number of the first one that has its name. */
static void find_first(struct trace_points *points, uint32_t *numbers, uint32_t *first)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < points->meta.function_count; i++) {
        first[i] = i;
        if (points->functions[i].name != NULL)
            numbers[count++] = i;
    }
    qsort_r(numbers, count, sizeof numbers[0], compare, points->functions);
    for (uint32_t i = 1; i < count; i++)
        if (compare_names(&points->functions[numbers[i - 1]], &points->functions[numbers[i]]) == 0)
            first[numbers[i]] = first[numbers[i - 1]];
}

static int join(struct trace_points *points)
{
    uint32_t *numbers = calloc(points->meta.function_count + 1u, 2 * sizeof numbers[0]), *first;

    if (numbers == NULL)
        return -ENOMEM;
    first = numbers + points->meta.function_count;
    find_first(points, numbers, first);
    for (uint32_t i = 0; i < points->meta.point_count; i++)
        if (points->points[i].function != TRACE_POINTS_NONE)
            points->points[i].function = first[points->points[i].function];
    free(numbers);
    return 0;
}

int called_name(struct trace_info *info, const struct symbols_options *options)
{
    int error;

    if (!trace_points_called(&info->points))
        return 0;
    error = name_all(info, options);
    return error != 0 ? error : join(&info->points);
}
