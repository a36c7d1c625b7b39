/* Ends of commands that print tables or rows. */
#include "host/reader_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/commands.h"
#include "host/error.h"
#include "host/reader.h"

enum reader_format reader_format(const char *argument, const struct argp_state *state)
{
    static const char *const names[] = {
        [READER_TABLE] = "table", [READER_CSV] = "csv", [READER_JSON] = "json"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], argument) == 0)
            return (enum reader_format)i;
    argp_error(state, "--format %s: unknown format; choose table, csv or json", argument);
    return READER_TABLE;
}

int reader_event(const struct trace_info *info, const char *option, const char *name)
{
    char names[TRACE_INFO_NAMES_BYTES];
    int event = trace_info_find_event(info, name);

    if (event < 0 && info->event_count == 0)
        error_print("--%s %s: the trace has no events", option, name);
    else if (event < 0)
        error_print("--%s %s: the trace has no such event; it has %s", option, name,
                    trace_info_event_names(info, names) + 2);
    return event;
}

struct output *reader_output_open(void)
{
    struct output *out = malloc(sizeof *out);

    if (out != NULL)
        output_init(out, STDOUT_FILENO);
    return out;
}

int reader_output_close(struct output *out)
{
    int error = output_flush(out);

    free(out);
    if (error != 0 && error != -EPIPE)
        error_print("standard output: %s; free some space or write elsewhere", strerror(-error));
    return error == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
}

void reader_warn(const struct trace_scan *scan, const char *path)
{
    if (!scan->partial && !trace_audit_complete(&scan->audit))
        error_print("%s: incomplete, this is what is there; 'hr check %s' says what is missing",
                    path, path);
}

int reader_nothing(const struct trace_scan *scan, const char *path, uint64_t last)
{
    if (!selection_is_all(&scan->selection))
        return reader_nothing_selected(path, trace_info_time_ns(&scan->info, last));
    error_print("%s: no samples; 'hr check %s' says whether some are missing", path, path);
    return HR_EXIT_FAILED;
}
