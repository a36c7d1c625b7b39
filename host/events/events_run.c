/* Encodes the events of a run, for the guest's CPU or for the one that an archive is meant for. */
#include "host/events/events_run.h"

#include <stdbool.h>

#include "host/base/error.h"
#include "host/events/events_constraints.h"

/* Returns whether an earlier event needs the register that `select` reads, with another value. */
static bool collides(const struct events_encoding *encodings, size_t count, uint64_t select,
                     uint64_t companion)
{
    for (size_t i = 0; i < count; i++)
        if (encodings[i].companion != 0 && encodings[i].companion != companion &&
            (encodings[i].select & 0xffff) == (select & 0xffff))
            return true;
    return false;
}

void events_run_settle(const struct events_cpu *cpu, struct events_encoding *encodings,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct events_encoding *e = &encodings[i];
        uint64_t other = e->companion != 0 ? events_constraints_alternative(cpu, e->select) : 0;

        if (other != 0 && collides(encodings, i, e->select, e->companion) &&
            !collides(encodings, i, other, e->companion))
            e->select = other;
        e->counters = events_constraints_counters(cpu, e->select);
    }
}

int events_run_encode(const struct events_cpu *cpu, const struct events_wanted *wanted,
                      struct events_encoding encodings[HR_EVENTS_MAX], struct run_failure *failure)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (events_resolve(cpu, wanted->names[i], &encodings[i], failure) != 0)
            return -1;
    events_run_settle(cpu, encodings, wanted->count);
    return 0;
}

void events_run_warn(const struct events_cpu *cpu, const struct events_wanted *wanted,
                     const struct events_encoding encodings[HR_EVENTS_MAX])
{
    char described[EVENTS_CPU_TEXT_BYTES];

    for (size_t i = 0; i < wanted->count && !wanted->quiet; i++) {
        const char *erratum = events_constraints_erratum(cpu, encodings[i].select);

        if (erratum != NULL)
            error_print("event %s on %s: %s", wanted->names[i], events_cpu_describe(cpu, described),
                        erratum);
    }
}
