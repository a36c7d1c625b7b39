/* Options of hr run that other commands hand to it unchanged. */
#pragma once

#include <argp.h>
#include <stddef.h>

struct trial_options { /* "--name=value" each; owned: array_free_texts (host/base/array.h) */
    char **texts;
    size_t count;
};

/* Appends "--name=value", or "--name" where the argument is NULL.  Returns 0 or -ENOMEM. */
int trial_options_append(const struct argp_option *option, const char *argument, char ***texts,
                         size_t *count);

/* Children for a command's argp, whose options are shown as group `2`: the second one has options
 * of call stacks and counters that overflow.  Their input is a struct trial_options: the command
 * sets state->child_inputs at ARGP_KEY_INIT.  Their keys are from TRIAL_OPTIONS_KEY on, and -i, -m,
 * -g, -c and -F. */
#define TRIAL_OPTIONS_KEY 0x1000
extern const struct argp trial_options_argp, trial_options_sampling_argp;
