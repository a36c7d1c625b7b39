/* Records the first reason why a run fails. */
#include <stdarg.h>
#include <stdio.h>

#include "host/base/run_failure.h"

int run_fail(struct run_failure *failure, int exit_status, const char *format, ...)
{
    va_list arguments;

    if (failure->exit_status != 0)
        return -1;
    failure->exit_status = exit_status;
    va_start(arguments, format);
    vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
    return -1;
}
