/* The instructions of a stretch of code, with what was counted at each.  For hr annotate.
 *
 * Code is read from the file that the load map names.  Samples fall on instructions' starts, so
 * their addresses keep the disassembly in step where data lies among the code.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/scan/trace_scan.h"
#include "host/symbols/symbols.h"

#define ANNOTATE_CODE_BYTES_MAX (512u << 10) /* of one function; what follows is not shown */

struct annotate_counts { /* by address in start .. end-1 */
    uint64_t start;
    uint64_t end;
    uint64_t *samples; /* one for each byte; owned */
    uint64_t *sums; /* of the event; owned */
    uint64_t (*all)[HR_EVENTS_MAX]; /* of all events, one row for each byte; NULL: not asked for;
                                       owned */
    int event; /* -1: none */
    uint64_t total_samples;
    uint64_t total_sum;
};

/* 0 or -ENOMEM. */
int annotate_counts_init(struct annotate_counts *counts, uint64_t start, uint64_t end, int event);

/* Counts all events as well, for metrics.  0 or -ENOMEM. */
int annotate_counts_all(struct annotate_counts *counts);

/* Adds what all events counted in `bytes` from an address on. */
void annotate_counts_sum(const struct annotate_counts *counts, uint64_t address, uint32_t bytes,
                         uint64_t sums[HR_EVENTS_MAX]);
void annotate_counts_free(struct annotate_counts *counts);

/* Counts as hr report does (host/report/tally.h). */
void annotate_counts_add(struct annotate_counts *counts, const struct trace_samples *samples);

struct annotate_instruction {
    uint64_t address;
    uint64_t target; /* of a jump or call that names it; 0: none */
    uint64_t samples;
    uint64_t sum;
    const char *text; /* in the code's own memory */
    uint8_t bytes;
    bool jumped_to; /* from this stretch */
};

enum annotate_syntax { ANNOTATE_INTEL, ANNOTATE_ATT };

struct annotate_code {
    struct annotate_instruction *instructions; /* ascending; owned */
    uint32_t count;
    bool has_code; /* false: no file with the code; an instruction for each address with samples */
    char *texts; /* owned */
};

/* Disassembles the stretch of `counts`.  0 or -ENOMEM. */
int annotate_code_read(struct annotate_code *code, const struct annotate_counts *counts,
                       const struct trace_info *info, const struct symbols_options *options,
                       enum annotate_syntax syntax);
void annotate_code_free(struct annotate_code *code);
