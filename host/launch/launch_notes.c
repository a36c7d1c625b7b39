/* Collects notes and warnings. */
#include <stdarg.h>

#include "host/launch/launch_notes.h"

static void add(struct launch_notes *notes, bool warning, const char *format, va_list arguments)
{
    if (notes->count == LAUNCH_NOTES_MAX)
        return;
    notes->lines[notes->count].warning = warning;
    vsnprintf(notes->lines[notes->count].text, sizeof notes->lines[0].text, format, arguments);
    notes->count++;
}

void launch_note(struct launch_notes *notes, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(notes, false, format, arguments);
    va_end(arguments);
}

void launch_warn(struct launch_notes *notes, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(notes, true, format, arguments);
    va_end(arguments);
}

void launch_notes_print(const struct launch_notes *notes, bool verbose, bool quiet, FILE *out)
{
    for (size_t i = 0; i < notes->count; i++)
        if (verbose || (notes->lines[i].warning && !quiet))
            fprintf(out, "hr: %s\n", notes->lines[i].text);
}
