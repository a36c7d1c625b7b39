/* What a trace says about the machine: facts for people and programs, and warnings.  Never prints.
 */
#pragma once

#include <stdbool.h>

#include "host/trace/trace_info.h"

#define MACHINE_FACTS_MAX 48
#define MACHINE_WARNINGS_MAX 8

enum machine_group {
    MACHINE_PROCESSOR,
    MACHINE_FREQUENCY,
    MACHINE_TOPOLOGY,
    MACHINE_CACHES,
    MACHINE_FIRMWARE,
    MACHINE_MEMORY,
    MACHINE_COUNTERS,
    MACHINE_DURING,
    MACHINE_GROUPS
};
extern const char *const machine_groups[MACHINE_GROUPS];

struct machine_fact {
    const char *key; /* stable, for JSON and CSV */
    const char *label;
    enum machine_group group;
    unsigned int rank; /* 0: the most important where machines differ */
    char *value; /* for people; raw, escape it; owned */
    double number; /* if set, values within 1 % count as equal */
    bool words; /* the value is a list of words in any order */
};

struct machine {
    struct machine_fact facts[MACHINE_FACTS_MAX]; /* known facts only, by group */
    size_t fact_count;
    char *warnings[MACHINE_WARNINGS_MAX]; /* raw; owned */
    size_t warning_count;
};

/* Returns 0 or -ENOMEM; call machine_free in either case. */
int machine_gather(struct machine *machine, const struct trace_info *info);
void machine_free(struct machine *machine);

const struct machine_fact *machine_find(const struct machine *machine, const char *key);
