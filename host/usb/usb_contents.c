/* Gathers what goes onto a stick. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/run_failure.h"
#include "host/base/text.h"
#include "host/launch/launch.h"
#include "host/launch/launch_find.h"
#include "host/pack/pack.h"
#include "host/usb/usb_contents.h"
#include "lib/boot/kernel_image.h"
#include "lib/boot/manifest.h"
#include "lib/crc32c.h"
#include "lib/program/cpio.h"

#define NAME_BYTES 40 /* of a run's name; the remainder distinguishes equal names */

static int check_manifest(const char *path, const struct manifest *m, struct run_failure *failure)
{
    if (manifest_text(m, "program", NULL) == NULL)
        return run_fail(failure, "%s names no program; make it with hr pack", path);
    if (manifest_text(m, "event", NULL) != NULL && manifest_text(m, "target-cpu", NULL) == NULL)
        return run_fail(failure,
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
        return run_fail(failure, "%s holds no run; make it with hr pack", path);
    if (status == CPIO_OK && check_manifest(path, &manifest, failure) != 0)
        return -1;
    while (status == CPIO_OK)
        status = cpio_next(&reader, &entry);
    if (status == CPIO_END)
        return 0;
    return run_fail(failure, "%s is damaged at byte %zu: %s; pack it again", path, reader.offset,
                    cpio_status_text(status));
}

/* Checks that the file is a run's archive, undamaged as far as its entries show, and that its
 * events are encoded, because a stick has no host to ask.  Returns 0, or -1 with the failure
 * filled. */
static int check_archive(const char *path, struct run_failure *failure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    void *bytes;
    int result;

    if (fd < 0)
        return run_fail(failure, "%s: %s", path, strerror(errno));
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        close(fd);
        return run_fail(failure, "%s is not an archive; make one with hr pack", path);
    }
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return run_fail(failure, "%s: %s", path, strerror(errno));
    result = check_entries(path, bytes, (size_t)status.st_size, failure);
    munmap(bytes, (size_t)status.st_size);
    return result;
}

static const char suffix[] = ".cpio";

static int check_size(const struct usb_file *file, const char *what, struct run_failure *failure)
{
    if (file->bytes == 0)
        return run_fail(failure, "the %s %s is empty", what, file->source);
    if (file->bytes <= USB_FILE_BYTES_MAX)
        return 0;
    return run_fail(
        failure, "the %s %s has %llu MB, and a file on a stick can have %llu MB; pack fewer files",
        what, file->source, (unsigned long long)(file->bytes >> 20),
        (unsigned long long)(USB_FILE_BYTES_MAX >> 20));
}

/* Opens the file `source` for the lifetime of the contents: size and checksum are those of the
 * copied file, even if the name changes its meaning. */
