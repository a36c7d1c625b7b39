/* The syntax of an event for -e: a name, raw bits or cpu/.../, and the rings to count in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"

#define EVENTS_NAME_MAX 63 /* longest event as given, in bytes; traces have this limit */

/* Bits of an event select register: Intel SDM volume 3, "Architectural Performance Monitoring
 * Version 1", IA32_PERFEVTSELx; AMD APM volume 2, "Performance Event-Select Registers". */
#define EVENTS_SELECT_USR (1ull << 16)
#define EVENTS_SELECT_OS (1ull << 17)
#define EVENTS_SELECT_INT (1ull << 20)
#define EVENTS_SELECT_EN (1ull << 22)

struct events_spec {
    char name[EVENTS_NAME_MAX + 1]; /* without the suffix; empty for raw bits */
    uint64_t select; /* raw bits without rings */
    uint64_t companion; /* value of the companion register, raw events only */
    uint64_t rings; /* EVENTS_SELECT_USR, EVENTS_SELECT_OS or both */
    bool precise; /* :p, as in :p, :up or :ppp: mode pebs has records of it */
};

/* Splits an event into its parts.  Returns 0, or -1 with the failure filled. */
int events_spec_parse(const char *text, struct events_spec *spec, struct run_failure *failure);

/* Returns the length of the first event of a comma-separated list.  Commas between the slashes of
 * cpu/.../ belong to the event. */
size_t events_spec_length(const char *list);
