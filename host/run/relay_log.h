/* Keeps the last lines of a stream of text from the guest or the emulator, and can echo them.
 *
 * The text is not trusted: control characters are escaped.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define RELAY_LOG_BYTES 65536u
#define RELAY_LOG_LINE_BYTES 512u

enum relay_echo { /* the lines that are printed on stderr when they end */
                  RELAY_ECHO_NONE,
                  RELAY_ECHO_NOTICES, /* those that begin with RELAY_LOG_NOTICE, without it */
                  RELAY_ECHO_ALL,
};

/* The mark of lines from the guest's kernel that the user must see (guest/base/log.h). */
#define RELAY_LOG_NOTICE "notice: "

struct relay_log {
    char text[RELAY_LOG_BYTES + 1]; /* last bytes, escaped, NUL-terminated */
    size_t used;
    enum relay_echo echo;
    size_t line_start; /* offset in text of what was not echoed yet */
    const char *label;
};

void relay_log_init(struct relay_log *log, const char *label, enum relay_echo echo);

/* Reads once from a non-blocking descriptor.  Returns bytes, 0 at the end, or -errno. */
ssize_t relay_log_receive(struct relay_log *log, int from);

void relay_log_add(struct relay_log *log, const char *bytes, size_t count);

/* Returns the last `lines` lines of the text. */
const char *relay_log_tail(const struct relay_log *log, unsigned lines);
