/* Options of hr suite's subcommands. */
#pragma once

#include <argp.h>

#include "host/suite/suite_baseline.h"
#include "host/suite/suite_print.h"
#include "host/suite/suite_run.h"

struct suite_wish { /* what a subcommand was given */
    const char *arguments[3];
    size_t argument_count, argument_max;
    const char *output;
    const char *link;
    const char *pages; /* folder to write them to; NULL: none */
    suite_printer *print;
    struct suite_selection selection;
    struct suite_store store;
};

/* The options of each subcommand, for suite_options_parse. */
extern const struct argp_option suite_options_run[], suite_options_compare[],
    suite_options_baseline[];

/* Parses the words of a subcommand; with `remote` also options that name other machines. */
void suite_options_parse(struct suite_wish *wish, struct argp argp, bool remote, int argc,
                         char **argv);
void suite_options_free(struct suite_wish *wish);
