/* Chooses the host CPUs that the guest's CPUs run on.
 *
 * The paths of /sys are below a root directory, "" for this machine, so that tests have others.
 */
#ifndef HOST_LAUNCH_LAUNCH_PIN_H
#define HOST_LAUNCH_LAUNCH_PIN_H

#include <sched.h>
#include <stdbool.h>

#include "host/base/cpu_list.h"
#include "host/base/run_failure.h"
#include "host/launch/launch_notes.h"

#define LAUNCH_PIN_MAX                                                        \
    72 /* guest CPUs: the service CPU, the workload's, the one for interrupts \
        */

struct launch_pin_host {
    const char *root;
    cpu_set_t present, online, isolated;
    cpu_set_t own; /* where this process may run by default */
    cpu_set_t refused; /* CPUs that the system does not let us use, although they are online */
};

struct launch_pin {
    int count; /* guest CPUs that are pinned; 0: none is */
    int cpus[LAUNCH_PIN_MAX]; /* the host CPU of each */
    cpu_set_t others; /* host CPUs for the emulator's other threads */
};

/* Reads the machine.  0, or -1 with the failure filled. */
int launch_pin_read_host(const char *root, struct launch_pin_host *host,
                         struct run_failure *failure);

/* Finds out which of the CPUs the system refuses: moves the calling thread there and back. */
void launch_pin_probe(const struct cpu_list *list, struct launch_pin_host *host);

/* Takes the first `needed` CPUs of the list; the rest of it is for the emulator's other threads.
 * 0, or -1 with the failure filled.
 */
int launch_pin_plan(const struct cpu_list *list, int needed, const struct launch_pin_host *host,
                    struct launch_pin *pin, struct launch_notes *notes,
                    struct run_failure *failure);

/* Reads --pin.  0, or -1 with the failure filled. */
int launch_pin_parse(const char *text, struct cpu_list *list, struct run_failure *failure);

/* The isolated CPUs that are online, as a list: what to use when nobody said. */
void launch_pin_isolated(const struct launch_pin_host *host, struct cpu_list *list);

/* Tries SCHED_FIFO on the calling thread and goes back.  0, or -1 with the failure filled. */
int launch_pin_try_fifo(struct run_failure *failure);

#endif
