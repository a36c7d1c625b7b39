/* Encodes the events of a run for the guest's CPU. */
#include "host/relay_cpu.h"

#include "host/events.h"

size_t relay_cpu_answer(const struct options *o, const struct run_message *question,
                        struct run_message answer[RELAY_CPU_ANSWER_MAX],
                        struct run_failure *failure)
{
    struct events_cpu cpu;
    size_t count = 0;

    events_cpu_from_guest(&cpu, question);
    for (size_t i = 0; i < o->event_count; i++) {
        struct events_encoding encoding;

        if (events_resolve(&cpu, o->events[i], &encoding, failure) != 0)
            return 0;
        if (encoding.companion != 0)
            answer[count++] =
                (struct run_message){RUN_HOST_EVENT_EXT, (uint32_t)i, encoding.companion};
        answer[count++] = (struct run_message){RUN_HOST_EVENT, (uint32_t)i, encoding.select};
    }
    answer[count++] = (struct run_message){RUN_HOST_EVENTS_END, 0, o->event_count};
    return count;
}
