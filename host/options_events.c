/* Splits and checks the list of events of a run. */
#include <string.h>

#include "host/events.h"
#include "host/events_spec.h"
#include "host/options_events.h"

static int add_event(struct options *o, char *name, struct run_failure *failure)
{
    if (events_check(name, failure) != 0)
        return -1;
    if (o->event_count == HR_EVENTS_MAX)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "more than %d events; a sample holds %d, so measure the others in "
                        "another run",
                        HR_EVENTS_MAX, HR_EVENTS_MAX);
    for (size_t i = 0; i < o->event_count; i++)
        if (strcmp(o->events[i], name) == 0)
            return run_fail(failure, RUN_EXIT_FAILED, "event '%s' is listed twice", name);
    o->events[o->event_count++] = name;
    return 0;
}

int options_events_parse(struct options *o, const char *list, struct run_failure *failure)
{
    char *name = strdup(list);

    if (name == NULL)
        return run_fail(failure, RUN_EXIT_FAILED, "out of memory");
    o->event_count = 0;
    for (;;) {
        char *end = name + events_spec_length(name);
        bool last = *end == 0;

        *end = 0;
        if (add_event(o, name, failure) != 0)
            return -1;
        if (last)
            return 0;
        name = end + 1;
    }
}
