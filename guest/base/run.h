/* The run: what the manifest asks for, on which machine, with which counters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/acpi/acpi.h"
#include "drivers/clock/clock.h"
#include "drivers/pmu/pmu.h"
#include "include/boot_info.h"
#include "include/hr_format.h"
#include "lib/boot/manifest.h"

struct run_asked { /* of the sampler; what it does is in guest/sample/sampling.h */
    uint32_t mode; /* enum hr_mode */
    uint64_t interval_ticks; /* timer and IPI */
    uint64_t period; /* overflow: events between samples; the first period if it adapts */
    uint64_t frequency_hz; /* overflow: samples a second; 0: the period is fixed */
    uint64_t wanted_ticks; /* overflow: between samples, when the period adapts; otherwise 0 */
    uint32_t max_overhead; /* percent of the time that sampling may take */
    uint32_t counters_rest; /* samples without counters after each that has them */
    bool paused; /* the trigger starts when the program says so */
};

struct run_config {
    struct boot_info *boot; /* its result is written when the run ends */
    struct manifest manifest;
    struct manifest events; /* the part of it that names the events of this run */
    char hostname[65]; /* this and the next: of the manifest, whose length is not to take time */
    uint64_t terminals; /* bit N: stream N is the command's terminal */
    uint64_t rows, columns; /* of that */
    struct acpi_machine machine;
    struct clock_source clock;
    const struct pmu_driver *pmu;
    struct pmu_caps pmu_caps;
    struct run_asked asked;
    int start_error; /* why the program cannot be started: -errno; 0: it can */
    bool exact; /* the emulator counts every instruction; mode is off */
    bool latency; /* hooks of the program's functions record calls; mode is off */
    bool counts_kernel; /* a counter counts ring 0 */
    struct hr_meta_stacks stacks; /* of samples; kind 0: none */
    bool waits; /* the trace says where threads begin to wait */
    bool allocations; /* the trace has calls of allocators, and mappings */
    uint64_t alloc_min; /* bytes: smaller allocations are left out */
    uint64_t alloc_every; /* of the others, every Nth of a thread is recorded */
    uint64_t pages_ticks; /* between two looks at the page tables; 0: there are none */
    uint32_t ring_slots; /* of each workload CPU */
    uint32_t wanted_cpus; /* workload CPUs; 0: shared mode */
    bool shared; /* one CPU is both service and workload CPU */
    bool emulated;
    uint32_t workload_cpus; /* that run the program; 1 in shared mode */
    uint64_t start_unix_ns;
    uint64_t timeout_ns; /* of the program; 0: none */
    uint64_t duration_ns; /* after which the program is asked to end; 0: never */
    const uint8_t *input; /* the archive's stdin, where no host gives it */
    uint64_t input_bytes;
    uint64_t start_ticks; /* workload clock at the program's first instruction */
    uint64_t kernel_bytes; /* physical memory that was in use before the program had any */
};

/* Written during boot only: from the program's first instruction on, its page is read-only. */
extern struct run_config run;

/* What a system call looks at in one go when it ends: most find nothing. */
union run_after_call {
    struct {
        bool always; /* in this run: several CPUs, NMIs that sample, or records of allocations */
        bool mapped; /* something that ring 3 can execute was mapped since the last probe_look */
        bool paused; /* sampler_paused was set, so a CPU may have to follow */
        bool stopped; /* stop_signal is set */
    };
    uint64_t any;
};

struct run_state {
    union run_after_call after_call; /* other CPUs write bytes of it */
    bool started; /* the trace has started; until then a stop by the host waits */
    bool ending; /* a CPU ends the run; atomic */
    volatile uint32_t stop_signal; /* the host asked for the end of the run; 0: it did not */
    volatile uint32_t stop_is_timeout;
    volatile uint32_t broken_streams; /* bit N: stream N has no reader (RUN_HOST_BROKEN) */
};
extern struct run_state run_state;

/* Returns the number by which the program knows a CPU, from 0. */
uint32_t run_program_cpu(uint32_t index);

uint64_t run_ticks_to_ns(uint64_t ticks);
uint64_t run_ns_to_ticks(uint64_t ns);
