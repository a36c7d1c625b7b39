/* What the commands that read a trace have in common. */
#include "host/scan/reader.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/trace/trace_file.h"

error_t reader_parse_file(int key, const char *argument, const struct argp_state *state,
                          const char **path)
{
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (*path != NULL)
        argp_error(state, "%s: one trace at a time", argument);
    *path = argument;
    return 0;
}

const char *reader_file(const char *path)
{
    return path != NULL ? path : "hr.bin";
}

int reader_fail(const char *path, int error)
{
    error_print("%s: %s", path, trace_file_error(error));
    return error == -EBADMSG || error == -ENODATA || error == -EPROTONOSUPPORT ? HR_EXIT_USAGE
                                                                               : HR_EXIT_FAILED;
}

int reader_nothing_selected(const char *path, uint64_t duration_ns)
{
    char time[TEXT_QUANTITY_BYTES];

    error_print("%s: nothing is selected: no sample of the %s lies there; 'hr stat %s' shows the "
                "whole run",
                path, text_time(time, (double)duration_ns), path);
    return HR_EXIT_FAILED;
}

enum { KEY_JOBS = 0x1100 };

static error_t parse_jobs(int key, char *argument, struct argp_state *state)
{
    unsigned int *jobs = state->input;
    unsigned long count;
    char *end;

    if (key != KEY_JOBS)
        return ARGP_ERR_UNKNOWN;
    errno = 0;
    count = strtoul(argument, &end, 10);
    if (*argument < '1' || *argument > '9' || *end != 0 || errno != 0 || count > 1024)
        argp_error(state, "--jobs %s: not a number of threads; 1 reads with one", argument);
    *jobs = (unsigned int)count;
    return 0;
}

static const struct argp_option jobs_options[] = {
    {"jobs", KEY_JOBS, "N", 0, "Read with N threads (default: as many as there are CPUs, up to 8)",
     6},
    {0},
};

const struct argp reader_jobs_argp = {.options = jobs_options, .parser = parse_jobs};
