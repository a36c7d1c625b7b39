/* Boot: fills the run's configuration from the manifest and from what the machine has. */
#pragma once

/* Reads the manifest from the archive into `run`; panics with one line on failure. */
void run_read_manifest(void);

/* Finds out whether software executes the program.  Call after clock_find. */
void run_find_emulation(void);

/* Reads interval and events, and probes for counters.  The clock must be known and
 * run.pmu_caps.exact_instructions set. */
void run_read_sampling(void);

/* Part of run_read_sampling: reads the names of the events, and finds the counters. */
void run_read_events(void);

/* Encodes the events for this CPU, if it has counters: from the archive, if that is meant for this
 * CPU, or by asking the host.  Returns 0, or -errno after a notice, unless the host reports it. */
int run_encode_events(void);

/* Part of run_encode_events: takes the encodings that the archive has for this CPU.  Returns 0, or
 * -errno after a notice. */
int run_use_encodings(void);

/* Assigns counters to the encoded events.  Returns 0, or -errno after a notice. */
int run_assign_events(void);

/* Tries, on every workload CPU before the program starts, the writes that start the counters.  If
 * one faults, the run gets a start error and no events, after a notice. */
void run_try_events(void);
