/* Reads the small files of /sys and /proc for hr doctor, below the host's root.
 *
 * A file that is not regular, has more than fits, or holds anything but printable text gives
 * -EBADMSG.  Everything returns 0 or -errno and stores nothing on failure, unless said otherwise.
 */
#ifndef HOST_DOCTOR_DOCTOR_READ_H
#define HOST_DOCTOR_DOCTOR_READ_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/doctor/doctor.h"

#define DOCTOR_TEXT_BYTES 1024

/* The file's text without white space at its end; it may be empty.  On failure *text is. */
int doctor_read(const struct doctor_host *host, const char *path, char text[DOCTOR_TEXT_BYTES]);

/* Y, N, 1 or 0 */
int doctor_read_flag(const struct doctor_host *host, const char *path, bool *flag);

/* A decimal number without a sign. */
int doctor_read_number(const struct doctor_host *host, const char *path, uint64_t *number);

/* A list such as 0-3,8.  On failure the set is empty. */
int doctor_read_cpus(const struct doctor_host *host, const char *path, cpu_set_t *cpus);

bool doctor_read_exists(const struct doctor_host *host, const char *path);

#endif
