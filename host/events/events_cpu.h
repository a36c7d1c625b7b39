/* Which CPU events are encoded for: vendor, family and model, and libpfm4's table for it. */
#ifndef HOST_EVENTS_EVENTS_CPU_H
#define HOST_EVENTS_EVENTS_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "include/run_ports.h"

#define EVENTS_CPU_TEXT_BYTES 96

struct events_cpu {
    enum run_cpu_vendor vendor;
    uint32_t family; /* as displayed: base and extended family added */
    uint32_t model;
    uint32_t stepping;
    uint32_t pmu_version; /* 0: no architectural counters, or unknown */
    uint32_t fixed_counters;
};

/* From CPUID leaf 1 EAX; no counters are known then. */
void events_cpu_from_signature(struct events_cpu *cpu, enum run_cpu_vendor vendor,
                               uint32_t signature);

/* From RUN_GUEST_CPU. */
void events_cpu_from_guest(struct events_cpu *cpu, const struct run_message *message);

/* The CPU that this process runs on. */
void events_cpu_from_host(struct events_cpu *cpu);

/* VENDOR-FAMILY-MODEL such as intel-6-106, or a CPU model of QEMU with its properties, such as
 * Icelake-Server,model=106.  0, or -1 when the text is neither.
 */
int events_cpu_parse(struct events_cpu *cpu, const char *text);

/* The first CPU model of a table of libpfm4's, such as skl.  0, or -1 for an unknown table. */
int events_cpu_of_table(struct events_cpu *cpu, const char *table);

/* The name of libpfm4's table of this CPU's events; NULL when it has none. */
const char *events_cpu_table(const struct events_cpu *cpu);

/* All tables by number, from 0; NULL after the last. */
const char *events_cpu_table_at(size_t index);

/* Ranges of models with one table each, by number, from 0: the first model, which tells also
 * vendor, family and the lowest stepping, and the last one.  A model may be in several;
 * events_cpu_table says which one counts.  0, or -1 after the last.
 */
int events_cpu_models_at(size_t index, struct events_cpu *first, uint32_t *last_model);

/* "Intel family 6 model 106 (icx)"; `out` has EVENTS_CPU_TEXT_BYTES.  Both return `out`. */
char *events_cpu_describe(const struct events_cpu *cpu, char *out);

/* "intel-6-106", which events_cpu_parse reads back. */
char *events_cpu_text(const struct events_cpu *cpu, char *out);

#endif
