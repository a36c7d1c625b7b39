/* Prints one-line failure messages. */
#include "host/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "host/base/text.h"

/* Recognises ESC [ K, which hr itself sends to terminals. */
static bool erases_line(const char *at, size_t left)
{
    return left >= 3 && memcmp(at, "\033[K", 3) == 0;
}

static void (*find_options)(const char *name, char *out, size_t room);

void error_find_options(void (*find)(const char *name, char *out, size_t room))
{
    find_options = find;
}

/* If the text is getopt's message about an option, writes "; the nearest: ...". */
static size_t say_nearest(const char *bytes, size_t count, char *out, size_t room)
{
    static const char complaint[] = "unrecognized option '--";
    const char *at = memmem(bytes, count, complaint, sizeof complaint - 1);
    const char *name = at != NULL ? at + sizeof complaint - 1 : NULL;
    const char *end = at != NULL ? memchr(name, '\'', (size_t)(bytes + count - name)) : NULL;
    char wanted[64], list[256] = "";

    if (end == NULL || find_options == NULL)
        return 0;
    snprintf(wanted, sizeof wanted, "%.*s", (int)(end - name), name);
    find_options(wanted, list, sizeof list);
    return list[0] == 0 ? 0 : (size_t)snprintf(out, room, "; the nearest: %s", list);
}

static void write_safe(const char *bytes, size_t count)
{
    char safe[4096];
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool c1 = c == 0xc2 && i + 1 < count && ((unsigned char)bytes[i + 1] & 0xe0) == 0x80;

        if (used > sizeof safe - 8) {
            (void)!write(STDERR_FILENO, safe, used);
            used = 0;
        }
        if (c1 || c == 0x7f ||
            (c < ' ' && strchr("\n\r\t", c) == NULL && !erases_line(bytes + i, count - i)))
            used += (size_t)snprintf(safe + used, sizeof safe - used, "\\x%02x", c);
        else
            safe[used++] = (char)c;
    }
    (void)!write(STDERR_FILENO, safe, used);
}

static ssize_t write_escaped(void *, const char *bytes, size_t count)
{
    char nearest[300];
    size_t said = say_nearest(bytes, count, nearest, sizeof nearest);

    if (said == 0 || bytes[count - 1] != '\n') {
        write_safe(bytes, count);
    } else {
        write_safe(bytes, count - 1);
        write_safe(nearest, said);
        write_safe("\n", 1);
    }
    return (ssize_t)count;
}

void error_protect_terminal(void)
{
    const cookie_io_functions_t functions = {.write = write_escaped};
    FILE *stream = fopencookie(NULL, "w", functions);

    if (stream == NULL)
        return;
    setvbuf(stream, NULL, _IONBF, 0);
    stderr = stream;
}

static void print(const char *format, va_list values)
{
    char message[4096];
    char safe[8192];

    vsnprintf(message, sizeof message, format, values);
    fflush(stdout);
    fprintf(stderr, "hr: %s\n", text_escape(safe, sizeof safe, message));
}

void error_print(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print(format, values);
    va_end(values);
}

int error_exit(int status, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print(format, values);
    va_end(values);
    return status;
}
