/* Finds the performance counters of a CPU, and those of them that KVM gives to a guest.
 *
 * Both come as CPUID leaves: the processor's own from the instruction, KVM's from
 * KVM_GET_SUPPORTED_CPUID.  Never prints.
 */
#pragma once

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_ports.h"

#define CPU_COUNTERS_TEXT_BYTES 96

struct cpu_counters {
    enum run_cpu_vendor vendor;
    uint8_t version; /* of architectural performance monitoring; AMD: 2 for PerfMonV2, else 1;
                        0: no counters */
    uint8_t general;
    uint8_t general_bits; /* width of general counters */
    uint8_t fixed;
    bool hybrid; /* an Intel processor with several kinds of cores; KVM never reports it */
};

/* Decodes the counters from CPUID leaves; a missing leaf counts as zeroes. */
void cpu_counters_decode(const struct kvm_cpuid_entry2 *leaves, size_t count,
                         struct cpu_counters *counters);

/* Reads the counters of the CPU that this process runs on. */
void cpu_counters_of_host(struct cpu_counters *counters);

/* Reads the counters that KVM gives to a guest with `-cpu host,pmu=on`.  kvm_fd is an open
 * /dev/kvm.  Returns 0, or -errno if KVM does not answer. */
int cpu_counters_of_kvm(int kvm_fd, struct cpu_counters *counters);

/* Writes "version 2, 8 general and 3 fixed counters of 48 bits" to `out`, which has
 * CPU_COUNTERS_TEXT_BYTES.  Returns `out`. */
char *cpu_counters_describe(const struct cpu_counters *counters, char *out);
