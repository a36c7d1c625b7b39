/* Pins the emulator's threads. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/launch/launch_place.h"
#include "host/launch/launch_qmp.h"

#define LIMIT_MS 60000 /* for all answers together; a busy machine starts an emulator slowly */
#define END_MS 5000

/* A thread may end while it is moved: that is not an error. */
static int move(pid_t thread, const cpu_set_t *cpus, struct run_failure *failure)
{
    if (sched_setaffinity(thread, sizeof *cpus, cpus) == 0 || errno == ESRCH)
        return 0;
    return run_fail(failure, "--pin: cannot move a thread of the emulator: %s", strerror(errno));
}

/* Moves every thread that is not a CPU of the guest; threads that these start later inherit it. */
static int move_others(const pid_t *threads, int count, const cpu_set_t *cpus,
                       struct run_failure *failure)
{
    char path[64];
    struct dirent *entry;
    DIR *tasks;
    int result = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)threads[0]);
    tasks = opendir(path);
    if (tasks == NULL)
        return 0; /* it has ended */
    while (result == 0 && (entry = readdir(tasks)) != NULL) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        bool is_cpu = thread <= 0;

        for (int i = 0; i < count; i++)
            is_cpu |= threads[i] == thread;
        if (!is_cpu)
            result = move(thread, cpus, failure);
    }
    closedir(tasks);
    return result;
}

static int place_cpu(pid_t thread, int guest_cpu, const struct launch_machine *machine,
                     struct run_failure *failure)
{
    const struct sched_param priority = {.sched_priority = 1};

    if (machine->pin.count != 0) {
        cpu_set_t one;

        CPU_ZERO(&one);
        CPU_SET(machine->pin.cpus[guest_cpu], &one);
        if (move(thread, &one, failure) != 0)
            return -1;
    }
    if (machine->fifo && sched_setscheduler(thread, SCHED_FIFO, &priority) != 0 && errno != ESRCH)
        return run_fail(failure, "--fifo: SCHED_FIFO: %s", strerror(errno));
    return 0;
}

/* Goes backwards: if several CPUs share one thread, it ends up at the first CPU's place. */
static int place_threads(const struct launch *launch, const struct launch_machine *machine,
                         const pid_t *threads, struct run_failure *failure)
{
    for (int i = machine->guest_cpus - 1; i >= 0; i--) {
        if (getsid(threads[i]) != launch->pid) /* the session that it was started in */
            return run_fail(failure,
                            "QEMU names a thread that is not its own (%d); is --qemu an emulator?",
                            (int)threads[i]);
        if (place_cpu(threads[i], i, machine, failure) != 0)
            return -1;
    }
    if (machine->pin.count == 0)
        return 0;
    return move_others(threads, machine->guest_cpus, &machine->pin.others, failure);
}

/* An emulator that has closed its control socket has ended or is about to; its end tells why. */
static int await_end(const struct launch *launch, struct run_failure *failure)
{
    struct pollfd end = {.fd = launch->pidfd, .events = POLLIN};

    if (poll(&end, 1, END_MS) != 0)
        return 0;
    return run_fail(failure, "QEMU closed its control socket (QMP), which --pin and --fifo need, "
                             "and still runs; is --qemu an emulator?");
}

int launch_place(struct launch *launch, const struct launch_machine *machine,
                 struct run_failure *failure)
{
    static struct launch_qmp qmp;
    pid_t threads[LAUNCH_PIN_MAX];
    int result;

    if (!launch_is_placed(machine))
        return 0;
    result = launch_qmp_open(&qmp, launch->qmp, LIMIT_MS, failure);
    if (result == 0)
        result = launch_qmp_threads(&qmp, threads, machine->guest_cpus, failure);
    if (result == 0)
        result = place_threads(launch, machine, threads, failure);
    if (result == 0)
        result = launch_qmp_continue(&qmp, failure);
    return result == LAUNCH_QMP_GONE ? await_end(launch, failure) : result;
}
