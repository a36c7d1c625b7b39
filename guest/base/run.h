/* The run: what the manifest asks for, on which machine, with which counters.
 * Filled during boot, read-only afterwards except where noted.
 */
#ifndef GUEST_BASE_RUN_H
#define GUEST_BASE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/acpi/acpi.h"
#include "drivers/clock/clock.h"
#include "drivers/pmu/pmu.h"
#include "guest/thread/thread.h"
#include "include/boot_info.h"
#include "include/hr_format.h"
#include "lib/manifest.h"

struct run {
    struct boot_info *boot; /* boot->result: as the run goes on */
    struct manifest manifest;
    struct acpi_machine machine;
    struct clock_source clock;
    const struct pmu_driver *pmu;
    struct pmu_caps pmu_caps;
    struct pmu_session session;
    bool started; /* the trace is announced; until then a stop by the host waits */
    bool ending; /* a CPU ends the run; atomic */
    int start_error; /* the program cannot be started: -errno; 0 */
    uint32_t mode; /* enum hr_mode */
    bool exact; /* the emulator counts every instruction; mode is off */
    bool counts_kernel; /* a counter counts ring 0 */
    uint64_t interval_ticks; /* timer and IPI */
    uint64_t period; /* overflow: of the first event; session.period while the program runs */
    uint64_t frequency_hz; /* overflow: 0: the period is fixed */
    uint64_t wanted_ticks; /* overflow: between samples, when the period adapts; otherwise 0 */
    uint64_t period_min; /* overflow: what this machine can bear; measured */
    bool pmi_masks; /* overflow: a delivered interrupt masks the local APIC's entry */
    uint64_t overflow_mask; /* overflow: the range of the first event's counter */
    uint64_t share_factor; /* guest/sample/share.h; 0: sampling costs the program nothing */
    uint64_t spacing_ticks; /* between samples at least, by calibration */
    uint32_t max_overhead; /* percent of the time that sampling may take */
    uint32_t counters_rest; /* samples without counters after each that has them */
    bool follows; /* overflow: the period may change, or a share is kept: guest/sample/overflow.c */
    bool paused; /* the trigger rests: at first, then as the program says
                    (guest/syscall/syscall_hr.h) */
    struct hr_meta_stacks stacks; /* of samples; kind 0: none */
    uint32_t ring_slots; /* of each workload CPU */
    uint32_t wanted_cpus; /* workload CPUs; 0: shared mode */
    bool shared; /* one CPU is both service and workload CPU */
    bool emulated;
    uint32_t workload_cpus; /* that run the program; 1 in shared mode */
    struct hr_meta_calibration calibration;
    uint64_t start_unix_ns;
    uint64_t timeout_ns; /* of the program; 0: none */
    const uint8_t *input; /* the archive's stdin, where no host gives it */
    uint64_t input_bytes;
    uint64_t start_ticks; /* workload clock at the program's first instruction */
    struct process process;
};
extern struct run run;

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

/* The number by which the program knows a CPU: from 0. */
uint32_t run_program_cpu(uint32_t index);

uint64_t run_ticks_to_ns(uint64_t ticks);
uint64_t run_ns_to_ticks(uint64_t ns);

#endif
