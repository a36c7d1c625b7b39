/* Keeps a machine's peak as a line of text, in a file named after a checksum of the processor. */
#include "host/machine/machine_peak.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/base/cache.h"
#include "lib/crc32c.h"

#define NAME_BYTES 32
#define KEY_BYTES 256
#define FIGURES " read %lf write %lf copy %lf latency %lf\n"

/* A processor in another hypervisor, or without one, may have another peak.  Returns false for one
 * without a model, which cannot be told from others. */
static bool name_machine(const struct trace_info *info, char key[KEY_BYTES], char name[NAME_BYTES])
{
    snprintf(key, KEY_BYTES, "%.80s|%.80s|%.80s", trace_info_text(info, "machine.model", ""),
             trace_info_text(info, "machine.family", ""),
             trace_info_text(info, "machine.hypervisor", ""));
    key[strcspn(key, "\n")] = 0;
    snprintf(name, NAME_BYTES, "peak-%08x", crc32c(0, key, strlen(key)));
    return key[0] != '|';
}

int machine_peak_store(const struct trace_info *info, const struct machine_peak *peak)
{
    char path[PATH_MAX], key[KEY_BYTES], name[NAME_BYTES], temporary[64];
    int directory, fd, error = 0;

    if (!name_machine(info, key, name))
        return -ENODATA;
    directory = cache_open(true, path);
    if (directory < 0)
        return -ENOENT;
    snprintf(temporary, sizeof temporary, "peak-new-%d", (int)getpid());
    (void)unlinkat(directory, temporary, 0); /* of an hr that died and had our number */
    fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || dprintf(fd, "%s\n" FIGURES, key, peak->read_per_us, peak->write_per_us,
                          peak->copy_per_us, peak->latency_ns) < 0)
        error = -errno;
    if (fd >= 0 && close(fd) != 0 && error == 0)
        error = -errno;
    if (error == 0 && renameat(directory, temporary, directory, name) != 0)
        error = -errno;
    if (error != 0)
        (void)unlinkat(directory, temporary, 0);
    close(directory);
    return error;
}

bool machine_peak_load(const struct trace_info *info, struct machine_peak *peak)
{
    char path[PATH_MAX], key[KEY_BYTES], name[NAME_BYTES], line[KEY_BYTES + 1] = "";
    int directory, fd;
    FILE *file;
    bool found;

    directory = name_machine(info, key, name) ? cache_open(false, path) : -1;
    if (directory < 0)
        return false;
    fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(directory);
    file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    found = fgets(line, sizeof line, file) != NULL && strncmp(line, key, strlen(key)) == 0 &&
            fscanf(file, FIGURES, &peak->read_per_us, &peak->write_per_us, &peak->copy_per_us,
                   &peak->latency_ns) == 4 &&
            peak->read_per_us > 0 && peak->write_per_us > 0;
    fclose(file);
    return found;
}
