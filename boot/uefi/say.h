/* What the loader has to say: a line on the serial port, and in the log of the run that it is
 * about. Errors are on the screen's last row, too, until the next error or status.
 */
#ifndef BOOT_UEFI_SAY_H
#define BOOT_UEFI_SAY_H

#include <stddef.h>

#define SAY_LOG_BYTES 8192

void say_init(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_status(const char *format, ...) /* the screen's last row only */
    __attribute__((format(printf, 1, 2)));

/* The lines since say_log_begin, without a NUL at the end; what does not fit is left out. */
void say_log_begin(void);
const char *say_log(size_t *bytes);

#endif
