/* A timer's setting in the program's memory. */
#include <errno.h>

#include "guest/signal/program_timer.h"
#include "guest/signal/program_timer_math.h"
#include "guest/vm/uaccess.h"

struct spec { /* struct itimerspec, struct itimerval: interval, then value */
    struct {
        int64_t seconds;
        int64_t part;
    } interval, value;
};

static uint64_t to_ns(int64_t seconds, int64_t part, uint64_t unit_ns)
{
    uint64_t ns;

    if (__builtin_mul_overflow((uint64_t)seconds, NS_PER_SECOND, &ns) ||
        __builtin_add_overflow(ns, (uint64_t)part * unit_ns, &ns) || ns > PROGRAM_TIMER_NS_MAX)
        return PROGRAM_TIMER_NS_MAX;
    return ns;
}

int program_timer_read(uint64_t user, uint64_t unit_ns, struct program_timer_setting *setting)
{
    const int64_t units = (int64_t)(NS_PER_SECOND / unit_ns);
    struct spec s;

    if (copy_from_user(&s, user, sizeof s) != 0)
        return -EFAULT;
    if (s.interval.seconds < 0 || s.interval.part < 0 || s.interval.part >= units ||
        s.value.seconds < 0 || s.value.part < 0 || s.value.part >= units)
        return -EINVAL;
    setting->interval = to_ns(s.interval.seconds, s.interval.part, unit_ns);
    setting->value = to_ns(s.value.seconds, s.value.part, unit_ns);
    return 0;
}

int program_timer_write(uint64_t user, uint64_t unit_ns,
                        const struct program_timer_setting *setting)
{
    uint64_t value = setting->value;
    struct spec s;

    if (value && value < unit_ns)
        value = unit_ns;
    s = (struct spec){
        .interval = {(int64_t)(setting->interval / NS_PER_SECOND),
                     (int64_t)(setting->interval % NS_PER_SECOND / unit_ns)},
        .value = {(int64_t)(value / NS_PER_SECOND), (int64_t)(value % NS_PER_SECOND / unit_ns)},
    };
    return copy_to_user(user, &s, sizeof s);
}
