/* Splits and checks the list of events of a run. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "host/options_events.h"
#include "lib/events.h"

#define NEAREST_COUNT 3
#define NAME_BYTES_MAX 48

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein distance without regard to case. */
static size_t distance(const char *a, size_t a_bytes, const char *b)
{
    size_t row[NAME_BYTES_MAX + 1];
    size_t b_bytes = least(strlen(b), NAME_BYTES_MAX);

    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 0; i < a_bytes; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < b_bytes; j++) {
            size_t changed =
                diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));

            diagonal = row[j + 1];
            row[j + 1] = least(changed, least(diagonal, row[j]) + 1);
        }
    }
    return row[b_bytes];
}

/* Appends the known names that look most like `name`. */
static void append_nearest(char *out, size_t room, const char *name, size_t bytes)
{
    const struct event_info *nearest[NEAREST_COUNT] = {NULL};
    size_t distances[NEAREST_COUNT] = {0};
    size_t used = strlen(out);

    for (const struct event_info *e = events_table; e->name != NULL; e++) {
        size_t d = distance(name, bytes, e->name);
        size_t place = NEAREST_COUNT;

        while (place > 0 && (nearest[place - 1] == NULL || d < distances[place - 1]))
            place--;
        if (place == NEAREST_COUNT)
            continue;
        for (size_t i = NEAREST_COUNT - 1; i > place; i--) {
            nearest[i] = nearest[i - 1];
            distances[i] = distances[i - 1];
        }
        nearest[place] = e;
        distances[place] = d;
    }
    for (size_t i = 0; i < NEAREST_COUNT && nearest[i] != NULL && used < room; i++)
        used +=
            (size_t)snprintf(out + used, room - used, "%s%s", i == 0 ? "" : ", ", nearest[i]->name);
}

static bool looks_raw(const char *name, size_t bytes)
{
    return bytes > 1 && name[0] == 'r' && strspn(name + 1, "0123456789abcdefABCDEF") >= bytes - 1;
}

static int check_event(const char *name, struct run_failure *failure)
{
    size_t bytes = strcspn(name, ":");
    const char *suffix = name[bytes] == ':' ? name + bytes + 1 : "u";
    char nearest[256] = "";

    if (events_find(name, bytes) == NULL) {
        if (looks_raw(name, bytes))
            return run_fail(failure, RUN_EXIT_FAILED,
                            "event '%s': raw events need a performance counter, and this version "
                            "drives none yet; use named events",
                            name);
        append_nearest(nearest, sizeof nearest, name, least(bytes, NAME_BYTES_MAX));
        return run_fail(failure, RUN_EXIT_FAILED, "unknown event '%s'; the nearest known: %s", name,
                        nearest);
    }
    if (strchr(suffix, 'k') != NULL)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "event '%s': kernel code cannot be counted without a performance counter "
                        "(emulation counts the program only); use :u",
                        name);
    if (strcmp(suffix, "u") != 0)
        return run_fail(failure, RUN_EXIT_FAILED, "event '%s': unknown suffix ':%s'; use :u", name,
                        suffix);
    return 0;
}

/* The suffix :u is what a bare name means. */
static bool same_event(const char *a, const char *b)
{
    size_t bytes = strcspn(a, ":");

    return strcspn(b, ":") == bytes && memcmp(a, b, bytes) == 0;
}

int options_events_parse(struct options *o, const char *list, struct run_failure *failure)
{
    char *copy = strdup(list);
    char *rest = copy;
    char *name;

    if (copy == NULL)
        return run_fail(failure, RUN_EXIT_FAILED, "out of memory");
    o->event_count = 0;
    while ((name = strsep(&rest, ",")) != NULL) {
        if (check_event(name, failure) != 0)
            return -1;
        if (o->event_count == HR_EVENTS_MAX)
            return run_fail(failure, RUN_EXIT_FAILED,
                            "more than %d events; a sample holds %d, so measure the others in "
                            "another run",
                            HR_EVENTS_MAX, HR_EVENTS_MAX);
        for (size_t i = 0; i < o->event_count; i++)
            if (same_event(o->events[i], name))
                return run_fail(failure, RUN_EXIT_FAILED, "event '%s' is listed twice", name);
        o->events[o->event_count++] = name;
    }
    return 0;
}
