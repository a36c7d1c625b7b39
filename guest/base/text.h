/* Text that is written piece by piece into a buffer that may be too small. */
#pragma once

#include <stdint.h>

/* text_end returns the bytes written, or `error`, or -ENOBUFS if `room` is too small: the caller
 * may try again with more. */
struct text {
    char *out;
    uint64_t room;
    uint64_t used; /* bytes that the whole text needs */
    int error; /* -errno: what the text is about is not there */
};
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t text_end(const struct text *text);
