/* Parses the line of a command of hr. */
#ifndef HOST_BASE_COMMAND_LINE_H
#define HOST_BASE_COMMAND_LINE_H

#include <argp.h>

/* As argp_parse; names the options that are near a mistyped one. */
int command_line_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
                       void *input);

#endif
