/* The counter driver for machines without a PMU: instructions from virtual time where that is
 * exact, and everything else as fixed ratios of it (lib/pmu/events.c), marked as stubs.
 */
#include <errno.h>
#include <string.h>

#include "drivers/pmu/pmu.h"
#include "lib/muldiv.h"
#include "lib/pmu/events.h"

static bool stub_probe(struct pmu_caps *caps)
{
    caps->general_counters = HR_EVENTS_MAX;
    caps->general_bits = 64;
    return true;
}

/* Of the event's name without its modifier. */
static size_t name_bytes(const char *name)
{
    const char *colon = strchr(name, ':');

    return colon != NULL ? (size_t)(colon - name) : strlen(name);
}

static int stub_resolve(const struct pmu_caps *caps, struct pmu_event *event)
{
    size_t bytes = name_bytes(event->name);
    const struct event_info *info = events_find(event->name, bytes);
    bool instructions;

    if (info == NULL)
        return -ENOENT;
    if (event->name[bytes] && strcmp(event->name + bytes, ":u") != 0)
        return -EINVAL;
    instructions =
        info->stub_numerator == info->stub_denominator && strcmp(info->name, "instructions") == 0;
    event->encoding = 0;
    event->encoding_ext = 0;
    event->flags = HR_EVENT_USER;
    event->source = instructions && caps->exact_instructions ? HR_SOURCE_ICOUNT : HR_SOURCE_STUB;
    event->width_bits = 64;
    return 0;
}

static int stub_assign(const struct pmu_caps *caps, struct pmu_session *session,
                       struct pmu_refusal *refusal)
{
    for (uint32_t i = 0; i < session->event_count; i++) {
        int status = stub_resolve(caps, &session->events[i]);
        if (status) {
            refusal->event = i;
            return status;
        }
    }
    return 0;
}

/* The session's ratios, by event: a sample reads two words an event. */
static uint64_t numerators[HR_EVENTS_MAX];
static uint64_t denominators[HR_EVENTS_MAX];

static int stub_start(const struct pmu_session *session)
{
    for (uint32_t i = 0; i < session->event_count; i++) {
        const char *name = session->events[i].name;
        const struct event_info *info = events_find(name, name_bytes(name));
        numerators[i] = info->stub_numerator;
        denominators[i] = info->stub_denominator;
    }
    return 0;
}

/* There is nothing to stop: the counts follow the program's own ticks. */
static void stub_rest(const struct pmu_session *)
{
}

static void stub_read(const struct pmu_session *session, uint64_t user_instructions,
                      uint64_t *values)
{
#define READ(i) pmu_store(&values[i], muldiv(user_instructions, numerators[i], denominators[i]))
    PMU_READ_UNROLLED(session->event_count, READ)
#undef READ
}

const struct pmu_driver pmu_stub = {
    .name = "stub",
    .probe = stub_probe,
    .assign = stub_assign,
    .start = stub_start,
    .stop = stub_rest,
    .read = stub_read,
    .pause = stub_rest,
    .resume = stub_rest,
};
