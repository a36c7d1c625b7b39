/* Checks and plans the pinning of the guest's CPUs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host/launch/launch_pin.h"

#define LIST_BYTES 128 /* of a list of CPUs in a message */

int launch_pin_read_host(const char *root, struct launch_pin_host *host,
                         struct run_failure *failure)
{
    const struct {
        const char *name;
        cpu_set_t *set;
        bool optional;
    } files[] = {
        {"online", &host->online, false},
        {"present", &host->present, true},
        {"isolated", &host->isolated, true},
    };

    host->root = root;
    CPU_ZERO(&host->refused);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[PATH_MAX];
        int result;

        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/%s", root, files[i].name);
        result = cpu_list_read(path, files[i].set);
        if (result != 0 && !files[i].optional)
            return run_fail(failure, "--pin: cannot read %s: %s", path, strerror(-result));
    }
    if (sched_getaffinity(0, sizeof host->own, &host->own) != 0)
        host->own = host->online;
    return 0;
}

/* The affinity of this process does not tell: it lacks isolated CPUs, which may be used. */
void launch_pin_probe(const struct cpu_list *list, struct launch_pin_host *host)
{
    for (size_t i = 0; i < list->count; i++) {
        cpu_set_t one;

        CPU_ZERO(&one);
        CPU_SET(list->cpus[i], &one);
        if (CPU_ISSET(list->cpus[i], &host->online) && sched_setaffinity(0, sizeof one, &one) != 0)
            CPU_SET(list->cpus[i], &host->refused);
    }
    (void)sched_setaffinity(0, sizeof host->own, &host->own);
}

int launch_pin_parse(const char *text, struct cpu_list *list, struct run_failure *failure)
{
    int result = cpu_list_parse(text, list);

    if (result == 0 && list->count != 0)
        return 0;
    if (result == -EEXIST)
        return run_fail(
            failure,
            "--pin %s: a CPU is named twice; name a different one for each of the guest's CPUs",
            text);
    if (result == -ERANGE)
        return run_fail(failure, "--pin %s: CPU numbers end at %d", text, CPU_SETSIZE - 1);
    return run_fail(failure, "--pin %s: not a list of CPUs; write 2-5,8", text);
}

static int check_cpu(int cpu, const struct launch_pin_host *host, struct run_failure *failure)
{
    char list[LIST_BYTES];

    if (!CPU_ISSET(cpu, &host->online) && CPU_ISSET(cpu, &host->present))
        return run_fail(failure,
                        "--pin: CPU %d is offline; switch it on with 'echo 1 > "
                        "/sys/devices/system/cpu/cpu%d/online', or choose from %s",
                        cpu, cpu, cpu_list_format(&host->online, list, sizeof list));
    if (!CPU_ISSET(cpu, &host->online))
        return run_fail(failure, "--pin: this machine has no CPU %d; choose from %s", cpu,
                        cpu_list_format(&host->online, list, sizeof list));
    if (CPU_ISSET(cpu, &host->refused))
        return run_fail(failure,
                        "--pin: this process may not use CPU %d; choose from %s, or run outside "
                        "its cpuset (container)",
                        cpu, cpu_list_format(&host->own, list, sizeof list));
    return 0;
}

static bool are_siblings(const struct launch_pin_host *host, int cpu, int other)
{
    char path[PATH_MAX];
    cpu_set_t siblings;

    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             host->root, cpu);
    return cpu_list_read(path, &siblings) == 0 && CPU_ISSET(other, &siblings);
}

static void warn_of_siblings(const struct launch_pin *pin, const struct launch_pin_host *host,
                             struct launch_notes *notes)
{
    for (int i = 0; i < pin->count; i++)
        for (int j = i + 1; j < pin->count; j++)
            if (are_siblings(host, pin->cpus[i], pin->cpus[j])) {
                launch_warn(notes,
                            "--pin: CPUs %d and %d are threads of one core and disturb each other; "
                            "choose CPUs of different cores",
                            pin->cpus[i], pin->cpus[j]);
                return;
            }
}

static void warn_of_company(const struct launch_pin *pin, const struct launch_pin_host *host,
                            struct launch_notes *notes)
{
    char list[LIST_BYTES];
    cpu_set_t shared;
    bool several;

    CPU_ZERO(&shared);
    for (int i = 0; i < pin->count; i++)
        if (!CPU_ISSET(pin->cpus[i], &host->isolated))
            CPU_SET(pin->cpus[i], &shared);
    if (CPU_COUNT(&shared) == 0)
        return;
    cpu_list_format(&shared, list, sizeof list);
    several = CPU_COUNT(&shared) > 1;

    launch_warn(notes,
                "--pin: CPU%s %s %s not isolated, other processes run there, too; boot the host "
                "with isolcpus=%s nohz_full=%s",
                several ? "s" : "", list, several ? "are" : "is", list, list);
}

/* Never an empty set: without other CPUs the other threads share those of the guest. */
static void choose_others(const struct cpu_list *list, const struct launch_pin_host *host,
                          struct launch_pin *pin)
{
    CPU_ZERO(&pin->others);
    for (size_t i = (size_t)pin->count; i < list->count; i++)
        CPU_SET(list->cpus[i], &pin->others);
    if (CPU_COUNT(&pin->others) != 0)
        return;
    CPU_AND(&pin->others, &host->own, &host->online);
    for (int i = 0; i < pin->count; i++)
        CPU_CLR(pin->cpus[i], &pin->others);
    if (CPU_COUNT(&pin->others) == 0)
        pin->others = host->own;
}

int launch_pin_plan(const struct cpu_list *list, int needed, const struct launch_pin_host *host,
                    struct launch_pin *pin, struct launch_notes *notes, struct run_failure *failure)
{
    pin->count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (check_cpu(list->cpus[i], host, failure) != 0)
            return -1;
    if (needed > LAUNCH_PIN_MAX || list->count < (size_t)needed)
        return run_fail(failure,
                        "--pin: %zu host CPU%s for the guest's %d; name one for each, or give the "
                        "guest fewer with --cpus",
                        list->count, list->count == 1 ? "" : "s", needed);
    pin->count = needed;
    for (int i = 0; i < needed; i++)
        pin->cpus[i] = list->cpus[i];
    choose_others(list, host, pin);
    warn_of_siblings(pin, host, notes);
    warn_of_company(pin, host, notes);
    return 0;
}

void launch_pin_isolated(const struct launch_pin_host *host, struct cpu_list *list)
{
    list->count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &host->isolated) && CPU_ISSET(cpu, &host->online) &&
            !CPU_ISSET(cpu, &host->refused))
            list->cpus[list->count++] = cpu;
}

int launch_pin_try_fifo(struct run_failure *failure)
{
    const struct sched_param real_time = {.sched_priority = 1};
    const struct sched_param ordinary = {.sched_priority = 0};

    if (sched_setscheduler(0, SCHED_FIFO, &real_time) != 0)
        return run_fail(failure,
                        "--fifo: SCHED_FIFO: %s; allow it with 'ulimit -r 1' "
                        "(/etc/security/limits.conf: rtprio), or leave the option out",
                        strerror(errno));
    (void)sched_setscheduler(0, SCHED_OTHER, &ordinary);
    return 0;
}
