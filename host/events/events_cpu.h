/* The CPU that events are encoded for: vendor, family and model, and libpfm4's table for it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/run_ports.h"

#define EVENTS_CPU_TEXT_BYTES 96

struct events_cpu {
    enum run_cpu_vendor vendor;
    uint32_t family; /* as displayed: sum of base and extended family */
    uint32_t model;
    uint32_t stepping;
    uint32_t pmu_version; /* 0: no architectural counters, or unknown */
    uint32_t fixed_counters;
};

/* Fills *cpu from CPUID leaf 1 EAX; its counters stay unknown. */
void events_cpu_from_signature(struct events_cpu *cpu, enum run_cpu_vendor vendor,
                               uint32_t signature);

/* Fills *cpu from RUN_GUEST_CPU. */
void events_cpu_from_guest(struct events_cpu *cpu, const struct run_message *message);

/* Fills *cpu with the CPU that this process runs on. */
void events_cpu_from_host(struct events_cpu *cpu);

/* Parses VENDOR-FAMILY-MODEL such as intel-6-106, or a CPU model of QEMU with its properties, such
 * as Icelake-Server,model=106.  Returns 0, or -1 if the text is neither. */
int events_cpu_parse(struct events_cpu *cpu, const char *text);

/* Fills *cpu with the first CPU model of a table of libpfm4, such as skl.  Returns 0, or -1 for an
 * unknown table. */
int events_cpu_of_table(struct events_cpu *cpu, const char *table);

/* Returns the name of libpfm4's table of this CPU's events, or NULL if it has none. */
const char *events_cpu_table(const struct events_cpu *cpu);

/* Returns the name of table number `index`, from 0; NULL after the last. */
const char *events_cpu_table_at(size_t index);

/* Lists ranges of models with one table each, by number from 0: the first model, with vendor,
 * family and lowest stepping, and the last model.  A model may be in several ranges;
 * events_cpu_table says which one counts.  Returns 0, or -1 after the last. */
int events_cpu_models_at(size_t index, struct events_cpu *first, uint32_t *last_model);

/* Writes "Intel family 6 model 106 (icx)"; `out` has EVENTS_CPU_TEXT_BYTES.  Both functions return
 * `out`. */
char *events_cpu_describe(const struct events_cpu *cpu, char *out);

/* Writes "intel-6-106", which events_cpu_parse reads. */
char *events_cpu_text(const struct events_cpu *cpu, char *out);
