/* The devices of /dev. */
#ifndef GUEST_FILE_FILE_DEVICE_H
#define GUEST_FILE_FILE_DEVICE_H

#include "guest/file/files.h"

extern const struct file_type device_null;
extern const struct file_type device_zero;
extern const struct file_type device_full;
extern const struct file_type device_random;
extern const struct file_type device_terminal; /* /dev/tty: opens as file_terminal */

#endif
