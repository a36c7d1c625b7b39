/* Makes the image of a stick with sfdisk, mkfs.fat and mtools. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/usb/usb_conf.h"
#include "host/usb/usb_image.h"
#include "host/usb/usb_tool.h"
#include "lib/crc32c.h"

#define BACKUP_BYTES (UINT64_C(1) << 20) /* after the partition: the second GPT has 33 sectors */
#define MARGIN_BYTES (UINT64_C(32) << 20) /* file system, conf, and a few results */
#define IMAGE_BYTES_MIN (UINT64_C(64) << 20) /* FAT32 has at least 65525 clusters */
#define CLUSTERS 131072 /* so that clusters are large and the type is FAT32 */
#define CLUSTER_BYTES_MAX 32768u
#define FD_NAME_BYTES 48
#define NAME_BYTES (FD_NAME_BYTES + 32)

static const char readme[] =
    "Microtome: this stick runs programs on a PC, alone, and measures them.\r\n"
    "\r\n"
    "Start a PC with UEFI firmware from it (switch Secure Boot and the CSM off).  It does the\r\n"
    "runs that microtome.conf lists, which you may edit, puts what came out below \\results,\r\n"
    "one directory a run, and switches the PC off.  Nothing else on the PC is touched.\r\n"
    "\r\n"
    "Back on Linux:\r\n"
    "    hr usb --collect /dev/sdX -o results\r\n"
    "    hr stat results/001/hr.bin\r\n";

uint64_t usb_image_size(const struct usb_contents *c, uint64_t asked, struct run_failure *failure)
{
    uint64_t least = c->bytes + MARGIN_BYTES + USB_PARTITION_OFFSET + BACKUP_BYTES;
    uint64_t bytes = asked;

    if (least < IMAGE_BYTES_MIN)
        least = IMAGE_BYTES_MIN;
    if (bytes == 0) {
        bytes = c->bytes + USB_RESULTS_BYTES + MARGIN_BYTES;
        if (bytes < USB_IMAGE_BYTES_DEFAULT)
            bytes = USB_IMAGE_BYTES_DEFAULT;
    }
    bytes &= ~((UINT64_C(1) << 20) - 1);
    if (bytes >= least && bytes <= USB_IMAGE_BYTES_MAX)
        return bytes;
    if (bytes < least)
        run_fail(failure,
                 "%" PRIu64 " MB are too few: loader, kernel and archives have %" PRIu64 ""
                 " MB, so the stick needs %" PRIu64 " MB and room for results",
                 bytes >> 20, c->bytes >> 20, (least + (1u << 20) - 1) >> 20);
    else
        run_fail(failure,
                 "%" PRIu64
                 " GB are too many for the file system that firmware reads; the limit is %" PRIu64
                 " GB",
                 bytes >> 30, USB_IMAGE_BYTES_MAX >> 30);
    return 0;
}

/* The partition ends on a whole megabyte, and leaves one for the second partition table. */
static uint64_t partition_bytes(uint64_t bytes)
{
    return (bytes - USB_PARTITION_OFFSET - BACKUP_BYTES) & ~((UINT64_C(1) << 20) - 1);
}

static int make_partition(const char *path, uint64_t bytes, struct run_failure *failure)
{
    const char *const argv[] = {
        "sfdisk", "--quiet",           "--no-reread", "--no-tell-kernel", "--wipe",
        "never",  "--wipe-partitions", "never",       "--color=never",    path,
        NULL};
    char script[256];

    /* UEFI 2.10, "EFI Partition Entry", "Defined GPT Partition Entry - Partition Type GUIDs" */
    snprintf(script, sizeof script,
             "label: gpt\nstart=%" PRIu64 ", size=%" PRIu64
             ", type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, "
             "name=\"Microtome\"\n",
             USB_PARTITION_OFFSET / USB_SECTOR_BYTES, partition_bytes(bytes) / USB_SECTOR_BYTES);
    return usb_tool_run(argv, script, failure);
}

static int make_file_system(const char *path, uint64_t bytes, struct run_failure *failure)
{
    uint64_t partition = partition_bytes(bytes);
    uint64_t cluster = USB_SECTOR_BYTES;
    char offset[24], blocks[24], sectors[24];
    const char *const argv[] = {"mkfs.fat", "-F",    "32",   "-n",   "MICROTOME",
                                "-s",       sectors, "-h",   offset, "--offset",
                                offset,     path,    blocks, NULL};

    while (cluster < CLUSTER_BYTES_MAX && partition / (2 * cluster) >= CLUSTERS)
        cluster *= 2;
    snprintf(sectors, sizeof sectors, "%" PRIu64, cluster / USB_SECTOR_BYTES);
    snprintf(offset, sizeof offset, "%" PRIu64, USB_PARTITION_OFFSET / USB_SECTOR_BYTES);
    snprintf(blocks, sizeof blocks, "%" PRIu64, partition / 1024);
    return usb_tool_run(argv, NULL, failure);
}

/* Writes mtools' name for the file system inside the image. */
static void inside(const char *path, char image[NAME_BYTES])
{
    snprintf(image, NAME_BYTES, "%s@@%" PRIu64, path, USB_PARTITION_OFFSET);
}

