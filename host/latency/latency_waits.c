/* Sorts system calls by what a thread waits for in them. */
#include "host/latency/latency_waits.h"

#include <asm/unistd_64.h>
#include <linux/futex.h>
#include <string.h>

#include "lib/array.h"
#include "lib/program/syscall_names.h"

const char *const latency_waits_words[LATENCY_SPENT] = {
    "on CPU", "locks", "conditions", "joins", "I/O", "pages", "for a CPU", "sleep", "other waits",
};
const char *const latency_waits_names[LATENCY_SPENT] = {
    "on_cpu", "locks", "conditions", "joins", "io", "pages", "for_cpu", "sleep", "other",
};
const char *const latency_waits_after[LATENCY_SPENT] = {
    [LATENCY_LOCKS] = "for locks",
    [LATENCY_CONDITIONS] = "for conditions",
    [LATENCY_JOINS] = "for threads to end",
    [LATENCY_IO] = "for I/O",
    [LATENCY_PAGES] = "for pages of files",
    [LATENCY_READY] = "for a CPU",
    [LATENCY_SLEEP] = "asleep",
    [LATENCY_OTHER] = "for a child or a signal",
};

/* A wait in any other call is one for input, output or an event of a descriptor. */
static const struct {
    const char *name;
    enum latency_spent spent;
} calls[] = {
    {"futex", LATENCY_LOCKS},         {"futex_waitv", LATENCY_LOCKS},
    {"semop", LATENCY_LOCKS},         {"semtimedop", LATENCY_LOCKS},
    {"flock", LATENCY_LOCKS},         {"fcntl", LATENCY_LOCKS},
    {"nanosleep", LATENCY_SLEEP},     {"clock_nanosleep", LATENCY_SLEEP},
    {"sched_yield", LATENCY_READY},   {"wait4", LATENCY_OTHER},
    {"waitid", LATENCY_OTHER},        {"pause", LATENCY_OTHER},
    {"rt_sigsuspend", LATENCY_OTHER}, {"rt_sigtimedwait", LATENCY_OTHER},
    {"vfork", LATENCY_OTHER},         {"clone", LATENCY_OTHER},
    {"clone3", LATENCY_OTHER},        {"execve", LATENCY_OTHER},
};

enum latency_spent latency_waits_kind(uint32_t number)
{
    const char *name = syscall_name(number);

    for (size_t i = 0; name != NULL && i < ARRAY_COUNT(calls); i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].spent;
    return name != NULL ? LATENCY_IO : LATENCY_OTHER;
}

/* What functions that wait by futex wait for, whichever of its operations they use.  Names may have
 * more at their end, and underscores before them. */
static const struct {
    const char *name;
    enum latency_spent spent;
} functions[] = {
    {"pthread_mutex_", LATENCY_LOCKS},
    {"pthread_rwlock_", LATENCY_LOCKS},
    {"mtx_lock", LATENCY_LOCKS},
    {"mtx_timedlock", LATENCY_LOCKS},
    {"sem_wait", LATENCY_CONDITIONS},
    {"sem_timedwait", LATENCY_CONDITIONS},
    {"sem_clockwait", LATENCY_CONDITIONS},
    {"pthread_join", LATENCY_JOINS},
    {"pthread_barrier_wait", LATENCY_CONDITIONS},
    {"pthread_timedjoin", LATENCY_JOINS},
    {"pthread_clockjoin", LATENCY_JOINS},
    {"thrd_join", LATENCY_JOINS},
};

static enum latency_spent futex_kind(const struct hr_rec_wait *wait, const char *function)
{
    if (wait->joins != 0)
        return LATENCY_JOINS;
    for (; function != NULL && *function == '_'; function++)
        ;
    for (size_t i = 0; function != NULL && i < ARRAY_COUNT(functions); i++)
        if (strncmp(functions[i].name, function, strlen(functions[i].name)) == 0)
            return functions[i].spent;
    return wait->operation == FUTEX_WAIT || wait->operation == FUTEX_LOCK_PI ||
                   wait->operation == FUTEX_LOCK_PI2
               ? LATENCY_LOCKS
               : LATENCY_CONDITIONS;
}

enum latency_spent latency_waits_told(const struct hr_rec_wait *wait,
                                      const struct trace_points *points, uint32_t function)
{
    if (wait->number != __NR_futex)
        return latency_waits_kind(wait->number);
    return futex_kind(wait, function < points->meta.function_count && points->functions != NULL
                                ? points->functions[function].name
                                : NULL);
}

bool latency_waits_is_futex(const struct latency_wait *wait)
{
    return wait->number == __NR_futex;
}

bool latency_waits_is_held(const struct latency_wait *wait)
{
    return wait->spent == LATENCY_LOCKS && latency_waits_is_futex(wait);
}
