/* What hr doctor learns by asking the CPU, KVM, the process's limits and QEMU, rather than from
 * files.
 */
#ifndef HOST_DOCTOR_DOCTOR_FACTS_H
#define HOST_DOCTOR_DOCTOR_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/events/cpu_counters.h"
#include "host/events/events_cpu.h"
#include "host/launch/launch_accel.h"

struct doctor_facts {
    struct events_cpu cpu;
    char brand[64]; /* as the CPU calls itself; empty: it does not */
    bool is_guest; /* a hypervisor is below */
    char hypervisor[16]; /* its signature, empty when it has none */
    bool can_virtualise; /* VT-x or AMD-V are there */
    bool invariant_tsc; /* ticks evenly, whatever the CPU's clock does */
    struct cpu_counters counters; /* the CPU's own */
    struct launch_accel_speed kvm;
    int kvm_error; /* -errno: KVM did not say what it offers */
    struct cpu_counters kvm_counters; /* those it offers a guest */
    bool is_privileged; /* CAP_IPC_LOCK: RLIMIT_MEMLOCK does not bind this process */
    bool may_use_fifo; /* SCHED_FIFO */
    uint64_t memory_lock_bytes; /* RLIMIT_MEMLOCK; UINT64_MAX: no limit */
    uint64_t realtime_priority; /* RLIMIT_RTPRIO */
    char qemu[PATH_MAX]; /* empty: not found */
    char qemu_version[256]; /* its first line; empty: it does not say */
    char kernel[PATH_MAX]; /* guest.elf; empty: not found */
    char no_qemu[1024]; /* why it was not found */
    char no_kernel[1024];
};

/* Asks all of it; `qemu` as of --qemu, or NULL.  Takes some 30 milliseconds; call while the process
 * has one thread.
 */
void doctor_facts_gather(struct doctor_facts *facts, const char *qemu);

#endif