static int make_directories(const char *path, struct run_failure *failure)
{
    char image[NAME_BYTES];
    const char *const argv[] = {
        "mmd",        "-i", image, "::/EFI", "::/EFI/BOOT", "::/microtome", "::/microtome/runs",
        "::/results", NULL};

    inside(path, image);
    return usb_tool_run(argv, NULL, failure);
}

/* Writes a name for a descriptor that other programs can open; unlike a path, it has no special
 * characters. */
static char *name_of(int fd, char name[FD_NAME_BYTES])
{
    snprintf(name, FD_NAME_BYTES, "/proc/%d/fd/%d", (int)getpid(), fd);
    return name;
}

static int copy(const char *path, int from, const char *target, struct run_failure *failure)
{
    char image[NAME_BYTES], source[FD_NAME_BYTES];
    const char *const argv[] = {"mcopy", "-i", image, "-o", name_of(from, source), target, NULL};

    inside(path, image);
    return usb_tool_run(argv, NULL, failure);
}

struct reading {
    uint64_t bytes;
    uint32_t crc32c;
};

static int take(void *context, const void *bytes, size_t count)
{
    struct reading *reading = context;

    reading->bytes += count;
    reading->crc32c = crc32c(reading->crc32c, bytes, count);
    return 0;
}

/* Detects a file that changed during the copy, or a full disk without an error. */
static int read_back(const char *path, const struct usb_file *file, const char *target,
                     struct run_failure *failure)
{
    char image[NAME_BYTES];
    const char *const argv[] = {"mcopy", "-i", image, target, "-", NULL};
    struct reading reading = {0};

    inside(path, image);
    if (usb_tool_read(argv, take, &reading, failure) != USB_TOOL_DONE)
        return -1;
    if (reading.bytes == file->bytes && reading.crc32c == file->crc32c)
        return 0;
    return run_fail(failure, "%s changed while it was copied, or the copy is damaged; try again",
                    file->source);
}

static int add_file(const char *path, const struct usb_file *file, const char *directory,
                    struct run_failure *failure)
{
    char target[PATH_MAX];

    snprintf(target, sizeof target, "::%s/%s", directory, file->name);
    if (copy(path, file->fd, target, failure) != 0)
        return -1;
    return read_back(path, file, target, failure);
}

static int add_text(const char *path, const char *text, const char *target,
                    struct run_failure *failure)
{
    int fd = memfd_create("text", MFD_CLOEXEC);
    int result;

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        result = run_fail(failure, "%s: %s", target, strerror(errno));
    else
        result = copy(path, fd, target, failure);
    if (fd >= 0)
        close(fd);
    return result;
}

static int add_progress(const char *path, const struct usb_contents *c, const struct usb_options *o,
                        struct run_failure *failure)
{
    char *text = usb_conf_progress(c, o);
    int result = text != NULL ? add_text(path, text, "::/microtome/progress.txt", failure)
                              : run_fail(failure, "out of memory; end other programs");

    free(text);
    return result;
}

static int add_files(const char *path, const struct usb_contents *c, const struct usb_options *o,
                     const char *conf, struct run_failure *failure)
{
    if (add_file(path, &c->loader, "/EFI/BOOT", failure) != 0 ||
        add_file(path, &c->kernel, "/microtome", failure) != 0)
        return -1;
    for (size_t i = 0; i < c->run_count; i++)
        if (add_file(path, &c->runs[i], "/microtome/runs", failure) != 0)
            return -1;
    if (add_text(path, conf, "::/microtome.conf", failure) != 0)
        return -1;
    if (o->resumable && add_progress(path, c, o, failure) != 0)
        return -1;
    return add_text(path, readme, "::/README.TXT", failure);
}

static int add_boot_code(int fd, const struct usb_file *mbr, struct run_failure *failure)
{
    uint8_t code[USB_MBR_CODE_BYTES] = {0};

    if (mbr->bytes > sizeof code || pread(mbr->fd, code, sizeof code, 0) != (ssize_t)mbr->bytes)
        return run_fail(failure, "%s is no boot code of at most %d bytes", mbr->source,
                        USB_MBR_CODE_BYTES);
    if (pwrite(fd, code, sizeof code, 0) != sizeof code)
        return run_fail(failure, "cannot write the image: %s", strerror(errno));
    return 0;
}

static int fill(int fd, uint64_t bytes, const struct usb_contents *c, const struct usb_options *o,
                const char *conf, struct run_failure *failure)
{
    char path[FD_NAME_BYTES];

    name_of(fd, path);
    if (ftruncate(fd, (off_t)bytes) != 0)
        return run_fail(failure, "cannot write the image: %s", strerror(errno));
    if (make_partition(path, bytes, failure) != 0 || add_boot_code(fd, &c->mbr, failure) != 0 ||
        make_file_system(path, bytes, failure) != 0 || make_directories(path, failure) != 0)
        return -1;
    return add_files(path, c, o, conf, failure);
}

int usb_image_make(int fd, uint64_t bytes, const struct usb_contents *c,
                   const struct usb_options *o, struct run_failure *failure)
{
    char *conf = usb_conf_write(c, o, failure);
    int result = conf != NULL ? fill(fd, bytes, c, o, conf, failure) : -1;

    free(conf);
    return result;
}
