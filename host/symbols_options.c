/* The options that say where symbols come from and how they are shown. */
#include "host/symbols.h"

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct symbols_options *options = state->input;

    switch (key) {
    case 'p':
        options->program = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"program", 'p', "PATH", 0, "Take the program's symbols from PATH", 6},
    {0},
};

const struct argp symbols_argp = {.options = options, .parser = parse};
