/* Parses lists of events. */
#include "host/options/options_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/events/events.h"
#include "host/events/events_preset.h"
#include "host/events/events_spec.h"

/* A bare name means the suffix :u. */
static size_t bytes_without_suffix(const char *name)
{
    size_t bytes = strlen(name);

    return bytes > 2 && strcmp(name + bytes - 2, ":u") == 0 ? bytes - 2 : bytes;
}

static bool same_event(const char *a, const char *b)
{
    size_t bytes = bytes_without_suffix(a);

    return bytes_without_suffix(b) == bytes && memcmp(a, b, bytes) == 0;
}

/* Takes ownership of the name if it returns 0. */
static int add_event(struct options *o, char *name, struct run_failure *failure)
{
    if (events_check(name, failure) != 0)
        return -1;
    if (o->events.count == HR_EVENTS_MAX)
        return run_fail(
            failure, "more than %d events; a sample holds %d, so measure the others in another run",
            HR_EVENTS_MAX, HR_EVENTS_MAX);
    for (size_t i = 0; i < o->events.count; i++)
        if (same_event(o->events.names[i], name))
            return run_fail(failure, "event '%s' is listed twice", name);
    o->events.names[o->events.count++] = name;
    return 0;
}

static int check_trigger(const struct options *o, struct run_failure *failure)
{
    if (o->mode == HR_MODE_OVERFLOW && o->events.count == 0)
        return run_fail(failure,
                        "-e none: overflow sampling needs an event that interrupts; name one");
    if (o->mode != HR_MODE_OVERFLOW || !events_is_register(o->events.names[0]))
        return 0;
    return run_fail(failure,
                    "event '%s' is a register and cannot interrupt; name a counter's event first, "
                    "such as -e instructions,%s",
                    o->events.names[0], o->events.names[0]);
}

static void note_group(struct options *o, const char *list)
{
    const char *group = strchr(list, '@');

    snprintf(o->events_group, sizeof o->events_group, "%.*s",
             group != NULL ? (int)strcspn(group, ",") : 0, group != NULL ? group : "");
}

int options_parse_events(struct options *o, const char *list, struct run_failure *failure)
{
    const char *cpu = o->target_cpu != NULL ? o->target_cpu : o->cpu;
    char *expanded = NULL;
    int result;

    o->events.count = 0;
    if (strcmp(list, "none") == 0)
        return check_trigger(o, failure);
    if (events_preset_expand(list, cpu, &expanded, failure) != 0)
        return -1;
    note_group(o, list);
    list = expanded;
    do {
        size_t bytes = events_spec_length(list);
        char *name = strndup(list, bytes);

        result = name != NULL ? add_event(o, name, failure)
                              : run_fail(failure, "out of memory; end other programs");
        if (result != 0)
            free(name);
        list += bytes;
    } while (result == 0 && *list++ != 0);
    free(expanded);
    return result == 0 ? check_trigger(o, failure) : -1;
}
