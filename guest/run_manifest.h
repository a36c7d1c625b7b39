/* Boot: fills the run's configuration from the manifest and from what the machine has. */
#ifndef GUEST_RUN_MANIFEST_H
#define GUEST_RUN_MANIFEST_H

/* Reads the manifest from the archive into run; panics with one line when it cannot. */
void run_read_manifest(void);

/* Whether software executes the program: after clock_find. */
void run_find_emulation(void);

/* Reads interval and events, and probes for counters; the clock is known and
 * run.pmu_caps.exact_instructions is set. */
void run_read_sampling(void);

/* Part of that: the events' names, and the counters that there are. */
void run_read_events(void);

/* Has the events encoded for this CPU, where it has counters: by the archive, if it is meant for
 * this CPU, or by the host.  0, or -errno; after a notice, unless the host is to say it. */
int run_encode_events(void);

/* Gives the events counters, once they are encoded.  0, or -errno after a notice. */
int run_assign_events(void);

/* On every workload CPU before the program starts: writes what starting the counters writes.  Where
 * that faults the run has a start error from then on, and no events, after a notice. */
void run_try_events(void);

#endif
