/* What users ask of a run from outside. */
#include "guest/service/service_asked.h"

#include <string.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cross.h"
#include "guest/cpu/entry.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/trace/marks.h"
#include "include/run_ports.h"

#define MARKS 16u /* that wait to be recorded */

struct text {
    uint32_t bytes;
    char bytes_of[RUN_TEXT_MAX];
};

static struct text coming; /* the host sends its parts */
static struct text marks[MARKS];
static uint32_t mark_head, mark_tail; /* written by the service and by the lock's holder; atomic */

static void take_text(const struct run_message *message)
{
    uint32_t bytes = message->flag;

    if (bytes > sizeof message->value || bytes > RUN_TEXT_MAX - coming.bytes)
        return;
    memcpy(coming.bytes_of + coming.bytes, &message->value, bytes);
    coming.bytes += bytes;
}

static void take_mark(void)
{
    uint32_t head = mark_head;

    if (coming.bytes == 0)
        return;
    if (head - __atomic_load_n(&mark_tail, __ATOMIC_ACQUIRE) == MARKS) {
        log_notice("marks from outside came too fast: one is not in the trace");
    } else {
        marks[head % MARKS] = coming;
        __atomic_store_n(&mark_head, head + 1, __ATOMIC_RELEASE);
    }
    coming.bytes = 0;
}

/* A CPU that waits in the kernel looks when it continues. */
static void call_all(bool poll)
{
    for (uint32_t i = 0; i < cpu_count; i++) {
        if (cpus[i].ring == NULL)
            continue;
        if (poll && cpus[i].thread != NULL)
            __atomic_store_n(&cpus[i].ask.polled, true, __ATOMIC_SEQ_CST);
        cross_call(&cpus[i]);
    }
}

void service_asked_take(const struct run_message *message)
{
    if (message->type == RUN_HOST_TEXT) {
        take_text(message);
        return;
    }
    if (!run_state.started)
        return;
    if (message->flag == RUN_ASK_START || message->flag == RUN_ASK_PAUSE)
        sampler_set_paused(message->flag == RUN_ASK_PAUSE);
    else if (message->flag == RUN_ASK_MARK)
        take_mark();
    call_all(message->flag == RUN_ASK_POLL && sampling.polls);
}

static bool any_mark(void)
{
    return mark_tail != __atomic_load_n(&mark_head, __ATOMIC_ACQUIRE);
}

bool service_asked_remind(const struct cpu *cpu)
{
    bool any = any_mark() || __atomic_load_n(&cpu->ask.polled, __ATOMIC_RELAXED);

    if (__builtin_expect(any, 0))
        cross_call(cpu);
    return any;
}

static void record_mark(struct cpu *cpu, uint64_t now, const struct text *text)
{
    int64_t number = marks_number(text->bytes_of, text->bytes);
    struct trace_slot *slot;

    if (number < 0)
        return;
    slot = sampler_record(cpu, HR_REC_MARK, now);
    slot->tid = 0;
    slot->counters[0] = (uint64_t)number;
    sampling.trigger->close(cpu);
}

void service_asked_follow(struct cpu *cpu, uint64_t now, uint64_t ip)
{
    if (__atomic_exchange_n(&cpu->ask.polled, false, __ATOMIC_SEQ_CST) && ip)
        sampling.trigger->poll(cpu, ip, 0);
    while (any_mark()) {
        record_mark(cpu, now, &marks[mark_tail % MARKS]);
        __atomic_store_n(&mark_tail, mark_tail + 1, __ATOMIC_RELEASE);
    }
}
