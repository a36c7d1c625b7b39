/* The kernel's log: lines are buffered here; service work sends them. */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/base/log_buffer.h"
#include "lib/x86.h"

#define LOG_BYTES 16384u

static char buffer[LOG_BYTES];
static uint32_t used;
static uint32_t lines_dropped;
static volatile bool locked;

/* Gives up waiting after a while: a panic may have interrupted the holder. */
static void log_lock(void)
{
    for (int i = 0; i < 1000000 && __atomic_test_and_set(&locked, __ATOMIC_ACQUIRE); i++)
        x86_pause();
}

static void log_unlock(void)
{
    __atomic_clear(&locked, __ATOMIC_RELEASE);
}

static void log_append(const char *line, size_t bytes)
{
    log_lock();
    if (bytes <= LOG_BYTES - used) {
        memcpy(buffer + used, line, bytes);
        used += (uint32_t)bytes;
    } else {
        lines_dropped++;
    }
    log_unlock();
}

static void log_line_v(const char *format, va_list arguments)
{
    char line[512];
    int bytes = format_text_v(line, sizeof line - 1, format, arguments);

    if ((size_t)bytes > sizeof line - 2)
        bytes = sizeof line - 2;
    line[bytes] = '\n';
    log_append(line, (size_t)bytes + 1);
}

void log_line(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    log_line_v(format, arguments);
    va_end(arguments);
}

bool log_buffer_empty(void)
{
    return used == 0;
}

void log_buffer_take(void (*sink)(const char *bytes, size_t count))
{
    static char copy[LOG_BYTES];
    char note[64];
    uint32_t bytes, dropped;

    log_lock();
    bytes = used;
    dropped = lines_dropped;
    memcpy(copy, buffer, bytes);
    used = lines_dropped = 0;
    log_unlock();
    if (bytes)
        sink(copy, bytes);
    if (dropped) {
        format_text(note, sizeof note, "%u log lines were dropped\n", dropped);
        sink(note, strlen(note));
    }
}
