/* Writes output and echoes by the settings of a line. */
#include "guest/file/pty_line_output.h"

/* Adds bytes to the output, all or none. */
static bool put_all(struct pty_line *line, const char *bytes, uint32_t count)
{
    if (PTY_LINE_BYTES - line->out.used < count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        (void)pty_queue_add(&line->out, (uint8_t)bytes[i]);
    return true;
}

static void move_column(struct pty_line *line, uint8_t byte)
{
    if (byte == '\r')
        line->column = 0;
    else if (byte == '\t')
        line->column = (line->column / TAB_COLUMNS + 1) * TAB_COLUMNS;
    else if (byte == BACKSPACE)
        line->column -= line->column > 0;
    else if (byte >= ' ' && byte != RUBOUT)
        line->column++;
}

static bool put_newline(struct pty_line *line)
{
    uint32_t flags = line->settings.c_oflag;

    if (!(flags & ONLCR ? put_all(line, "\r\n", 2) : put_all(line, "\n", 1)))
        return false;
    if (flags & (ONLCR | ONLRET))
        line->column = 0;
    return true;
}

bool pty_line_put(struct pty_line *line, uint8_t byte)
{
    uint32_t flags = line->settings.c_oflag;

    if (line->stopped)
        return false;
    if (!(flags & OPOST))
        return pty_queue_add(&line->out, byte);
    if (byte == '\n')
        return put_newline(line);
    if (byte == '\r' && flags & ONOCR && !line->column)
        return true;
    if (byte == '\r' && flags & OCRNL)
        byte = '\n';
    if (byte == '\t' && (flags & TABDLY) == XTABS) {
        uint32_t spaces = TAB_COLUMNS - line->column % TAB_COLUMNS;

        if (!put_all(line, "        ", spaces))
            return false;
        line->column += spaces;
        return true;
    }
    if (!pty_queue_add(&line->out, byte))
        return false;
    move_column(line, byte);
    return true;
}

uint32_t pty_line_output(struct pty_line *line, uint8_t *to, uint32_t most)
{
    uint32_t done = 0;

    while (done < most && line->out.used)
        to[done++] = pty_queue_take(&line->out);
    return done;
}

/* ---- echoes ---- */

void pty_line_echo_raw(struct pty_line *line, uint8_t byte)
{
    bool stopped = line->stopped;

    line->stopped = false; /* echoes do not wait; without room they are lost */
    (void)pty_line_put(line, byte);
    line->stopped = stopped;
}

bool pty_line_shows_control(const struct pty_line *line, uint8_t byte)
{
    return line->settings.c_lflag & ECHOCTL && (byte < ' ' || byte == RUBOUT) && byte != '\t' &&
           byte != '\n';
}

void pty_line_echo(struct pty_line *line, uint8_t byte)
{
    if (!(line->settings.c_lflag & ECHO))
        return;
    if (pty_line_shows_control(line, byte)) {
        pty_line_echo_raw(line, '^');
        byte ^= 64;
    }
    pty_line_echo_raw(line, byte);
}

void pty_line_erase(struct pty_line *line, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) {
        pty_line_echo_raw(line, BACKSPACE);
        pty_line_echo_raw(line, ' ');
        pty_line_echo_raw(line, BACKSPACE);
    }
}
