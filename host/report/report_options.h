/* Parses the command line of hr report.  For host/report/report_command.c. */
#ifndef HOST_REPORT_REPORT_OPTIONS_H
#define HOST_REPORT_REPORT_OPTIONS_H

#include "host/report/report.h"

/* On a usage error it exits the process, as argp does. */
void report_options_parse(struct report_options *options, int argc, char **argv);

#endif
