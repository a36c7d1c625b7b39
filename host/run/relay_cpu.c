/* Tells the guest the encoding of a run's events for its CPU. */
#include "host/run/relay_cpu.h"

#include "host/events/events_run.h"

size_t relay_cpu_answer(const struct events_wanted *wanted, const struct run_message *question,
                        struct run_message answer[RELAY_CPU_ANSWER_MAX],
                        struct run_failure *failure)
{
    struct events_encoding encodings[HR_EVENTS_MAX];
    struct events_cpu cpu;
    size_t count = 0;

    events_cpu_from_guest(&cpu, question);
    if (events_run_encode(&cpu, wanted, encodings, failure) != 0)
        return 0;
    events_run_warn(&cpu, wanted, encodings);
    for (size_t i = 0; i < wanted->count; i++) {
        const struct events_encoding *e = &encodings[i];

        if (e->companion != 0)
            answer[count++] = (struct run_message){RUN_HOST_EVENT_EXT, (uint32_t)i, e->companion};
        if (e->counters != 0)
            answer[count++] =
                (struct run_message){RUN_HOST_EVENT_COUNTERS, (uint32_t)i, e->counters};
        answer[count++] = (struct run_message){RUN_HOST_EVENT, (uint32_t)i, e->select};
    }
    answer[count++] = (struct run_message){RUN_HOST_EVENTS_END, 0, wanted->count};
    return count;
}
