/* Hands options on to hr run. */
#include "host/trial/trial_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/options/options_sampling.h"

enum {
    KEY_ACCEL = TRIAL_OPTIONS_KEY,
    KEY_CPU,
    KEY_CPUS,
    KEY_ENV,
    KEY_FIFO,
    KEY_FILE,
    KEY_KERNEL,
    KEY_MAX_OVERHEAD,
    KEY_MEM,
    KEY_NETWORK,
    KEY_PIN,
    KEY_PREFAULT,
    KEY_PROCESSES,
    KEY_QEMU,
    KEY_REQUIRE_PMU,
    KEY_ROOT,
    KEY_TIMEOUT,
};

static const struct argp_option table[] = {
    {"accel", KEY_ACCEL, "KIND", 0, "", 2},
    {"cpu", KEY_CPU, "MODEL", 0, "", 2},
    {"cpus", KEY_CPUS, "N", 0, "", 2},
    {"env", KEY_ENV, "K=V", 0, "", 2},
    {"fifo", KEY_FIFO, 0, 0, "", 2},
    {"file", KEY_FILE, "PATH", 0, "", 2},
    {"interval", 'i', "TIME", 0, "", 2},
    {"kernel", KEY_KERNEL, "FILE", 0, "", 2},
    {"max-overhead", KEY_MAX_OVERHEAD, "SHARE", 0, "", 2},
    {"mem", KEY_MEM, "SIZE", 0, "", 2},
    {"mode", 'm', "MODE", 0, "", 2},
    {"network", KEY_NETWORK, "KIND", 0, "", 2},
    {"pin", KEY_PIN, "LIST", 0, "", 2},
    {"prefault", KEY_PREFAULT, 0, 0, "", 2},
    {"processes", KEY_PROCESSES, "N", 0, "", 2},
    {"qemu", KEY_QEMU, "PATH", 0, "", 2},
    {"root", KEY_ROOT, "DIR", 0, "", 2},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "", 2},
    {0},
};

static const struct argp_option sampling_table[] = {
    {"call-graph", 'g', "KIND", OPTION_ARG_OPTIONAL, "", 2},
    {"count", 'c', "N", 0, "", 2},
    {"freq", 'F', "HZ", 0, "", 2},
    {"require-pmu", KEY_REQUIRE_PMU, 0, 0, "", 2},
    {0},
};

int trial_options_append(const struct argp_option *option, const char *argument, char ***texts,
                         size_t *count)
{
    char *text = NULL;
    int error;

    if (asprintf(&text, "--%s%s%s", option->name, argument != NULL ? "=" : "",
                 argument != NULL ? argument : "") < 0)
        return -ENOMEM;
    error = array_append_text(texts, count, text);
    free(text);
    return error;
}

static error_t take(const struct argp_option *option, int key, char *argument,
                    struct argp_state *state)
{
    struct trial_options *options = state->input;

    while (option->name != NULL && option->key != key)
        option++;
    if (option->name == NULL)
        return ARGP_ERR_UNKNOWN;
    if (key == 'g' && argument == NULL && options_stacks_follow(state->argv[state->next]))
        argument = state->argv[state->next++];
    return -trial_options_append(option, argument, &options->texts, &options->count);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    return take(table, key, argument, state);
}

static error_t parse_sampling(int key, char *argument, struct argp_state *state)
{
    return take(sampling_table, key, argument, state);
}

const struct argp trial_options_argp = {.options = table, .parser = parse};
const struct argp trial_options_sampling_argp = {.options = sampling_table,
                                                 .parser = parse_sampling};
