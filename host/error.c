/* Prints one-line failure messages. */
#include "host/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "host/text.h"

void error_print(const char *format, ...)
{
    char message[4096];
    char safe[8192];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "hr: %s\n", text_escape(safe, sizeof safe, message));
}
