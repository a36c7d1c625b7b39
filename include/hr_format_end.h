/* Records of END and HOST chunks: how a run ended, and what it came to.  Part of
 * include/hr_format.h. */
#ifndef INCLUDE_HR_FORMAT_END_H
#define INCLUDE_HR_FORMAT_END_H

#include <stddef.h>
#include <stdint.h>

enum hr_exit_kind {
    HR_EXIT_STATUS = 1, /* code: exit status 0..255 */
    HR_EXIT_SIGNAL = 2, /* code: signal number */
    HR_EXIT_TIMEOUT = 3, /* stopped by the host; code: signal number */
    HR_EXIT_REFUSED = 4, /* the program could not be started; code: -errno as positive number */
};

struct hr_rec_exit {
    uint64_t time;
    uint64_t user_ticks; /* time in ring 3 */
    uint32_t kind; /* enum hr_exit_kind */
    uint32_t code;
    uint64_t peak_memory_bytes;
};
_Static_assert(sizeof(struct hr_rec_exit) == 32, "hr_rec_exit");

struct hr_rec_total { /* counted from the program's first instruction to its last */
    uint64_t value;
    uint16_t index;
    uint16_t reserved[3];
};
_Static_assert(sizeof(struct hr_rec_total) == 16, "hr_rec_total");

struct hr_rec_stream { /* what the guest sent for one CPU, to find missing chunks */
    uint64_t samples;
    uint64_t lost;
    uint32_t chunks; /* the CPU's sequence numbers are 0 .. chunks-1 */
    uint16_t cpu;
    uint16_t reserved;
};
_Static_assert(sizeof(struct hr_rec_stream) == 24, "hr_rec_stream");

/* A region of code that the program named (hr_region_begin, hr_region_end): what one event counted
 * in it, over all threads.  Bucket i of the histogram counts passes with value v: i = v below 8,
 * else i = 8 + 4 * (e - 3) + ((v >> (e - 2)) & 3) with e = floor(log2 v): four buckets an octave.
 */
#define HR_REGION_BUCKETS 252u
#define HR_REGION_TICKS 0xffffu /* takes the place of an event: time */

struct hr_rec_region {
    uint64_t passes; /* how often begin was followed by end */
    uint64_t sum;
    uint64_t min;
    uint64_t max;
    uint16_t event; /* index, or HR_REGION_TICKS */
    uint16_t bucket_count; /* at most HR_REGION_BUCKETS; those beyond are 0 */
    uint16_t name_bytes;
    uint16_t threads; /* how many passed through it; saturates */
};
_Static_assert(sizeof(struct hr_rec_region) == 40, "hr_rec_region");

struct hr_rec_nmi { /* non-maskable interrupts of a CPU during the run */
    uint64_t samples; /* caused by a counter overflow: taken, or counted as lost */
    uint64_t spurious; /* in overflow mode: no counter had overflowed */
    uint64_t unknown; /* in other modes, where nothing requests NMIs */
    uint16_t cpu;
    uint16_t reserved[3];
};
_Static_assert(sizeof(struct hr_rec_nmi) == 32, "hr_rec_nmi");

struct hr_rec_activity { /* the kernel's activity on a CPU that ran the program */
    uint64_t interruptions; /* interrupts of the program that took no sample */
    uint64_t switches; /* from one thread to another, or to none */
    uint64_t slices; /* switches at the end of a time slice */
    uint64_t blocks; /* switches because the thread had to wait */
    uint64_t wakeups; /* threads that threads on this CPU woke */
    uint16_t cpu;
    uint16_t reserved[3];
};
_Static_assert(sizeof(struct hr_rec_activity) == 48, "hr_rec_activity");

struct hr_rec_share { /* how sampling on a CPU was limited, for the program's share */
    uint64_t skipped; /* sum of the CPU's HR_REC_SKIPPED records */
    uint64_t spacing_ticks; /* least time between samples at the end of the run; 0: no limit */
    uint64_t stolen_ns; /* taken by a hypervisor during the run */
    uint16_t cpu;
    uint16_t flags; /* 1: a hypervisor reports stolen time */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_share) == 32, "hr_rec_share");

struct hr_rec_calls { /* how calls of instrumented programs were recorded */
    uint64_t scans; /* of all threads' shadow stacks; 0: the hooks recorded, exactly */
    uint64_t scan_ticks; /* from the first scan to the last */
    uint64_t longest_ticks; /* between two scans: no time of a hit is more late */
    uint64_t missed; /* calls that began and ended between two scans */
    uint64_t beyond; /* calls that were deeper than a shadow stack */
    uint64_t strays; /* returns without an entry */
    uint64_t unnumbered; /* hits without a number: there are too many functions or call sites */
    uint64_t refused; /* threads beyond those that can be observed at a time */
};
_Static_assert(sizeof(struct hr_rec_calls) == 64, "hr_rec_calls");

