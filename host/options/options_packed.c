/* Takes the options of a run from an archive of hr pack. */
#include "host/options/options_packed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/output_kind.h"
#include "lib/boot/modes.h"
#include "lib/program/cpio.h"

#define START_BYTES (RUN_MANIFEST_BYTES_MAX + 16384u) /* where the manifest ends at the latest */

bool options_packed_is(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    bool is = fd >= 0 && fstat(fd, &status) == 0 && status.st_size != 0 &&
              output_kind_is(fd, OUTPUT_ARCHIVE, NULL);

    if (fd >= 0)
        close(fd);
    return is;
}

/* Its first entry stays in memory. */
static int read_manifest(struct options_packed *packed, const char *path,
                         struct run_failure *failure)
{
    uint8_t *bytes = malloc(START_BYTES);
    ssize_t count = bytes != NULL ? pread(packed->fd, bytes, START_BYTES, 0) : -1;
    struct cpio_reader reader;
    struct cpio_entry entry;

    if (count < 0)
        return run_fail(failure, "%s: %s", path, strerror(errno));
    cpio_init(&reader, bytes, (size_t)count);
    if (cpio_next(&reader, &entry) != CPIO_OK || strcmp(entry.name, RUN_MANIFEST_NAME) != 0 ||
        manifest_open(&packed->manifest, entry.data, entry.bytes) != 0)
        return run_fail(failure, "%s: the archive is damaged; make it again with hr pack", path);
    packed->first_bytes = reader.offset;
    return 0;
}

/* Returns its events as a list for -e; NULL: no memory. */
static const char *event_list(const struct manifest *m)
{
    char *list = malloc(m->count + 8);
    const char *name;
    size_t position = 0, used = 0;

    if (list == NULL)
        return NULL;
    strcpy(list, "none");
    while ((name = manifest_next(m, "event", &position)) != NULL)
        used += (size_t)sprintf(list + used, "%s%s", used != 0 ? "," : "", name);
    return list;
}

static int take_manifest(struct options_parsing *parsing, const struct options_packed *packed)
{
    struct options *o = parsing->options;
    const struct manifest *m = &packed->manifest;
    const char *name = o->program[0];
    uint64_t cpus = 0;
    int mode = modes_find(manifest_text(m, "mode", ""));

    if (mode < 0 || manifest_number(m, "cpus", &cpus) != 0 || cpus > OPTIONS_CPUS_MAX)
        return run_fail(parsing->failure, "%s: it asks for what this hr does not know", name);
    if (mode == HR_MODE_PEBS)
        return run_fail(parsing->failure,
                        "%s: archives with precise samples (--mode pebs) run from a stick; use hr "
                        "run --mode pebs with the program",
                        name);
    o->mode = (enum hr_mode)mode;
    o->cpus = (int)cpus;
    if (!packed->replaced && mode != HR_MODE_EXACT && /* which has events of its own */
        manifest_text(m, "default-events", NULL) == NULL)
        parsing->event_list = event_list(m);
    return parsing->event_list != NULL
               ? 0
               : run_fail(parsing->failure, "out of memory; end other programs");
}

int options_packed_open(struct options_packed *packed, const char *path,
                        struct run_failure *failure)
{
    packed->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (packed->fd < 0)
        return run_fail(failure, "%s: %s", path, strerror(errno));
    return read_manifest(packed, path, failure);
}

int options_packed_finish(struct options_parsing *parsing)
{
    static struct options_packed packed;
    struct options *o = parsing->options;
    const char *name = o->program[0];

    if (parsing->given != NULL && strcmp(parsing->given, "event") != 0)
        return run_fail(parsing->failure, "--%s is a part of the archive %s; give it to hr pack",
                        parsing->given, name);
    if (o->program_count > 1)
        return run_fail(parsing->failure,
                        "%s: the archive %s has the program's arguments; give them to hr pack",
                        o->program[1], name);
    packed.replaced = parsing->given != NULL;
    if (options_packed_open(&packed, name, parsing->failure) != 0 ||
        take_manifest(parsing, &packed) != 0)
        return -1;
    o->packed = &packed;
    o->serve = false;
    return options_finish(parsing);
}
