/* The options for triggers and stacks of samples: --mode, -i, -c, -F, -g. */
#pragma once

#include "host/options/options.h"

#define OPTIONS_MODE_UNSET ((enum hr_mode)99) /* until options_finish_sampling */
#define OPTIONS_OVERHEAD_DEFAULT 50u
#define OPTIONS_OVERHEAD_MAX 90u
#define OPTIONS_COUNTERS_EVERY_MAX 1000000u
#define OPTIONS_FREQUENCY_DEFAULT_HZ 10000u
#define OPTIONS_FREQUENCY_MAX_HZ 10000000u
#define OPTIONS_PERIOD_MAX (1ull << 40) /* fits every counter */
#define OPTIONS_RECORD_PERIOD_DEFAULT 1009u /* prime: it keeps step with no loop */
#define OPTIONS_LOAD_LATENCY_MAX 0xffffu
#define OPTIONS_STACK_FRAMES_DEFAULT 127u
#define OPTIONS_STACK_BYTES_DEFAULT 8192u

/* Each takes the text of one option.  Return 0, or -1 with the failure filled. */
int options_set_interval(struct options *o, const char *text, struct run_failure *failure);
int options_set_pages(struct options *o, const char *text, struct run_failure *failure);
int options_set_mode(struct options *o, const char *text, struct run_failure *failure);
int options_set_period(struct options *o, const char *text, struct run_failure *failure);
int options_set_overhead(struct options *o, const char *text, struct run_failure *failure);
int options_set_counters_every(struct options *o, const char *text, struct run_failure *failure);
int options_set_frequency(struct options *o, const char *text, struct run_failure *failure);

int options_set_load_latency(struct options *o, const char *text, struct run_failure *failure);

/* `text` may be NULL: -g without a text. */
int options_set_stacks(struct options *o, const char *text, struct run_failure *failure);

/* Returns whether the word after a -g without a text belongs to it; `word` may be NULL. */
bool options_stacks_follow(const char *word);

/* After the events are known: which of them are precise. */
int options_finish_precise(struct options *o, struct run_failure *failure);

/* After all options, derives the mode from them and reports contradictions. */
int options_finish_sampling(struct options *o, struct run_failure *failure);
