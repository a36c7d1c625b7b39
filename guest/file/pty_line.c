/* The line discipline, as Linux's n_tty: typing, editing, reading. */
#include "guest/file/pty_line_output.h"

#include <signal.h>
#include <string.h>

#define CONTROL(letter) ((letter)&31)

static bool is_key(const struct pty_line *line, uint32_t key, uint8_t byte)
{
    return byte && line->settings.c_cc[key] == byte;
}

static bool is_canonical(const struct pty_line *line)
{
    return line->settings.c_lflag & ICANON;
}

static bool ends_line(const struct pty_line *line, uint32_t index)
{
    return line->ends[index / 64] >> index % 64 & 1;
}

static void set_end(struct pty_line *line, uint32_t index, bool on)
{
    uint64_t bit = 1ull << index % 64;

    line->ends[index / 64] = on ? line->ends[index / 64] | bit : line->ends[index / 64] & ~bit;
}

/* Returns how many columns a tab took that ended the edited line. */
static uint32_t tab_columns(const struct pty_line *line)
{
    uint32_t before = line->edit_column, first = line->in.used - line->edited;

    for (uint32_t i = first; i < line->in.used; i++) {
        uint8_t byte = line->in.bytes[pty_queue_index(&line->in, i)];

        before = byte == '\t' ? 0 : before + 1u + pty_line_shows_control(line, byte);
    }
    return TAB_COLUMNS - before % TAB_COLUMNS;
}

/* ---- editing ---- */

static bool has(uint32_t flags, uint32_t all)
{
    return (flags & all) == all;
}

static bool is_word(uint8_t byte)
{
    return byte == '_' || byte >= 128 || (byte >= '0' && byte <= '9') ||
           ((byte | 32) >= 'a' && (byte | 32) <= 'z');
}

static uint8_t last_edited(const struct pty_line *line)
{
    return line->in.bytes[pty_queue_index(&line->in, line->in.used - 1)];
}

/* Takes the last byte of the edited line back, and its echo. */
static void erase_one(struct pty_line *line)
{
    uint8_t byte = last_edited(line);
    uint32_t flags = line->settings.c_lflag;

    line->in.used--;
    line->edited--;
    if (!(flags & ECHO))
        return;
    if (!(flags & ECHOE))
        pty_line_echo(line, line->settings.c_cc[VERASE]);
    else if (byte == '\t')
        for (uint32_t i = tab_columns(line); i; i--)
            pty_line_echo_raw(line, BACKSPACE);
    else
        pty_line_erase(line, 1u + pty_line_shows_control(line, byte));
}

static void erase_word(struct pty_line *line)
{
    while (line->edited && !is_word(last_edited(line)))
        erase_one(line);
    while (line->edited && is_word(last_edited(line)))
        erase_one(line);
}

static void erase_line(struct pty_line *line)
{
    uint32_t flags = line->settings.c_lflag;

    if (has(flags, ECHO | ECHOK | ECHOKE | ECHOE)) {
        while (line->edited)
            erase_one(line);
        return;
    }
    line->in.used -= line->edited;
    line->edited = 0;
    pty_line_echo(line, line->settings.c_cc[VKILL]);
    if (flags & ECHOK)
        pty_line_echo(line, '\n');
}

/* Ends the edited line by a byte that is in it, or (0) by the end of the file. */
static void end_edit(struct pty_line *line, uint8_t byte)
{
    set_end(line, pty_queue_index(&line->in, line->in.used), true);
    (void)pty_queue_add(&line->in, byte);
    line->edited = 0;
}

/* Handles keys of canonical mode.  Returns false if the byte is none. */
static bool edit(struct pty_line *line, uint8_t byte)
{
    uint32_t flags = line->settings.c_lflag;
    bool more = flags & IEXTEN;

    if (is_key(line, VERASE, byte)) {
        if (line->edited)
            erase_one(line);
    } else if (is_key(line, VKILL, byte)) {
        erase_line(line);
    } else if (more && is_key(line, VWERASE, byte)) {
        erase_word(line);
    } else if (more && is_key(line, VLNEXT, byte)) {
        line->literal = true;
        if (has(flags, ECHO | ECHOCTL)) {
            pty_line_echo_raw(line, '^');
            pty_line_echo_raw(line, BACKSPACE);
        }
    } else if (is_key(line, VEOF, byte)) {
        end_edit(line, 0);
    } else if (byte == '\n' || is_key(line, VEOL, byte) || (more && is_key(line, VEOL2, byte))) {
        if (byte == '\n' && flags & ECHONL && !(flags & ECHO))
            pty_line_echo_raw(line, byte);
        pty_line_echo(line, byte);
        end_edit(line, byte);
    } else {
        return false;
    }
    return true;
}

/* ---- typing ---- */

static uint32_t signal_of(const struct pty_line *line, uint8_t byte)
{
    if (!(line->settings.c_lflag & ISIG))
        return 0;
    return is_key(line, VINTR, byte)   ? SIGINT
           : is_key(line, VQUIT, byte) ? SIGQUIT
           : is_key(line, VSUSP, byte) ? SIGTSTP
                                       : 0;
}

/* VSTART and VSTOP.  Returns false if the byte is neither. */
static bool change_flow(struct pty_line *line, uint8_t byte)
{
    bool start = is_key(line, VSTART, byte), stop = is_key(line, VSTOP, byte);

    if (!(line->settings.c_iflag & IXON) || (!start && !stop))
        return false;
    line->stopped = stop && !(start && line->stopped);
    return true;
}

