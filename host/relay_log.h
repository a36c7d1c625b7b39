/* Keeps the last lines of a stream of text from the guest or the emulator, and can echo them.
 *
 * The text is not trusted: what is shown has its control characters escaped.
 */
#ifndef HOST_RELAY_LOG_H
#define HOST_RELAY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RELAY_LOG_BYTES 65536u
#define RELAY_LOG_LINE_BYTES 512u

struct relay_log {
    char text[RELAY_LOG_BYTES + 1]; /* the last bytes, NUL-terminated, escaped */
    size_t used;
    bool echo; /* show each line on stderr as it ends */
    size_t line_start; /* offset in text of what was not echoed yet */
    const char *label;
};

void relay_log_init(struct relay_log *log, const char *label, bool echo);

/* Reads once from a non-blocking descriptor: bytes, 0 at the end, -errno. */
ssize_t relay_log_receive(struct relay_log *log, int from);

void relay_log_add(struct relay_log *log, const char *bytes, size_t count);

/* The last `lines` lines of the text. */
const char *relay_log_tail(const struct relay_log *log, unsigned lines);

#endif
