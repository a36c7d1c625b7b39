/* Parses the command line of a command of hr. */
#pragma once

#include <argp.h>

/* Calls argp_parse; for a mistyped option it names the nearest known ones. */
int command_line_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
                       void *input);