enum { /* hr_rec_machine_cpu.flags: features of this CPU, hence known fields */
       HR_MACHINE_APERF = 1, /* APERF and MPERF: the fields aperf* and mperf*, and tsc */
       HR_MACHINE_SMI = 2,
       HR_MACHINE_THERMAL = 4,
       HR_MACHINE_PACKAGE = 8,
       HR_MACHINE_LOGS = 16, /* logs of thermal events were cleared at the start */
};

struct hr_rec_machine_cpu { /* the state of a CPU that ran the program, and its changes */
    uint64_t tsc; /* TSC ticks from just before the program to its end */
    uint64_t aperf; /* clock cycles in that time, halts excluded */
    uint64_t mperf; /* cycles at the TSC's frequency in that time, halts excluded */
    uint32_t aperf_before; /* APERF cycles of about a millisecond at boot */
    uint32_t mperf_before;
    uint32_t aperf_after; /* APERF cycles of about a millisecond after the program */
    uint32_t mperf_after;
    uint32_t smi_before; /* system management interrupts since reset */
    uint32_t smi_after;
    uint32_t thermal_before; /* IA32_THERM_STATUS as found */
    uint32_t thermal_after;
    uint32_t package_before; /* IA32_PACKAGE_THERM_STATUS */
    uint32_t package_after;
    uint32_t apic_id;
    uint32_t microcode; /* its revision; 0: unknown */
    uint32_t flags;
    uint16_t cpu;
    uint8_t core_kind; /* hybrid processors, from CPUID 1AH: 20H Atom, 40H Core; else 0 */
    uint8_t reserved;
};
_Static_assert(sizeof(struct hr_rec_machine_cpu) == 80, "hr_rec_machine_cpu");
_Static_assert(offsetof(struct hr_rec_machine_cpu, aperf_before) == 24, "aperf_before");
_Static_assert(offsetof(struct hr_rec_machine_cpu, smi_before) == 40, "smi_before");
_Static_assert(offsetof(struct hr_rec_machine_cpu, apic_id) == 64, "apic_id");
_Static_assert(offsetof(struct hr_rec_machine_cpu, cpu) == 76, "cpu");

enum hr_host_reason { /* why the collector closed the file */
                      HR_HOST_COMPLETE = 1, /* after the END chunk */
                      HR_HOST_TIMEOUT = 2,
                      HR_HOST_INTERRUPTED = 3,
                      HR_HOST_GUEST_DIED = 4, /* the stream ended without an END chunk */
                      HR_HOST_GUEST_PANIC = 5,
                      HR_HOST_BAD_STREAM = 6, /* the guest sent what is not a trace */
};

struct hr_host_end {
    uint64_t wall_ns; /* from launch to close */
    uint32_t reason; /* enum hr_host_reason */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_host_end) == 16, "hr_host_end");

/* What the emulator counted at every address (--mode exact).  Events beyond the first have
 * HR_META_EVENT and HR_REC_TOTAL records, which precede this one in HOST chunks. */
#define HR_EXACT_EVENTS_MAX 8u

struct hr_host_exact {
    uint64_t instructions; /* those with a known address: sum of all HR_HOST_EXACT_COUNTS */
    uint64_t homeless; /* those that found no free entry */
    uint64_t lost_faults; /* counted instructions that did not complete, at unknown addresses */
    uint32_t event_count; /* per address, at most HR_EXACT_EVENTS_MAX; the first: instructions */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_host_exact) == 32, "hr_host_exact");

/* After this struct, for each address in ascending order: LEB128 of its distance to the previous
 * address (for the first: to 0), a byte with a bit for each event that is not 0 (the first never
 * is), and LEB128 of each of these events. */
struct hr_host_exact_counts {
    uint32_t tid; /* 0: threads that found no free table */
    uint32_t count; /* addresses */
};
_Static_assert(sizeof(struct hr_host_exact_counts) == 8, "hr_host_exact_counts");

enum { /* hr_host_file.flags */
       HR_FILE_CHANGED = 1, /* it changed or went away during the run; hash is 0 */
       HR_FILE_NO_HASH = 2, /* it could not be read at the end of the run; hash is 0 */
};

struct hr_host_file { /* a file of the host that the program read, or a part of it */
    uint64_t bytes; /* its size, as the guest was told, likewise the time */
    uint64_t modified; /* nanoseconds since 1970 */
    uint64_t hash; /* FNV-1a, 64 bits, of all its contents */
    uint32_t flags;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_host_file) == 32, "hr_host_file");

#endif
