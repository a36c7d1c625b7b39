/* Decodes functions with capstone: where they are entered and left, and how each of these
 * instructions is executed elsewhere (include/run_probes.h).
 *
 * Code is hostile input.  Functions return 0 or -errno; after -ENOEXEC `reason` says why.  They
 * never print.
 */
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_probes.h"

#define PROBE_CODE_PARTS_MAX 8u /* of a function: its main part comes first */

struct probe_range {
    uint64_t start;
    uint64_t end;
};

struct probe_code_source {
    /* Returns the code at an address, and how many bytes of it there are; NULL: none. */
    const uint8_t *(*code)(void *context, uint64_t address, uint64_t *bytes);
    /* Returns whether the code at `target`, to which the function at `start` jumps, is a part of
     * it, and where that part is. */
    bool (*part)(void *context, uint64_t start, uint64_t target, struct probe_range *part);
    void *context;
};

struct probe_code_point {
    uint64_t address;
    struct run_probe_point point; /* without file_offset and function */
};

struct probe_code {
    csh handle;
    cs_insn *insn;
    const struct probe_code_source *source;
    struct probe_range parts[PROBE_CODE_PARTS_MAX]; /* of the function */
    size_t part_count;
    bool loops; /* it jumps to its first instruction */
    struct probe_code_point *points; /* of the function, its entry first; owned */
    size_t count;
    char reason[160];
};

/* The source must outlive the decoder.  Returns 0 or -ENOMEM. */
int probe_code_open(struct probe_code *c, const struct probe_code_source *source);
void probe_code_close(struct probe_code *c);

/* Reads a function: `points` are then its entry and all returns.  With open_end the range may hold
 * more than the function, which ends where the code does. */
int probe_code_function(struct probe_code *c, struct probe_range range, bool open_end);

/* Describes the instruction at `address`, which must be one of those in the range. */
int probe_code_place(struct probe_code *c, struct probe_range range, uint64_t address,
                     struct probe_code_point *point);
