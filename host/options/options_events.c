/* Splits and checks the list of events of a run. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/events/events.h"
#include "host/events/events_spec.h"
#include "host/options/options_events.h"

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
        return run_fail(failure, RUN_EXIT_FAILED,
                        "more than %d events; a sample holds %d, so measure the others in "
                        "another run",
                        HR_EVENTS_MAX, HR_EVENTS_MAX);
    for (size_t i = 0; i < o->events.count; i++)
        if (same_event(o->events.names[i], name))
            return run_fail(failure, RUN_EXIT_FAILED, "event '%s' is listed twice", name);
    o->events.names[o->events.count++] = name;
    return 0;
}

static int check_trigger(const struct options *o, struct run_failure *failure)
{
    if (o->mode == HR_MODE_OVERFLOW && o->events.count == 0)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "-e none: overflow sampling needs an event that interrupts; name one");
    if (o->mode != HR_MODE_OVERFLOW || !events_is_register(o->events.names[0]))
        return 0;
    return run_fail(failure, RUN_EXIT_FAILED,
                    "event '%s' is a register and cannot interrupt; name a counter's event first, "
                    "such as -e instructions,%s",
                    o->events.names[0], o->events.names[0]);
}

int options_events_parse(struct options *o, const char *list, struct run_failure *failure)
{
    o->events.count = 0;
    if (strcmp(list, "none") == 0)
        return check_trigger(o, failure);
    for (;; list++) {
        size_t bytes = events_spec_length(list);
        char *name = strndup(list, bytes);

        if (name == NULL)
            return run_fail(failure, RUN_EXIT_FAILED, "out of memory");
        if (add_event(o, name, failure) != 0) {
            free(name);
            return -1;
        }
        list += bytes;
        if (*list == 0)
            return check_trigger(o, failure);
    }
}
