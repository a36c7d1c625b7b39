/* Makes the archive of a run from one of hr pack. */
#include "host/run/run_packed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/options/options_packed.h"
#include "lib/array.h"
#include "lib/program/cpio.h"

#define ALIGNMENT 4096u /* contents of files stay where the kernel can map them */
#define ROOM (RUN_MANIFEST_BYTES_MAX + 64 * 1024u)

struct draft {
    char *out;
    size_t used;
};

static void add(struct draft *d, const char *key, const char *value)
{
    d->used = manifest_append(d->out, ROOM, d->used, key, value); /* there is room */
}

static void add_number(struct draft *d, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%lu", value);
    add(d, key, text);
}

/* What depends on the machine and on the options of hr run. */
static void add_own(struct draft *d, const struct options *o, const struct launch_machine *machine)
{
    for (size_t i = 0; i < o->events.count; i++)
        add(d, "event", o->events.names[i]);
    add_number(d, "cpus", (uint64_t)machine->cpus);
    add_number(d, "virtual-time", machine->virtual_time);
    add_number(d, "emulated", !machine->kvm);
    if (o->keep_files != NULL)
        add_number(d, "keep-files", 1);
    if (o->missing)
        add_number(d, "missing", 1);
    if (o->network)
        add_number(d, "network", 1);
    for (size_t i = 0; i < o->published_count; i++)
        add_number(d, o->published[i].udp ? "published-udp" : "published-tcp",
                   o->published[i].guest_port);
    if (o->default_events)
        add_number(d, "default-events", 1);
}

static bool is_own(const struct options_packed *packed, const char *text)
{
    static const char *const own[] = {"event=",      "cpus=",    "virtual-time=",  "emulated=",
                                      "keep-files=", "missing=", "default-events="};
    static const char *const encodings[] = {"target-cpu=", "event-encoding="};

    for (size_t i = 0; i < ARRAY_COUNT(own); i++)
        if (strncmp(text, own[i], strlen(own[i])) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_COUNT(encodings) && packed->replaced; i++)
        if (strncmp(text, encodings[i], strlen(encodings[i])) == 0)
            return true;
    return false;
}

/* The machine's part takes the place of the archive's. */
static size_t write_manifest(const struct options *o, const struct launch_machine *machine,
                             char *out)
{
    const struct manifest *m = &o->packed->manifest;
    struct draft d = {.out = out};
    bool added = false;

    for (const char *text = m->bytes; text < m->bytes + m->count; text += strlen(text) + 1) {
        if (!is_own(o->packed, text)) {
            memcpy(out + d.used, text, strlen(text) + 1);
            d.used += strlen(text) + 1;
        } else if (!added) {
            add_own(&d, o, machine);
            added = true;
        }
    }
    return d.used;
}

/* The entry is as long as before but for whole pages. */
static size_t write_first(const struct options_packed *packed, const char *manifest, size_t bytes,
                          uint8_t *out, size_t room)
{
    struct cpio_entry entry = {
        .name = RUN_MANIFEST_NAME,
        .name_bytes = strlen(RUN_MANIFEST_NAME),
        .bytes = bytes,
        .mode = S_IFREG | 0644,
        .ino = 1,
        .nlink = 1,
    };
    size_t used = cpio_write_header(out, room, &entry);

    entry.name_padding = (packed->first_bytes - (used + bytes + cpio_padding(bytes))) % ALIGNMENT;
    used = cpio_write_header(out, room, &entry);
    memcpy(out + used, manifest, bytes);
    memset(out + used + bytes, 0, cpio_padding(bytes));
    return used + bytes + cpio_padding(bytes);
}

static int copy_rest(const struct options_packed *packed, int fd)
{
    off_t at = (off_t)packed->first_bytes;
    ssize_t count;

    do
        count = sendfile(fd, packed->fd, &at, 1u << 30);
    while (count > 0);
    return count < 0 ? -errno : 0;
}

/* Reads the copy, which only this process has. */
static int check(int fd, const char *name, const struct options *o, struct run_failure *failure)
{
    struct stat status;
    struct cpio_reader reader;
    struct cpio_entry entry;
    enum cpio_status end = CPIO_OK;
    void *bytes;

    if (fstat(fd, &status) != 0)
        return run_fail(failure, "%s: %s", name, strerror(errno));
    if ((uint64_t)status.st_size > o->memory_bytes)
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE,
                           "%s has %lu MB and the guest has %lu MB; give it more with --mem", name,
                           (uint64_t)status.st_size >> 20, o->memory_bytes >> 20);
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return run_fail(failure, "%s: %s", name, strerror(errno));
    cpio_init(&reader, bytes, (size_t)status.st_size);
    while (end == CPIO_OK)
        end = cpio_next(&reader, &entry);
    munmap(bytes, (size_t)status.st_size);
    if (end == CPIO_END)
        return 0;
    return run_fail(failure, "%s: the archive is damaged: %s; make it again with hr pack", name,
                    cpio_status_text(end));
}

int run_packed_replace(const struct options_packed *packed, const char *manifest, size_t count,
                       int fd)
{
    uint8_t *first = malloc(ROOM + 2 * ALIGNMENT);
    size_t bytes = 0;
    int error = first == NULL ? -ENOMEM : 0;

    if (error == 0)
        bytes = write_first(packed, manifest, count, first, ROOM + 2 * ALIGNMENT);
    if (error == 0 && write(fd, first, bytes) != (ssize_t)bytes)
        error = -errno;
    free(first);
    return error == 0 ? copy_rest(packed, fd) : error;
}

int run_packed_write(const struct options *o, const struct launch_machine *machine, int fd,
                     struct run_failure *failure)
{
    char *manifest = malloc(ROOM);
    int error = manifest == NULL ? -ENOMEM : 0;

    if (error == 0)
        error = run_packed_replace(o->packed, manifest, write_manifest(o, machine, manifest), fd);
    free(manifest);
    if (error != 0)
        return run_fail(failure, "%s: %s", o->program[0], strerror(-error));
    return check(fd, o->program[0], o, failure);
}
