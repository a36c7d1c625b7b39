/* What the commands that read a trace have in common. */
#include "host/reader.h"

#include <errno.h>
#include <stddef.h>

#include "host/commands.h"
#include "host/error.h"
#include "host/trace_file.h"

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
