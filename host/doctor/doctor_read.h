/* Reads the small files of /sys and /proc for hr doctor, below the host's root.
 *
 * A file that is not regular, is too large, or holds anything but printable text gives -EBADMSG.
 * Functions that return int return 0 or -errno and store nothing on failure, unless noted.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/doctor/doctor.h"

#define DOCTOR_TEXT_BYTES 1024

/* Reads a file's text without trailing white space; it may be empty, and is so after a failure. */
int doctor_read(const struct doctor_host *host, const char *path, char text[DOCTOR_TEXT_BYTES]);

/* Reads Y, N, 1 or 0. */
int doctor_read_flag(const struct doctor_host *host, const char *path, bool *flag);

/* Reads a decimal number without a sign. */
int doctor_read_number(const struct doctor_host *host, const char *path, uint64_t *number);

/* Reads a list such as 0-3,8.  On failure the set is empty. */
int doctor_read_cpus(const struct doctor_host *host, const char *path, cpu_set_t *cpus);

bool doctor_read_exists(const struct doctor_host *host, const char *path);
