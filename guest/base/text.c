/* Text that grows. */
#include "guest/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

#include "guest/base/log.h"

void text_add(struct text *text, const char *format, ...)
{
    uint64_t room = text->used < text->room ? text->room - text->used : 0;
    va_list arguments;

    va_start(arguments, format);
    text->used +=
        (uint64_t)format_text_v(room ? text->out + text->used : NULL, room, format, arguments);
    va_end(arguments);
}

int64_t text_end(const struct text *text)
{
    if (text->error)
        return text->error;
    return text->used < text->room ? (int64_t)text->used : -ENOBUFS;
}
