/* Notes for -v and warnings about the choices for a run.  Libraries fill them, the command prints
 * them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LAUNCH_NOTES_MAX 12

struct launch_notes {
    size_t count;
    struct {
        bool warning;
        char text[320];
    } lines[LAUNCH_NOTES_MAX];
};

/* Add a line, without the newline.  A line that does not fit is dropped. */
void launch_note(struct launch_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void launch_warn(struct launch_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes warnings unless `quiet`; with `verbose` writes everything. */
void launch_notes_print(const struct launch_notes *notes, bool verbose, bool quiet, FILE *out);
