/* Chooses the host CPUs that the guest's CPUs run on.
 *
 * The paths of /sys are below a root directory, "" for this machine; tests use other ones.
 */
#pragma once

#include <sched.h>

#include "host/base/cpu_list.h"
#include "host/base/run_failure.h"
#include "host/launch/launch_notes.h"

#define LAUNCH_PIN_MAX 72 /* guest CPUs: service, workload, interrupts */

struct launch_pin_host {
    const char *root;
    cpu_set_t present, online, isolated;
    cpu_set_t own; /* CPUs where this process may run by default */
    cpu_set_t refused; /* online CPUs that the system does not let us use */
};

struct launch_pin {
    int count; /* pinned guest CPUs; 0: none */
    int cpus[LAUNCH_PIN_MAX]; /* the host CPU of each */
    cpu_set_t others; /* for the emulator's other threads */
};

/* Reads the CPUs of the machine.  Returns 0, or -1 with the failure filled. */
int launch_pin_read_host(const char *root, struct launch_pin_host *host,
                         struct run_failure *failure);

/* Finds the CPUs that the system refuses: moves the calling thread there and back. */
void launch_pin_probe(const struct cpu_list *list, struct launch_pin_host *host);

/* Takes the first `needed` CPUs of the list; the remaining ones are for the emulator's other
 * threads.  Returns 0, or -1 with the failure filled. */
int launch_pin_plan(const struct cpu_list *list, int needed, const struct launch_pin_host *host,
                    struct launch_pin *pin, struct launch_notes *notes,
                    struct run_failure *failure);

/* Reads --pin.  Returns 0, or -1 with the failure filled. */
int launch_pin_parse(const char *text, struct cpu_list *list, struct run_failure *failure);

/* Lists the isolated CPUs that are online: the default of --pin. */
void launch_pin_isolated(const struct launch_pin_host *host, struct cpu_list *list);

/* Tries SCHED_FIFO on the calling thread and switches back.  Returns 0, or -1 with the failure
 * filled. */
int launch_pin_try_fifo(struct run_failure *failure);
