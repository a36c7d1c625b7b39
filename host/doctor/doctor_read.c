/* Reads small files of the host for hr doctor. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/cpu_list.h"
#include "host/base/transfer.h"
#include "host/doctor/doctor_read.h"

static int open_file(const struct doctor_host *host, const char *path)
{
    char full[PATH_MAX];
    struct stat about;
    int fd;

    if (snprintf(full, sizeof full, "%s%s", host->root, path) >= (int)sizeof full)
        return -ENAMETOOLONG;
    fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
        return fd;
    close(fd);
    return -EBADMSG;
}

int doctor_read(const struct doctor_host *host, const char *path, char text[DOCTOR_TEXT_BYTES])
{
    int fd = open_file(host, path);
    int bytes;

    text[0] = 0;
    if (fd < 0)
        return fd;
    bytes = (int)transfer_read(fd, text, DOCTOR_TEXT_BYTES);
    close(fd);
    while (bytes > 0 && bytes < DOCTOR_TEXT_BYTES && isspace((unsigned char)text[bytes - 1]))
        bytes--;
    if (bytes == DOCTOR_TEXT_BYTES)
        bytes = -EBADMSG;
    for (int i = 0; i < bytes; i++)
        if (!isprint((unsigned char)text[i]) && text[i] != '\t' && text[i] != '\n')
            bytes = -EBADMSG;
    text[bytes > 0 ? bytes : 0] = 0;
    return bytes < 0 ? bytes : 0;
}

int doctor_read_flag(const struct doctor_host *host, const char *path, bool *flag)
{
    char text[DOCTOR_TEXT_BYTES];
    int error = doctor_read(host, path, text);

    if (error != 0)
        return error;
    if (text[0] == 0 || text[1] != 0 || strchr("YN10", text[0]) == NULL)
        return -EBADMSG;
    *flag = text[0] == 'Y' || text[0] == '1';
    return 0;
}

int doctor_read_number(const struct doctor_host *host, const char *path, uint64_t *number)
{
    char text[DOCTOR_TEXT_BYTES];
    int error = doctor_read(host, path, text);

    if (error != 0)
        return error;
    if (text[0] == 0 || text[strspn(text, "0123456789")] != 0 || strlen(text) > 18)
        return -EBADMSG;
    *number = strtoull(text, NULL, 10);
    return 0;
}

int doctor_read_cpus(const struct doctor_host *host, const char *path, cpu_set_t *cpus)
{
    char text[DOCTOR_TEXT_BYTES];
    struct cpu_list list;
    int error = doctor_read(host, path, text);

    CPU_ZERO(cpus);
    if (error != 0)
        return error;
    if (cpu_list_parse(text, &list) != 0)
        return -EBADMSG;
    for (size_t i = 0; i < list.count; i++)
        CPU_SET(list.cpus[i], cpus);
    return 0;
}

bool doctor_read_exists(const struct doctor_host *host, const char *path)
{
    char full[PATH_MAX];

    return snprintf(full, sizeof full, "%s%s", host->root, path) < (int)sizeof full &&
           access(full, F_OK) == 0;
}
