/* Keeps lines of text in bounded memory. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/run/relay_log.h"

void relay_log_init(struct relay_log *log, const char *label, enum relay_echo echo)
{
    log->text[0] = 0;
    log->used = 0;
    log->line_start = 0;
    log->label = label;
    log->echo = echo;
}

/* Drops the older half, up to a line's end. */
static void make_room(struct relay_log *log)
{
    char *keep = log->text + RELAY_LOG_BYTES / 2;
    char *line = memchr(keep, '\n', (size_t)(log->text + log->used - keep));
    size_t dropped = (size_t)((line != NULL ? line + 1 : keep) - log->text);

    log->used -= dropped;
    memmove(log->text, log->text + dropped, log->used);
    log->line_start = log->line_start > dropped ? log->line_start - dropped : 0;
}

static void echo_line(const struct relay_log *log)
{
    const char *line = log->text + log->line_start;
    int bytes = (int)(log->used - log->line_start);
    int mark = sizeof RELAY_LOG_NOTICE - 1;
    bool notice = bytes >= mark && memcmp(line, RELAY_LOG_NOTICE, (size_t)mark) == 0;

    if (log->echo == RELAY_ECHO_ALL)
        fprintf(stderr, "%s: %.*s\n", log->label, bytes, line);
    else if (log->echo == RELAY_ECHO_NOTICES && notice)
        fprintf(stderr, "hr: %.*s\n", bytes - mark, line + mark);
}

static void end_line(struct relay_log *log)
{
    echo_line(log);
    log->text[log->used++] = '\n';
    log->line_start = log->used;
}

static void put(struct relay_log *log, unsigned char c)
{
    if (log->used + 8 > RELAY_LOG_BYTES)
        make_room(log);
    if (c == '\n' || log->used - log->line_start > RELAY_LOG_LINE_BYTES)
        end_line(log);
    if (c == '\t' || (c >= ' ' && c < 0x7f))
        log->text[log->used++] = (char)c;
    else if (c != '\n' && c != '\r')
        log->used += (size_t)snprintf(log->text + log->used, 5, "\\x%02x", c);
}

void relay_log_add(struct relay_log *log, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(log, (unsigned char)bytes[i]);
    log->text[log->used] = 0;
}

ssize_t relay_log_receive(struct relay_log *log, int from)
{
    char bytes[4096];
    ssize_t count = read(from, bytes, sizeof bytes);

    if (count < 0)
        return -errno;
    relay_log_add(log, bytes, (size_t)count);
    return count;
}

const char *relay_log_tail(const struct relay_log *log, unsigned lines)
{
    const char *start = log->text + log->used;

    while (start > log->text) {
        if (start[-1] == '\n' && start < log->text + log->used && lines-- <= 1)
            break;
        start--;
    }
    return start;
}