static int measure(struct usb_file *file, const char *what, struct run_failure *failure)
{
    static uint8_t piece[256u << 10];
    int fd = open(file->source, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat status;
    ssize_t count = -1;

    if (fd < 0)
        return run_fail(failure, "the %s %s: %s", what, file->source, strerror(errno));
    file->fd = fd;
    file->bytes = file->crc32c = 0;
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
        return run_fail(failure, "the %s %s is not a file", what, file->source);
    while ((count = read(fd, piece, sizeof piece)) > 0) {
        file->crc32c = crc32c(file->crc32c, piece, (size_t)count);
        file->bytes += (uint64_t)count;
    }
    if (count < 0)
        return run_fail(failure, "the %s %s: %s", what, file->source, strerror(errno));
    return check_size(file, what, failure);
}

static bool is_taken(const char *name, const struct usb_file *others, size_t count)
{
    size_t bytes = strlen(name);

    for (size_t i = 0; i < count; i++)
        if (strncasecmp(others[i].name, name, bytes) == 0 &&
            strcmp(others[i].name + bytes, suffix) == 0)
            return true;
    return false;
}

void usb_contents_name(char *name, const char *path, const struct usb_file *others, size_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    const char *base = text_base_name(path);
    size_t bytes = strlen(base);
    char plain[NAME_BYTES + 1];

    if (bytes >= sizeof suffix && strcmp(base + bytes - (sizeof suffix - 1), suffix) == 0)
        bytes -= sizeof suffix - 1;
    if (bytes > NAME_BYTES)
        bytes = NAME_BYTES;
    for (size_t i = 0; i < bytes; i++)
        plain[i] = strchr(letters, base[i]) != NULL ? base[i] : '_';
    while (bytes > 0 && plain[bytes - 1] == '.') /* FAT does not allow such an end */
        bytes--;
    plain[bytes] = 0;
    if (plain[0] == '.')
        plain[0] = '_';
    if (bytes == 0)
        snprintf(plain, sizeof plain, "run");
    snprintf(name, BOOT_CONF_NAME_BYTES, "%s", plain);
    for (size_t i = 2; is_taken(name, others, count); i++)
        snprintf(name, BOOT_CONF_NAME_BYTES, "%s-%zu", plain, i);
}

static int pack_program(struct usb_contents *c, const struct usb_options *o,
                        struct run_failure *failure)
{
    struct launch_machine machine;
    struct pack pack;
    int result;

    if (launch_choose(&o->run, &machine, failure) != 0)
        return -1;
    machine.kernel = c->kernel.source;
    result = pack_collect(&pack, &o->run, &machine, failure);
    if (result == 0) {
        pack_print(&pack, &o->run, stderr);
        c->archive = memfd_create("run.cpio", MFD_CLOEXEC);
        result = c->archive < 0
                     ? run_fail(failure, "cannot make a file in memory: %s", strerror(errno))
                     : pack_write(&pack, &o->run, &machine, c->archive, failure);
    }
    pack_free(&pack);
    return result;
}

static int add_run(struct usb_contents *c, const char *source, const char *name_of,
                   struct run_failure *failure)
{
    struct usb_file *run = &c->runs[c->run_count];
    char name[BOOT_CONF_NAME_BYTES];

    usb_contents_name(name, name_of, c->runs, c->run_count);
    snprintf(run->name, sizeof run->name, "%.*s%s", BOOT_CONF_NAME_BYTES - (int)sizeof suffix, name,
             suffix);
    if (snprintf(run->source, sizeof run->source, "%s", source) >= (int)sizeof run->source)
        return run_fail(failure, "%s: %s", source, strerror(ENAMETOOLONG));
    c->run_count++;
    if (measure(run, "archive", failure) != 0)
        return -1;
    c->bytes += run->bytes;
    return 0;
}

static int add_program(struct usb_contents *c, const struct usb_options *o,
                       struct run_failure *failure)
{
    char source[64];

    if (pack_program(c, o, failure) != 0)
        return -1;
    snprintf(source, sizeof source, "/proc/%d/fd/%d", (int)getpid(), c->archive);
    return add_run(c, source, o->run.program[0], failure);
}

static int add_archives(struct usb_contents *c, const struct usb_options *o,
                        struct run_failure *failure)
{
    if (o->run.program_count > BOOT_CONF_RUNS_MAX)
        return run_fail(failure,
                        "%zu archives: a stick has at most %d runs; --repeat N counts as one",
                        o->run.program_count, BOOT_CONF_RUNS_MAX);
    for (size_t i = 0; i < o->run.program_count; i++)
        if (check_archive(o->run.program[i], failure) != 0 ||
            add_run(c, o->run.program[i], o->run.program[i], failure) != 0)
            return -1;
    return 0;
}

/* Adds one of the files that are built with hr. */
static int add_part(struct usb_contents *c, struct usb_file *file, const char *name,
                    const char *given, const char *option, struct run_failure *failure)
{
    if (launch_find_part(name, given, option, file->source, failure) != 0 ||
        measure(file, "file", failure) != 0)
        return -1;
    snprintf(file->name, sizeof file->name, "%s", name);
    c->bytes += file->bytes;
    return 0;
}

/* The loader would detect this, too, but only on the machine. */
static int check_kernel(const struct usb_contents *c, const struct usb_options *o,
                        struct run_failure *failure)
{
    void *file = mmap(NULL, c->kernel.bytes, PROT_READ, MAP_PRIVATE, c->kernel.fd, 0);
    struct kernel_image image;
    const char *wrong;

    if (file == MAP_FAILED)
        return run_fail(failure, "the file %s: %s", c->kernel.source, strerror(errno));
    wrong = kernel_image_parse(file, c->kernel.bytes, &image);
    munmap(file, c->kernel.bytes);
    if (wrong != NULL)
        return run_fail(failure, "the kernel %s cannot be used: %s", c->kernel.source, wrong);
    if (o->conf.network != 0 && !image.network)
        return run_fail(failure,
                        "--network: the kernel %s was built without it, because lwIP was not "
                        "available; 'make lwip all' says why",
                        c->kernel.source);
    return 0;
}

int usb_contents_gather(struct usb_contents *c, const struct usb_options *o,
                        struct run_failure *failure)
{
    *c = (struct usb_contents){.archive = -1};
    if (add_part(c, &c->loader, "BOOTX64.EFI", o->loader, "loader", failure) != 0 ||
        add_part(c, &c->kernel, "guest.elf", o->run.kernel, "kernel", failure) != 0 ||
        check_kernel(c, o, failure) != 0 ||
        add_part(c, &c->mbr, "mbr.bin", NULL, NULL, failure) != 0)
        return -1;
    c->runs = calloc(o->run.program_count, sizeof *c->runs);
    if (c->runs == NULL)
        return run_fail(failure, "out of memory; end other programs");
    return o->archives ? add_archives(c, o, failure) : add_program(c, o, failure);
}

static void close_file(const struct usb_file *file)
{
    if (file->fd > 0)
        close(file->fd);
}

void usb_contents_free(struct usb_contents *c)
{
    close_file(&c->loader);
    close_file(&c->kernel);
    close_file(&c->mbr);
    for (size_t i = 0; i < c->run_count; i++)
        close_file(&c->runs[i]);
    if (c->archive >= 0)
        close(c->archive);
    free(c->runs);
}
