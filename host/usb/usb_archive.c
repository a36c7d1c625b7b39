/* Checks archives of hr pack. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/usb/usb_archive.h"
#include "lib/cpio.h"
#include "lib/manifest.h"

static int check_manifest(const char *path, const struct manifest *m, struct run_failure *failure)
{
    if (manifest_text(m, "program", NULL) == NULL)
        return run_fail(failure, RUN_EXIT_FAILED, "%s names no program; make it with hr pack",
                        path);
    if (manifest_text(m, "event", NULL) != NULL && manifest_text(m, "target-cpu", NULL) == NULL)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "%s: its events are not encoded, and a stick has no host to ask; make it "
                        "with hr pack --target-cpu all",
                        path);
    return 0;
}

static int check_entries(const char *path, const void *bytes, size_t count,
                         struct run_failure *failure)
{
    struct cpio_reader reader;
    struct cpio_entry entry;
    enum cpio_status status;
    struct manifest manifest;

    cpio_init(&reader, bytes, count);
    status = cpio_next(&reader, &entry);
    if (status == CPIO_OK && (strcmp(entry.name, RUN_MANIFEST_NAME) != 0 ||
                              manifest_open(&manifest, entry.data, entry.bytes) != 0))
        return run_fail(failure, RUN_EXIT_FAILED, "%s holds no run; make it with hr pack", path);
    if (status == CPIO_OK && check_manifest(path, &manifest, failure) != 0)
        return -1;
    while (status == CPIO_OK)
        status = cpio_next(&reader, &entry);
    if (status == CPIO_END)
        return 0;
    return run_fail(failure, RUN_EXIT_FAILED, "%s is damaged at byte %zu: %s; pack it again", path,
                    reader.offset, cpio_status_text(status));
}

int usb_archive_check(const char *path, struct run_failure *failure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    void *bytes;
    int result;

    if (fd < 0)
        return run_fail(failure, RUN_EXIT_FAILED, "%s: %s", path, strerror(errno));
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        close(fd);
        return run_fail(failure, RUN_EXIT_FAILED, "%s is no archive of hr pack's", path);
    }
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return run_fail(failure, RUN_EXIT_FAILED, "%s: %s", path, strerror(errno));
    result = check_entries(path, bytes, (size_t)status.st_size, failure);
    munmap(bytes, (size_t)status.st_size);
    return result;
}
