/* printf-like formatting without a C library, for the kernel and the loader.  Context: any. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* Formats %s %c %d %i %u %o %x %X %lu %ld %lx %lX %llu %llx %zu %p %%, with width (or *), 0 and -.
 * Returns the length of the whole text; writes at most `room` bytes including the NUL. */
int format_text(char *out, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int format_text_v(char *out, size_t room, const char *format, va_list arguments);