static void keep_byte(struct pty_line *line, uint8_t byte)
{
    bool canonical = is_canonical(line);

    if (canonical && line->in.used >= PTY_LINE_BYTES - 1) { /* the last place is for the end */
        if (line->settings.c_iflag & IMAXBEL)
            pty_line_echo_raw(line, BELL);
        return;
    }
    if (!line->edited)
        line->edit_column = line->column;
    pty_line_echo(line, byte);
    if (pty_queue_add(&line->in, byte))
        line->edited += canonical;
}

/* Returns true if the byte is dropped; else it may have become another one. */
static bool map_input(const struct pty_line *line, uint8_t *byte)
{
    uint32_t flags = line->settings.c_iflag;

    if (flags & ISTRIP)
        *byte &= 127;
    if (*byte == '\r' && flags & IGNCR)
        return true;
    if (*byte == '\r' && flags & ICRNL)
        *byte = '\n';
    else if (*byte == '\n' && flags & INLCR)
        *byte = '\r';
    return false;
}

uint32_t pty_line_type(struct pty_line *line, uint8_t byte)
{
    uint32_t signal;

    if (line->literal) {
        line->literal = false;
        keep_byte(line, byte);
        return 0;
    }
    if (change_flow(line, byte))
        return 0;
    signal = signal_of(line, byte);
    if (signal) {
        if (!(line->settings.c_lflag & NOFLSH))
            pty_line_flush(line);
        line->stopped = false;
        pty_line_echo(line, byte);
        return signal;
    }
    if (map_input(line, &byte))
        return 0;
    if (line->settings.c_iflag & IXON && line->settings.c_iflag & IXANY)
        line->stopped = false;
    if (!is_canonical(line) || !edit(line, byte))
        keep_byte(line, byte);
    return 0;
}

bool pty_line_accepts(const struct pty_line *line)
{
    if (is_canonical(line) && line->edited == line->in.used)
        return line->in.used < PTY_LINE_BYTES; /* what does not fit is dropped, but for the end */
    return line->in.used < PTY_LINE_BYTES - 1;
}

/* ---- reading ---- */

bool pty_line_readable(const struct pty_line *line)
{
    return line->in.used > (is_canonical(line) ? line->edited : 0);
}

/* Returns the length of the first line with its end. */
static uint32_t first_line(const struct pty_line *line)
{
    uint32_t length = 0;

    while (!ends_line(line, pty_queue_index(&line->in, length)))
        length++;
    return length + 1;
}

uint32_t pty_line_ready(const struct pty_line *line)
{
    uint32_t length, last;

    if (!is_canonical(line))
        return line->in.used;
    if (!pty_line_readable(line))
        return 0;
    length = first_line(line);
    last = line->in.bytes[pty_queue_index(&line->in, length - 1)];
    return last ? length : length - 1;
}

uint32_t pty_line_take(struct pty_line *line, uint8_t *to, uint32_t most)
{
    bool canonical = is_canonical(line), ended = false;
    uint32_t done = 0;

    while (pty_line_readable(line) && !ended) {
        uint8_t byte = line->in.bytes[line->in.start];

        ended = canonical && ends_line(line, line->in.start);
        if (done == most && !(ended && !byte)) /* an end of file is taken with what is before it */
            break;
        set_end(line, line->in.start, false);
        (void)pty_queue_take(&line->in);
        if (!ended || byte)
            to[done++] = byte;
    }
    return done;
}

/* ---- settings ---- */

void pty_line_start(struct pty_line *line)
{
    line->settings = (struct termios){.c_iflag = ICRNL | IXON,
                                      .c_oflag = OPOST | ONLCR,
                                      .c_cflag = B38400 | CS8 | CREAD,
                                      .c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL |
                                                 ECHOKE | IEXTEN,
                                      .c_cc = {[VINTR] = CONTROL('C'),
                                               [VQUIT] = CONTROL('\\'),
                                               [VERASE] = RUBOUT,
                                               [VKILL] = CONTROL('U'),
                                               [VEOF] = CONTROL('D'),
                                               [VMIN] = 1,
                                               [VSTART] = CONTROL('Q'),
                                               [VSTOP] = CONTROL('S'),
                                               [VSUSP] = CONTROL('Z'),
                                               [VREPRINT] = CONTROL('R'),
                                               [VDISCARD] = CONTROL('O'),
                                               [VWERASE] = CONTROL('W'),
                                               [VLNEXT] = CONTROL('V')}};
}

void pty_line_set(struct pty_line *line, const struct termios *settings, bool flush)
{
    bool changed = (line->settings.c_lflag ^ settings->c_lflag) & ICANON;

    line->settings = *settings;
    line->settings.c_cflag = (settings->c_cflag & ~(uint32_t)(CSIZE | PARENB)) | CS8 | CREAD;
    if (flush)
        pty_line_flush(line);
    if (!(settings->c_iflag & IXON))
        line->stopped = false;
    if (!changed)
        return;
    memset(line->ends, 0, sizeof line->ends);
    line->edited = 0;
    line->literal = false;
    if (is_canonical(line) && line->in.used) /* what is there can be read as a line */
        set_end(line, pty_queue_index(&line->in, line->in.used - 1), true);
}

void pty_line_flush(struct pty_line *line)
{
    memset(line->ends, 0, sizeof line->ends);
    line->in.used = line->edited = 0;
    line->literal = false;
}
