/* The counter driver for machines without a PMU: instructions from virtual time where that is
 * exact, and everything else as fixed ratios of it (lib/events.c), marked as stubs.
 */
#include <errno.h>
#include <string.h>

#include "drivers/pmu/pmu.h"
#include "lib/events.h"
#include "lib/muldiv.h"

static bool stub_probe(struct pmu_caps *caps)
{
    caps->general_counters = HR_EVENTS_MAX;
    caps->fixed_counters = 0;
    caps->width_bits = 64;
    return true;
}

static int stub_resolve(const struct pmu_caps *caps, struct pmu_event *event)
{
    const char *colon = strchr(event->name, ':');
    size_t bytes = colon ? (size_t)(colon - event->name) : strlen(event->name);
    const struct event_info *info = events_find(event->name, bytes);

    if (!info)
        return -ENOENT;
    if (colon && strcmp(colon, ":u") != 0)
        return -EINVAL;
    bool instructions = info->stub_numerator == info->stub_denominator &&
                        strcmp(info->name, "instructions") == 0;
    event->encoding = 0;
    event->encoding_ext = 0;
    event->flags = HR_EVENT_USER;
    event->source = instructions && caps->exact_instructions ? HR_SOURCE_ICOUNT : HR_SOURCE_STUB;
    event->width_bits = 64;
    event->numerator = info->stub_numerator;
    event->denominator = info->stub_denominator;
    return 0;
}

static void stub_nothing(const struct pmu_session *session)
{
    (void)session;
}

static void stub_read(const struct pmu_session *session, uint64_t user_instructions,
                      uint64_t *values)
{
    const struct pmu_event *event = session->events;
    const struct pmu_event *end = event + session->event_count;

    for (; event != end; event++)
        pmu_store(values++, muldiv(user_instructions, event->numerator, event->denominator));
}

const struct pmu_driver pmu_stub = {
    .name = "stub",
    .probe = stub_probe,
    .resolve = stub_resolve,
    .start = stub_nothing,
    .stop = stub_nothing,
    .read = stub_read,
};
