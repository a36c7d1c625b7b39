/* Compares names of what is probed. */
#include "host/latency/latency_find.h"

#include <stdlib.h>
#include <string.h>

#include "host/symbols/symbols_demangle.h"

static bool is_named(const char *name, const char *wanted)
{
    size_t bytes = strlen(wanted);
    char *plain;
    bool same;

    if (strcmp(name, wanted) == 0)
        return true;
    plain = symbols_demangle(name);
    same = plain != NULL && strncmp(plain, wanted, bytes) == 0 &&
           (plain[bytes] == 0 || plain[bytes] == '(');
    free(plain);
    return same;
}

uint32_t latency_find(const struct trace_points *points, const char *name)
{
    for (uint32_t i = 0; i < points->meta.function_count; i++)
        if (points->functions[i].name != NULL && is_named(points->functions[i].name, name))
            return i;
    return TRACE_POINTS_NONE;
}

char *latency_find_label(const struct trace_points *points, uint32_t function)
{
    char room[24];
    const char *name = trace_points_name(points, function, room);
    char *plain = symbols_demangle(name);

    return plain != NULL ? plain : strdup(name);
}
