/* Reports a failure of the hr command: one line on stderr, "hr: what: why; remedy". */
#pragma once

#include <stddef.h>

/* Prints "hr: ", the message and a line end to stderr.  Control characters in the message become
 * escapes, so that names from a trace or a file system cannot control the terminal. */
void error_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As error_print.  Returns the status, for `return error_exit` in a command. */
int error_exit(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From this call on, no text on stderr can control the terminal, whatever code writes it: argp and
 * getopt print the user's arguments unchanged. */
void error_protect_terminal(void);

/* Sets the function that writes the known options nearest to an unknown "--NAME" to `out`, or "".
 * It is called when getopt complains. */
void error_find_options(void (*find)(const char *name, char *out, size_t room));
