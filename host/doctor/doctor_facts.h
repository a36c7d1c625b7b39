/* Facts for hr doctor that come from the CPU, KVM, the process's limits and QEMU, not from files.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/events/cpu_counters.h"
#include "host/events/events_cpu.h"
#include "host/launch/launch_accel.h"

struct doctor_facts {
    struct events_cpu cpu;
    char brand[64]; /* from CPUID; empty: none */
    bool is_guest; /* this machine is a virtual machine */
    char hypervisor[16]; /* signature of that hypervisor; empty: none */
    bool can_virtualise; /* the CPU has VT-x or AMD-V */
    bool invariant_tsc; /* ticks evenly at any CPU frequency */
    struct cpu_counters counters; /* of the CPU */
    struct launch_accel_speed kvm;
    int kvm_error; /* -errno if KVM did not answer */
    struct cpu_counters kvm_counters; /* offered to a guest */
    bool is_privileged; /* CAP_IPC_LOCK: RLIMIT_MEMLOCK does not bind this process */
    bool may_use_fifo; /* SCHED_FIFO is allowed */
    uint64_t memory_lock_bytes; /* RLIMIT_MEMLOCK; UINT64_MAX: no limit */
    uint64_t realtime_priority; /* RLIMIT_RTPRIO */
    char qemu[PATH_MAX]; /* empty: not found */
    char qemu_version[256]; /* first line of its output; empty: none */
    char kernel[PATH_MAX]; /* guest.elf; empty: not found */
    char no_qemu[1024]; /* why QEMU was not found */
    char no_kernel[1024];
};

/* Gathers all facts; `qemu` is the value of --qemu, or NULL.  Takes about 30 milliseconds.  Call it
 * while the process has one thread. */
void doctor_facts_gather(struct doctor_facts *facts, const char *qemu);
