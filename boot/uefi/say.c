/* Prints the loader's messages. */
#include "boot/uefi/say.h"

#include <string.h>

#include "boot/uefi/screen.h"
#include "drivers/uart/uart.h"
#include "lib/format.h"

#define PREFIX "microtome: "
#define LINE_BYTES 320

static char log[SAY_LOG_BYTES];
static size_t log_bytes;

void say_init(void)
{
    uart_init();
}

void say_log_begin(void)
{
    log_bytes = 0;
}

const char *say_log(size_t *bytes)
{
    *bytes = log_bytes;
    return log;
}

/* A file's name or a kernel's report must not control a terminal. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

static void put(char *line, const char *format, va_list arguments)
{
    size_t bytes;

    memcpy(line, PREFIX, sizeof PREFIX);
    format_text_v(line + sizeof PREFIX - 1, LINE_BYTES - sizeof PREFIX - 2, format, arguments);
    make_printable(line);
    bytes = strlen(line);
    memcpy(line + bytes, "\r\n", 3);
    uart_write(line, bytes + 2);
    line[bytes] = '\n';
    if (log_bytes + bytes + 1 <= sizeof log) {
        memcpy(log + log_bytes, line, bytes + 1);
        log_bytes += bytes + 1;
    }
    line[bytes] = '\0';
}

void say(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    put(line, format, arguments);
    va_end(arguments);
}

void say_error(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    put(line, format, arguments);
    va_end(arguments);
    if (screen_rows())
        screen_line(screen_rows() - 1, line + sizeof PREFIX - 1);
}

void say_status(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    format_text_v(line, sizeof line, format, arguments);
    va_end(arguments);
    if (screen_rows())
        screen_line(screen_rows() - 1, line);
}
