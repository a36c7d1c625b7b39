/* Tells the files that hr writes from all others. */
#include "host/base/output_kind.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/hr_format.h"
#include "include/run_manifest.h"

#define START_BYTES 4096u

struct mark {
    enum output_kind kind;
    uint16_t offset;
    uint16_t bytes;
    const char *mark;
};

#define MARK(kind, offset, mark)              \
    {                                         \
        kind, offset, sizeof(mark) - 1, mark, \
    }

static const struct mark marks[] = {
    {OUTPUT_TRACE, 0, sizeof((struct hr_file_header *)0)->magic, HR_FILE_MAGIC},
    MARK(OUTPUT_PAGE, 0, OUTPUT_MARK_PAGE),
    MARK(OUTPUT_PICTURE, 0, OUTPUT_MARK_PICTURE),
    MARK(OUTPUT_EXPORT, 0, OUTPUT_MARK_CSV),
    MARK(OUTPUT_EXPORT, 0, OUTPUT_MARK_FIREFOX),
    MARK(OUTPUT_EXPORT, 10, OUTPUT_MARK_GZIP), /* RFC 1952, 2.3: after the fixed fields */
    MARK(OUTPUT_EXPORT, 104, OUTPUT_MARK_PERF), /* perf.data's header */
    MARK(OUTPUT_EXPORT, 68, "Mctm"), /* SQLite's file format, 1.3: application id */
    MARK(OUTPUT_EXPORT, 2, "\x50\x01\x68\x03\x32"), /* perfetto: our only sequence, and clocks */
    MARK(OUTPUT_ARCHIVE, 110, RUN_MANIFEST_NAME), /* cpio(5): after the first header */
    /* UEFI, "EFI Partition Entry": the name of the first partition, in UTF-16 */
    MARK(OUTPUT_IMAGE, 1080, "M\0i\0c\0r\0o\0t\0o\0m\0e\0\0"),
};

const char *output_kind_name(enum output_kind kind)
{
    static const char *const names[OUTPUT_KINDS] = {
        [OUTPUT_TRACE] = "trace",   [OUTPUT_PAGE] = "page",       [OUTPUT_PICTURE] = "picture",
        [OUTPUT_EXPORT] = "export", [OUTPUT_ARCHIVE] = "archive", [OUTPUT_IMAGE] = "image",
    };

    return names[kind];
}

const char *output_kind_words(enum output_kind kind)
{
    static const char *const words[OUTPUT_KINDS] = {
        [OUTPUT_TRACE] = "trace",
        [OUTPUT_PAGE] = "page of hr view",
        [OUTPUT_PICTURE] = "picture of hr plot",
        [OUTPUT_EXPORT] = "export of hr",
        [OUTPUT_ARCHIVE] = "archive of hr pack",
        [OUTPUT_IMAGE] = "image of hr usb",
    };

    return words[kind];
}

bool output_kind_is(int fd, enum output_kind kind, output_kind_likeness *looks_alike)
{
    uint8_t start[START_BYTES];
    struct stat status;
    ssize_t count;

    if (fstat(fd, &status) != 0)
        return false;
    if (status.st_size == 0)
        return true;
    count = pread(fd, start, sizeof start, 0);
    if (count <= 0)
        return false;
    for (const struct mark *m = marks; m < marks + sizeof marks / sizeof marks[0]; m++)
        if (m->kind == kind && (size_t)m->offset + m->bytes <= (size_t)count &&
            memcmp(start + m->offset, m->mark, m->bytes) == 0)
            return true;
    return looks_alike != NULL && looks_alike(start, (size_t)count, (uint64_t)status.st_size);
}
