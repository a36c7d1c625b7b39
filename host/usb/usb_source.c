/* Reads the file system of a stick with sfdisk and mtools. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "host/usb/usb_source.h"

#define TABLE_BYTES_MAX (1u << 20)
#define LISTING_BYTES_MAX (16u << 20)
/* UEFI 2.10, "Defined GPT Partition Entry - Partition Type GUIDs" */
#define TYPE_EFI_SYSTEM "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"

struct text { /* output of a program, up to a limit */
    char *bytes;
    size_t used;
    size_t limit;
};

static int append(void *context, const void *bytes, size_t count)
{
    struct text *text = context;
    char *grown;

    if (count > text->limit - text->used)
        return -1;
    grown = realloc(text->bytes, text->used + count + 1);
    if (grown == NULL)
        return -1;
    text->bytes = grown;
    memcpy(grown + text->used, bytes, count);
    text->used += count;
    grown[text->used] = 0;
    return 0;
}

static void set_place(struct usb_source *s, uint64_t offset)
{
    snprintf(s->image, sizeof s->image, "/proc/%d/fd/%d@@%lu", (int)getpid(), s->fd, offset);
}

/* Finds the first EFI system partition that sfdisk lists, or the only partition.  sfdisk shows a
 * file system without a partition table as an empty table. */
static int find_partition(const json_t *table, uint64_t *offset, uint64_t *bytes)
{
    const json_t *partitions = json_object_get(table, "partitions");
    json_int_t sector = 512;

    if (json_array_size(partitions) == 0)
        return 0;
    if (json_is_integer(json_object_get(table, "sectorsize")))
        sector = json_integer_value(json_object_get(table, "sectorsize"));
    for (size_t i = 0; i < json_array_size(partitions); i++) {
        const json_t *partition = json_array_get(partitions, i);
        const char *type = json_string_value(json_object_get(partition, "type"));
        json_int_t start = json_integer_value(json_object_get(partition, "start"));
        json_int_t size = json_integer_value(json_object_get(partition, "size"));

        if (type == NULL ||
            (strcasecmp(type, TYPE_EFI_SYSTEM) != 0 && json_array_size(partitions) != 1))
            continue;
        if (start < 0 || size <= 0 || sector <= 0 || start > INT64_MAX / sector ||
            size > INT64_MAX / sector)
            continue;
        *offset = (uint64_t)(start * sector);
        *bytes = (uint64_t)(size * sector);
        return 0;
    }
    return -1;
}

/* sfdisk fails without a partition table; then the file system begins at the start. */
static int read_table(struct usb_source *s, struct run_failure *failure)
{
    char path[48];
    const char *const argv[] = {"sfdisk", "--json", path, NULL};
    struct text text = {.limit = TABLE_BYTES_MAX};
    struct run_failure words = {0};
    enum usb_tool_end end;
    json_t *root = NULL;
    uint64_t all = s->bytes;
    uint64_t offset = 0;
    int result = 0;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), s->fd);
    end = usb_tool_read(argv, append, &text, &words);
    if (end == USB_TOOL_ABSENT)
        result = run_fail(failure, "%s", words.text);
    if (end == USB_TOOL_DONE)
        root = json_loadb(text.bytes != NULL ? text.bytes : "", text.used, 0, NULL);
    if (root != NULL &&
        find_partition(json_object_get(root, "partitiontable"), &offset, &s->bytes) != 0)
        result = run_fail(
            failure,
            "%s: its partition table has no EFI system partition; it is no stick that hr usb wrote",
            s->path);
    if (s->bytes > all - (offset < all ? offset : all)) /* the table may be wrong */
        s->bytes = all - (offset < all ? offset : all);
    set_place(s, offset);
    json_decref(root);
    free(text.bytes);
    return result;
}

int usb_source_open(struct usb_source *s, const char *path, struct run_failure *failure)
{
    struct stat status = {.st_mode = 0};
    int error = 0;

    *s = (struct usb_source){.path = path};
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &status) != 0)
        error = errno;
    else if (S_ISDIR(status.st_mode))
        error = EISDIR;
    else if (S_ISREG(status.st_mode))
        s->bytes = (uint64_t)status.st_size;
    else if (!S_ISBLK(status.st_mode) || ioctl(s->fd, BLKGETSIZE64, &s->bytes) != 0)
        error = ENOTBLK;
    if (error != 0)
        return run_fail(failure, "%s: %s%s", path, strerror(error),
                        error == EACCES ? "; try with sudo" : "");
    return read_table(s, failure);
}

void usb_source_close(struct usb_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* Takes one line of mdir's: "::/results/001/". */
static void take_line(struct usb_names *names, const char *line, size_t bytes, const char *prefix)
{
    size_t skip = strlen(prefix);
    char *name = names->names[names->count];

    if (bytes <= skip || strncmp(line, prefix, skip) != 0 || bytes - skip > NAME_MAX ||
        names->count == USB_SOURCE_NAMES_MAX)
        return;
    for (size_t i = skip; i < bytes; i++)
        if (line[i] <= ' ' || line[i] > '~')
            return; /* not a result's entry */
    memcpy(name, line + skip, bytes - skip);
    name[bytes - skip] = 0;
    names->count++;
}

int usb_source_list(const struct usb_source *s, const char *directory, struct usb_names *names,
                    struct run_failure *failure)
{
    char place[PATH_MAX], prefix[PATH_MAX];
    const char *const argv[] = {"mdir", "-b", "-a", "-i", s->image, place, NULL};
    struct text text = {.limit = LISTING_BYTES_MAX};
    size_t lines = 1;
    enum usb_tool_end end;

    *names = (struct usb_names){0};
    snprintf(place, sizeof place, "::/%s", directory);
    snprintf(prefix, sizeof prefix, "::/%s/", directory);
    end = usb_tool_read(argv, append, &text, failure);
    if (end == USB_TOOL_STOPPED)
        run_fail(failure, "%s: its directory %s has no end; the file system is damaged", s->path,
                 directory);
    if (end == USB_TOOL_DONE) {
        for (size_t i = 0; i < text.used; i++)
            lines += text.bytes[i] == '\n';
        names->names = calloc(lines, sizeof *names->names);
    }
    for (const char *line = text.bytes; names->names != NULL && line != NULL && *line != 0;) {
        size_t bytes = strcspn(line, "\n");

        take_line(names, line, bytes, prefix);
        line += bytes + (line[bytes] == '\n');
    }
    free(text.bytes);
    if (end == USB_TOOL_DONE && names->names == NULL)
        run_fail(failure, "out of memory; end other programs");
    return names->names != NULL ? 0 : -1;
}

enum usb_tool_end usb_source_read(const struct usb_source *s, const char *path, usb_tool_sink *sink,
                                  void *context, struct run_failure *failure)
{
    char place[PATH_MAX];
    const char *const argv[] = {"mcopy", "-i", s->image, place, "-", NULL};

    snprintf(place, sizeof place, "::/%s", path);
    return usb_tool_read(argv, sink, context, failure);
}

int usb_source_remove(const struct usb_source *s, bool directory, const char *path,
                      struct run_failure *failure)
{
    char place[PATH_MAX];
    const char *const argv[] = {directory ? "mrd" : "mdel", "-i", s->image, place, NULL};

    snprintf(place, sizeof place, "::/%s", path);
    return usb_tool_run(argv, NULL, failure);
}
