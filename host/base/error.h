/* How the hr command reports a failure: one line on stderr, "hr: what: why; remedy". */
#ifndef HOST_BASE_ERROR_H
#define HOST_BASE_ERROR_H

#include <stddef.h>

/* Prints "hr: ", the message and a line end to stderr.  Control characters in the message are
 * shown as escapes, so that names from a trace or a file system cannot steer the terminal.
 */
void error_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From here on nothing on stderr steers the terminal, whoever writes it: argp and getopt print what
 * they were given.
 */
void error_protect_terminal(void);

/* Where getopt complains about an unknown option, "--NAME": writes the options that are near to
 * `out`, or "".
 */
void error_find_options(void (*find)(const char *name, char *out, size_t room));

#endif
