/* Records the first reason why a run fails. */
#include <stdarg.h>
#include <stdio.h>

#include "host/base/run_failure.h"

static void fill(struct run_failure *failure, int exit_status, const char *format, va_list values)
{
    if (failure->exit_status != 0)
        return;
    failure->exit_status = exit_status;
    vsnprintf(failure->text, sizeof failure->text, format, values);
}

int run_fail(struct run_failure *failure, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fill(failure, RUN_EXIT_FAILED, format, values);
    va_end(values);
    return -1;
}

int run_fail_as(struct run_failure *failure, int exit_status, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fill(failure, exit_status, format, values);
    va_end(values);
    return -1;
}
