/* The options of a run, parsed and checked, for `hr run`, `hr pack` and `hr usb`.
 *
 * Strings and lists point into argv or are owned by the struct, which lives as long as the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/events/events.h"
#include "include/hr_format.h"
#include "include/run_network.h"

#define OPTIONS_CPUS_AUTO (-1)
#define OPTIONS_CPUS_MAX 64
#define OPTIONS_PROCESSES_MAX 8000
#define OPTIONS_REPEAT_MAX 100000u
#define OPTIONS_INTERVAL_MIN_NS 500ull
#define OPTIONS_PAGES_MIN_NS 10000u /* --pages */
#define OPTIONS_INTERVAL_DEFAULT_NS 10000ull
#define OPTIONS_MEMORY_MIN_BYTES (32ull << 20)
#define OPTIONS_MEMORY_DEFAULT_BYTES (1ull << 30)

enum options_accel { OPTIONS_ACCEL_AUTO, OPTIONS_ACCEL_KVM, OPTIONS_ACCEL_TCG };

struct options_list {
    const char **items;
    size_t count;
};

struct options_published { /* a port of the guest's that clients of the host reach */
    bool udp;
    bool v6;
    char address[48]; /* of the host, in figures */
    uint16_t host_port; /* 0: any that is free */
    uint16_t guest_port;
};

struct options {
    bool packing; /* only an archive is wanted */
    bool unattended; /* it runs unattended, without a terminal */
    const char *output; /* hr.bin, or the archive for hr pack */
    bool force; /* output may replace a file of any kind */
    struct events_wanted events;
    bool default_events; /* the user named none */
    char events_group[32]; /* the first group among the events; "" if there was none */
    enum hr_mode mode;
    uint64_t interval_ns; /* timer and IPI; while options are parsed, 0: not given */
    uint64_t period; /* overflow: events between samples; 0: adapted to frequency_hz.  PEBS:
                        events of each precise one between records */
    bool precise[HR_EVENTS_MAX]; /* PEBS: the events with records; the others only count */
    bool jitter; /* PEBS: periods are random around `period` */
    bool registers; /* PEBS: records have registers */
    uint64_t load_latency; /* PEBS: cycles that a load takes at least; 0: any */
    uint64_t frequency_hz; /* overflow: samples a second; 0: the period is fixed */
    struct hr_meta_stacks stacks; /* call stacks of samples; kind 0: none */
    uint32_t max_overhead; /* percent of the time that sampling may take: 1 to 90 */
    uint32_t counters_every; /* counters are read with every Nth sample; at least 1 */
    struct options_list probes; /* specifications (host/probe/probe_spec.h) */
    uint32_t probe_arguments; /* values that each hit keeps */
    uint32_t probe_every; /* 0: hits are recorded; N: every Nth becomes a sample instead */
    bool alloc; /* calls of allocators are recorded: */
    uint64_t alloc_min; /* of so many bytes and more */
    uint32_t alloc_every; /* every Nth of a thread; 0: all */
    struct options_list alloc_libraries; /* that may have more allocators */
    bool probe_stack; /* each entry becomes a sample, too */
    bool waits; /* the trace says where threads begin to wait */
    uint64_t pages_ns; /* between two looks at the pages that were touched; 0: none */
    bool pages_split; /* memory has no 2 MiB pages */
    bool paused; /* the trigger waits for the program's hr_start() */
    int cpus; /* workload CPUs, or OPTIONS_CPUS_AUTO */
    uint32_t processes; /* at once; 0: the kernel's own limit */
    uint64_t memory_bytes;
    bool memory_given; /* not the default */
    enum options_accel accel;
    const char *qemu; /* NULL: qemu-system-x86_64 from PATH */
    const char *cpu; /* QEMU's -cpu; NULL: hr chooses */
    const char *target_cpu; /* encode the events for these CPUs now; NULL: for the guest's, later */
    const char *pin; /* list of host CPUs; NULL: not pinned */
    bool fifo; /* the CPUs' threads run under SCHED_FIFO */
    bool libvirt; /* the guest is a transient domain of libvirt */
    const char *kernel; /* NULL: the one that belongs to hr */
    const char *root; /* a tree that takes the place of /; NULL: none */
    bool serve; /* the guest may look for files of the host */
    struct options_published published[RUN_NETWORK_PUBLISHED_MAX];
    size_t published_count;
    bool network; /* the program's connections leave through the host */
    struct options_list files;
    const char *keep_files; /* directory for the program's files; NULL: not kept; "": named later */
    const char *input; /* the program's standard input, in the archive; NULL: none */
    bool missing; /* list the names that the program did not find */
    bool prefault; /* memory is filled when it is mapped */
    struct options_list environment; /* K=V settings that change the default */
    uint64_t timeout_ns; /* 0: none */
    uint64_t duration_ns; /* of the program's clock, until SIGTERM; 0: none */
    uint64_t repeat; /* number of runs; 0: one, with its own kind of summary */
    bool output_each; /* show the program's output of every run, not of the first alone */
    bool again; /* a run of --repeat after the first */
    bool dry_run;
    bool verbose;
    bool quiet;
    bool no_progress;
    bool require_pmu;
    const char *panic_test; /* for a test build of the kernel */
    const struct options_packed *packed; /* the program is an archive of hr pack; NULL: it is not */
    char **program; /* argv of the program, NULL-terminated, at least one string */
    size_t program_count;
};

/* Parses argv of `hr run` or `hr pack`.  argp prints usage errors and --help itself and exits with
 * status 125 or 0.  Returns 0, or -1 with the failure filled. */
int options_parse(struct options *o, bool packing, int argc, char **argv,
                  struct run_failure *failure);
