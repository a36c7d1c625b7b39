/* Ends of commands that print tables or rows. */
#include "host/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/commands.h"
#include "host/error.h"

enum rows_format rows_format(const char *argument, const struct argp_state *state)
{
    static const char *const names[] = {
        [ROWS_TABLE] = "table", [ROWS_CSV] = "csv", [ROWS_JSON] = "json"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], argument) == 0)
            return (enum rows_format)i;
    argp_error(state, "--format %s: unknown format; choose table, csv or json", argument);
    return ROWS_TABLE;
}

struct output *rows_open(void)
{
    struct output *out = malloc(sizeof *out);

    if (out != NULL)
        output_init(out, STDOUT_FILENO);
    return out;
}

int rows_close(struct output *out)
{
    int error = output_flush(out);

    free(out);
    if (error != 0 && error != -EPIPE)
        error_print("standard output: %s; free some space or write elsewhere", strerror(-error));
    return error == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
}

int rows_warn(const struct trace_scan *scan, const char *path)
{
    if (!scan->partial && !trace_audit_complete(&scan->audit))
        error_print("%s: incomplete, this is what is there; 'hr check %s' says what is missing",
                    path, path);
    return HR_EXIT_OK;
}

int rows_nothing(const struct trace_scan *scan, const char *path)
{
    if (selection_is_all(&scan->selection))
        error_print("%s: no samples; 'hr check %s' says whether some are missing", path, path);
    else
        error_print("%s: nothing of the trace is selected; widen --from, --to, --cpu or --thread",
                    path);
    return HR_EXIT_FAILED;
}
