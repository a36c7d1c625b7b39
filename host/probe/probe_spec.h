/* What --probe says: FUNC, a glob, FUNC+0xOFF, FILE:LINE, 0xADDRESS or @all, each also after
 * OBJECT: */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/base/run_failure.h"

enum probe_spec_kind {
    PROBE_SPEC_FUNCTION, /* by its name */
    PROBE_SPEC_GLOB,
    PROBE_SPEC_ALL,
    PROBE_SPEC_OFFSET, /* an instruction of a function */
    PROBE_SPEC_LINE,
    PROBE_SPEC_ADDRESS,
};

struct probe_spec {
    enum probe_spec_kind kind;
    const char *text; /* as it was given */
    char *object; /* NULL: none; owned */
    char *name; /* function, glob or source file; owned */
    uint64_t number; /* offset, line or address */
};

/* The text must outlive the specification.  Returns 0, or -1 with the failure filled. */
int probe_spec_parse(struct probe_spec *spec, const char *text, struct run_failure *failure);
void probe_spec_free(struct probe_spec *spec);
