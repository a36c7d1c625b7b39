/* The loader's messages: each is a line on the serial port and in the log of the run that it is
 * about.  Errors also appear in the screen's last row, until the next error or status.
 */
#pragma once

#include <stddef.h>

#define SAY_LOG_BYTES 8192

void say_init(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_status(const char *format, ...) /* only in the screen's last row */
    __attribute__((format(printf, 1, 2)));

/* say_log returns the lines since say_log_begin, without a final NUL; what does not fit is left
 * out. */
void say_log_begin(void);
const char *say_log(size_t *bytes);
