/* What the choices for a run have to say: notes for -v, warnings for everyone.  Filled by
 * libraries, printed by the command.
 */
#ifndef HOST_LAUNCH_LAUNCH_NOTES_H
#define HOST_LAUNCH_LAUNCH_NOTES_H

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

/* Adds a line, without the newline.  What does not fit is dropped. */
void launch_note(struct launch_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void launch_warn(struct launch_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes what the user wants to read: warnings unless `quiet`, with `verbose` everything. */
void launch_notes_print(const struct launch_notes *notes, bool verbose, bool quiet, FILE *out);

#endif
