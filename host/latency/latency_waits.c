/* Sorts system calls by what a thread waits for in them. */
#include "host/latency/latency_waits.h"

#include <asm/unistd_64.h>
#include <linux/futex.h>
#include <string.h>

#include "lib/array.h"
#include "lib/syscall_names.h"

const char *const latency_waits_words[LATENCY_SPENT] = {
    "on CPU", "locks", "I/O", "for a CPU", "sleep", "other waits",
};
const char *const latency_waits_names[LATENCY_SPENT] = {
    "on_cpu", "locks", "io", "for_cpu", "sleep", "other",
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

bool latency_waits_is_futex(const struct latency_wait *wait)
{
    return wait->number == __NR_futex;
}

bool latency_waits_is_held(const struct latency_wait *wait)
{
    return latency_waits_is_futex(wait) &&
           (wait->operation == FUTEX_WAIT || wait->operation == FUTEX_LOCK_PI ||
            wait->operation == FUTEX_LOCK_PI2);
}
