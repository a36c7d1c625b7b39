/* What Linux's clock numbers mean here. */
#include "guest/thread/clocks.h"
#include "guest/base/context.h"
#include "guest/cpu/clock.h"
#include "guest/thread/process.h"
#include "guest/thread/wait.h"

#include <errno.h>
#include <linux/time.h>

#include "guest/base/run.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "lib/array.h"

#define TICKS_MAX (1ull << 62) /* timers beyond this never expire */

/* Numbers below 0 name the clocks of a process or thread: ~ID << 3, and these bits. */
#define OWN_WHICH 3 /* 0 and 2: user and system time */
#define OWN_USER 1 /* user time */
#define OWN_FILE 3
#define OWN_THREAD 4

static const struct clocks fixed[] = {
    [CLOCK_REALTIME] = {.kind = CLOCKS_REALTIME},
    [CLOCK_MONOTONIC] = {.kind = CLOCKS_MONOTONIC},
    [CLOCK_PROCESS_CPUTIME_ID] = {.kind = CLOCKS_PROCESS},
    [CLOCK_THREAD_CPUTIME_ID] = {.kind = CLOCKS_THREAD},
    [CLOCK_MONOTONIC_RAW] = {.kind = CLOCKS_MONOTONIC, .read_only = true},
    [CLOCK_REALTIME_COARSE] = {.kind = CLOCKS_REALTIME, .coarse = true, .read_only = true},
    [CLOCK_MONOTONIC_COARSE] = {.kind = CLOCKS_MONOTONIC, .coarse = true, .read_only = true},
    [CLOCK_BOOTTIME] = {.kind = CLOCKS_MONOTONIC},
    [CLOCK_REALTIME_ALARM] = {.kind = CLOCKS_REALTIME, .wakes = true},
    [CLOCK_BOOTTIME_ALARM] = {.kind = CLOCKS_MONOTONIC, .wakes = true},
    [CLOCK_TAI] = {.kind = CLOCKS_REALTIME}, /* UTC, as on a Linux without NTP */
};

struct clocks clocks_find(int32_t number)
{
    struct clocks clock = {.kind = CLOCKS_NONE};
    uint32_t id;

    if (number >= 0) {
        if ((uint32_t)number < ARRAY_COUNT(fixed))
            clock = fixed[number];
        return clock;
    }
    id = ~(uint32_t)(number >> 3);
    if ((number & OWN_WHICH) == OWN_FILE)
        return clock;
    if (number & OWN_THREAD) {
        if (!id || threads_find(id) != NULL)
            clock = (struct clocks){.kind = CLOCKS_THREAD, .id = id};
    } else if (!id || process_find(id) != NULL) {
        clock = (struct clocks){.kind = CLOCKS_PROCESS, .id = id};
    }
    clock.user_only = (number & OWN_WHICH) == OWN_USER;
    return clock;
}

static int read_thread(const struct thread *thread, const struct clocks *clock, uint64_t *ns)
{
    const struct thread *target = clock->id ? threads_find(clock->id) : thread;

    if (target == NULL)
        return -EINVAL;
    *ns = run_ticks_to_ns(clock->user_only ? schedule_thread_user_ticks(target)
                                           : schedule_thread_ticks(target));
    return 0;
}

static int read_process(const struct thread *thread, const struct clocks *clock, uint64_t *ns)
{
    const struct process *target = clock->id ? process_find(clock->id) : thread->process;

    if (target == NULL)
        return -EINVAL;
    *ns = run_ticks_to_ns(clock->user_only ? schedule_process_user_ticks(target)
                                           : schedule_process_ticks(target));
    return 0;
}

int clocks_read(const struct thread *thread, const struct clocks *clock, uint64_t *ns)
{
    switch (clock->kind) {
    case CLOCKS_MONOTONIC:
        *ns = clock_monotonic_ns();
        return 0;
    case CLOCKS_REALTIME:
        *ns = clock_realtime_ns();
        return 0;
    case CLOCKS_PROCESS:
        return read_process(thread, clock, ns);
    case CLOCKS_THREAD:
        return read_thread(thread, clock, ns);
    default:
        return -EINVAL;
    }
}

uint64_t clocks_ticks(const struct clocks *clock, uint64_t ns)
{
    uint64_t ticks;

    if (clock->kind == CLOCKS_REALTIME)
        ns = ns > run.start_unix_ns ? ns - run.start_unix_ns : 0;
    if (ns >= TICKS_MAX)
        return UINT64_MAX;
    ticks = run_ns_to_ticks(ns);
    if (run_ticks_to_ns(ticks) < ns)
        ticks++;
    return ticks < TICKS_MAX ? run.start_ticks + ticks : UINT64_MAX;
}

uint64_t clocks_sleep(uint64_t ns)
{
    struct thread *thread = cpu_this()->thread;
    uint64_t ticks = run_ns_to_ticks(ns < CPU_NEVER ? ns : CPU_NEVER), now;
    uint64_t start = clock_now(cpu_this());
    uint64_t until = start < CPU_NEVER && ticks < CPU_NEVER - start ? start + ticks : CPU_NEVER;

    context_assert_thread();
    if (!wait_asleep(thread, until))
        return 0;
    now = clock_now(cpu_this());
    if (until == CPU_NEVER)
        return ns - run_ticks_to_ns(now - start);
    until = thread->wait.restart_until;
    return now < until ? run_ticks_to_ns(until - now) : 0;
}

uint64_t clocks_process_ns(const struct process *process)
{
    return run_ticks_to_ns(schedule_process_ticks(process));
}
