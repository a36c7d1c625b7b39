/* Parses the command line of hr report.  For host/report/report_command.c. */
#pragma once

#include "host/report/report.h"

/* On a usage error it exits the process, as argp does. */
void report_options_parse(struct report_options *options, int argc, char **argv);
