/* How a run ended, in numbers and in words, for the table, the serial line and result.conf.  Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "include/boot_info.h"

#define OUTCOME_TEXT_BYTES 240

enum outcome_end { /* values of "end" in result.conf */
                   OUTCOME_DONE,
                   OUTCOME_PANIC,
                   OUTCOME_HUNG,
                   OUTCOME_UNSENT,
                   OUTCOME_NOT_STARTED,
};

struct outcome {
    enum outcome_end end;
    uint32_t exit_kind; /* enum hr_exit_kind; 0: the program was not started */
    uint32_t exit_code;
    uint64_t samples, lost_samples;
    uint64_t sent_bytes;
    char reason[OUTCOME_TEXT_BYTES]; /* one line, may be "" */
};

/* Fills the outcome from the kernel's return value and boot_info's result, which may be damaged. */
void outcome_of_kernel(struct outcome *outcome, uint64_t returned,
                       const struct boot_result *result);
void outcome_not_started(struct outcome *outcome, const char *reason);

/* outcome_lacks_reason: the program was not started and no reason is known yet.  outcome_reason
 * then sets one from the kernel's log. */
bool outcome_lacks_reason(const struct outcome *outcome);
void outcome_reason(struct outcome *outcome, const char *reason);

const char *outcome_end_text(enum outcome_end end); /* "not-started" */
const char *outcome_kind_text(uint32_t exit_kind); /* "signal" */

/* Writes "program ended by signal 11", for people. */
void outcome_text(const struct outcome *outcome, char *out, size_t room);

/* Writes "signal 11" or "panic", for a column. */
void outcome_short(const struct outcome *outcome, char *out, size_t room);

/* Returns whether the run went as planned: the kernel returned everything, and the program exited
 * by itself. */
bool outcome_good(const struct outcome *outcome);

/* Returns whether the run took place and all that it left can be there; a run that was not started,
 * or whose collector lacks a part, may end otherwise when it is repeated. */
bool outcome_final(const struct outcome *outcome);
