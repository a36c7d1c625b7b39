/* The line discipline of a terminal: what typing, echoing, editing and signals by keys mean.  Pure;
 * the caller wakes those that wait.
 *
 * `in` holds what was typed, for the program; `out` what the program wrote, and echoes, for who
 * holds the master.  In canonical mode `in` ends with a line that is being edited. */
#pragma once

#include <asm/termbits.h>
#include <stdbool.h>
#include <stdint.h>

#define PTY_LINE_BYTES 4096u /* of each queue; a power of two */

struct pty_queue {
    uint32_t start, used;
    uint8_t bytes[PTY_LINE_BYTES];
};

struct pty_line {
    struct termios settings;
    struct pty_queue in, out;
    uint32_t edited; /* bytes of `in` that belong to a line without an end */
    uint64_t ends[PTY_LINE_BYTES / 64]; /* bit N: in.bytes[N] ends a line */
    bool literal; /* the next byte is no special one: VLNEXT was typed */
    bool stopped; /* VSTOP was typed: output waits */
    uint32_t column; /* where the next byte of output goes */
    uint32_t edit_column; /* where the edited line began */
};

void pty_line_start(struct pty_line *line); /* of zeros: Linux's settings of a new terminal */

/* Changes the settings; `flush` also drops what was typed. */
void pty_line_set(struct pty_line *line, const struct termios *settings, bool flush);

/* A byte is typed.  Returns the signal that it sends to the foreground, or 0.
 * pty_line_accepts: whether there is room for one. */
bool pty_line_accepts(const struct pty_line *line);
uint32_t pty_line_type(struct pty_line *line, uint8_t byte);

/* The program writes a byte.  Returns false if there is no room for it now. */
bool pty_line_put(struct pty_line *line, uint8_t byte);

/* Return how many bytes a read can take now (in canonical mode up to the end of one line, which may
 * be none at the end of the file), and whether one has something to take. */
uint32_t pty_line_ready(const struct pty_line *line);
bool pty_line_readable(const struct pty_line *line);

/* Takes up to `most` bytes that were typed.  Returns how many; 0 at the end of the file. */
uint32_t pty_line_take(struct pty_line *line, uint8_t *to, uint32_t most);

uint32_t pty_line_output(struct pty_line *line, uint8_t *to, uint32_t most); /* as written */

void pty_line_flush(struct pty_line *line); /* drops what was typed */
