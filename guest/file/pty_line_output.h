/* The output of a line discipline, and the echo of what is typed.  For guest/file/pty_line*.c. */
#pragma once

#include "guest/file/pty_line.h"

#define RUBOUT 127
#define BELL 7
#define BACKSPACE 8
#define TAB_COLUMNS 8u

static inline uint32_t pty_queue_index(const struct pty_queue *q, uint32_t at)
{
    return (q->start + at) % PTY_LINE_BYTES;
}

static inline bool pty_queue_add(struct pty_queue *q, uint8_t byte)
{
    if (q->used == PTY_LINE_BYTES)
        return false;
    q->bytes[pty_queue_index(q, q->used++)] = byte;
    return true;
}

static inline uint8_t pty_queue_take(struct pty_queue *q)
{
    uint8_t byte = q->bytes[q->start];

    q->start = (q->start + 1) % PTY_LINE_BYTES;
    q->used--;
    return byte;
}

/* Echo a byte as it is, or as the settings show it; erase columns.  Echoes do not wait: without
 * room they are lost. */
void pty_line_echo_raw(struct pty_line *line, uint8_t byte);
void pty_line_echo(struct pty_line *line, uint8_t byte);
void pty_line_erase(struct pty_line *line, uint32_t columns);

/* Returns whether a byte is shown as ^ and a letter. */
bool pty_line_shows_control(const struct pty_line *line, uint8_t byte);
