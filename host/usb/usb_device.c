/* Finds out what a block device is and whether it may be overwritten. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/usb/usb_device.h"

#define ATTRIBUTE_BYTES 64
#define SECTOR_BYTES 512u /* of sizes in /sys, and of the image */

#define PATH_BYTES (PATH_MAX + NAME_MAX + 2)

/* Writes DIRECTORY/NAME; "" if that is too long. */
static const char *join(char path[PATH_BYTES], const char *directory, const char *name)
{
    if (snprintf(path, PATH_BYTES, "%s/%s", directory, name) >= PATH_BYTES)
        path[0] = 0;
    return path;
}

/* Reads a small file of the disk's directory in /sys, without trailing white space; "" if there is
 * none. */
static void read_attribute(const char *directory, const char *name, char text[ATTRIBUTE_BYTES])
{
    char path[PATH_BYTES];
    ssize_t bytes = -1;
    int fd = open(join(path, directory, name), O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        bytes = read(fd, text, ATTRIBUTE_BYTES - 1);
        close(fd);
    }
    while (bytes > 0 && isspace((unsigned char)text[bytes - 1]))
        bytes--;
    text[bytes > 0 ? bytes : 0] = 0;
    for (ssize_t i = 0; i < bytes; i++)
        if (!isprint((unsigned char)text[i]))
            text[i] = '?';
}

static uint64_t read_number(const char *directory, const char *name)
{
    char text[ATTRIBUTE_BYTES];

    read_attribute(directory, name, text);
    return strtoull(text, NULL, 10);
}

static bool has(const char *directory, const char *name)
{
    char path[PATH_BYTES];

    return access(join(path, directory, name), F_OK) == 0;
}

/* Calls visit for every entry of a directory.  Stops if visit returns non-zero, and returns that.
 */
typedef int visit_entry(void *context, const char *directory, const char *name);

static int for_each(const char *directory, visit_entry *visit, void *context)
{
    DIR *entries = opendir(directory);
    struct dirent *entry;
    int result = 0;

    while (entries != NULL && result == 0 && (entry = readdir(entries)) != NULL)
        if (entry->d_name[0] != '.')
            result = visit(context, directory, entry->d_name);
    if (entries != NULL)
        closedir(entries);
    return result;
}

struct use { /* a disk or partition whose uses are searched for */
    const struct usb_device *device;
    const char *root;
    struct run_failure *failure;
};

static int refuse_holder(void *context, const char * /* directory */, const char *name)
{
    const struct use *use = context;

    return run_fail(use->failure,
                    "%s is a part of %s (device mapper, RAID or encryption); take that apart first",
                    use->device->path, name);
}

/* mountinfo escapes blanks in octal; names of devices have none. */
static int check_mounts(const struct use *use, const char *name, const char *number)
{
    char path[PATH_MAX], line[3 * PATH_MAX], source[NAME_MAX + 16];
    int result = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/proc/self/mountinfo", use->root);
    snprintf(source, sizeof source, " /dev/%s ", name);
    file = fopen(path, "re");
    if (file == NULL)
        return run_fail(use->failure, "cannot tell whether %s is mounted: /proc/self/mountinfo: %s",
                        use->device->path, strerror(errno));
    while (result == 0 && fgets(line, sizeof line, file) != NULL) {
        char device[32] = "", point[PATH_MAX] = "";
        const char *behind = strstr(line, " - ");

        if (sscanf(line, "%*s %*s %31s %*s %4095s", device, point) == 2 &&
            (strcmp(device, number) == 0 || (behind != NULL && strstr(behind, source) != NULL)))
            result = run_fail(use->failure, "/dev/%s is mounted on %s; unmount it with 'umount %s'",
                              name, point, point);
    }
    fclose(file);
    return result;
}

static int check_swap(const struct use *use, const char *name)
{
    char path[PATH_MAX], line[PATH_MAX], wanted[NAME_MAX + 16];
    int result = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/proc/swaps", use->root);
    snprintf(wanted, sizeof wanted, "/dev/%s", name);
    file = fopen(path, "re");
    while (file != NULL && result == 0 && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, " \t\n")] = 0;
        if (strcmp(line, wanted) == 0)
            result = run_fail(use->failure,
                              "%s is in use as swap space; turn that off with 'swapoff %s'", wanted,
                              wanted);
    }
    if (file != NULL)
        fclose(file);
    return result;
}

/* Checks one disk or partition. */
static int check_one(const struct use *use, const char *directory, const char *name)
{
    char holders[PATH_BYTES];
    char number[ATTRIBUTE_BYTES];

    read_attribute(directory, "dev", number);
    if (for_each(join(holders, directory, "holders"), refuse_holder, (void *)(uintptr_t)use) != 0)
        return -1;
    return check_mounts(use, name, number) != 0 ? -1 : check_swap(use, name);
}

static int check_partition(void *context, const char *directory, const char *name)
{
    char partition[PATH_BYTES];

    join(partition, directory, name);
    return has(partition, "partition") ? check_one(context, partition, name) : 0;
}

int usb_device_check_unused(const struct usb_device *d, const char *root,
                            struct run_failure *failure)
{
    struct use use = {.device = d, .root = root, .failure = failure};

    if (check_one(&use, d->directory, d->name) != 0)
        return -1;
    return for_each(d->directory, check_partition, &use);
}

/* A directory "usb1" or the like in the path means that the device is on that bus. */
static bool is_on_usb(const char *directory)
{
    for (const char *at = directory; (at = strstr(at, "/usb")) != NULL; at += 4)
        if (isdigit((unsigned char)at[4]))
            return true;
    return false;
}

static int check_kind(const struct usb_device *d, struct run_failure *failure)
{
    if (has(d->directory, "partition")) {
        char parent[PATH_MAX];

        snprintf(parent, sizeof parent, "%s", d->directory);
        *strrchr(parent, '/') = 0;
        return run_fail(failure, "%s is a partition; the whole disk is needed: /dev/%s", d->path,
                        strrchr(parent, '/') + 1);
    }
    if (read_number(d->directory, "removable") == 0 && !is_on_usb(d->directory))
        return run_fail(
            failure,
            "%s (%s) is neither removable nor on USB; hr usb writes to sticks, and to images",
            d->path, d->model);
    if (read_number(d->directory, "ro") != 0)
        return run_fail(failure, "%s is read-only; look for a switch on it", d->path);
    if (d->bytes == 0)
        return run_fail(failure, "%s is empty: no medium is in it", d->path);
    if (read_number(d->directory, "queue/logical_block_size") > SECTOR_BYTES)
        return run_fail(failure,
                        "%s has sectors of %lu bytes; a stick with sectors of 512 bytes is needed",
                        d->path, read_number(d->directory, "queue/logical_block_size"));
    return 0;
}

int usb_device_look_up(struct usb_device *d, const char *root, const char *path, dev_t number,
                       struct run_failure *failure)
{
    char link[PATH_MAX], vendor[ATTRIBUTE_BYTES], model[ATTRIBUTE_BYTES];

    *d = (struct usb_device){.path = path};
    if (snprintf(link, sizeof link, "%s/sys/dev/block/%u:%u", root, major(number), minor(number)) >=
            (int)sizeof link ||
        realpath(link, d->directory) == NULL)
        return run_fail(failure, "%s: the system knows no device %u:%u", path, major(number),
                        minor(number));
    snprintf(d->name, sizeof d->name, "%s", strrchr(d->directory, '/') + 1);
    d->bytes = read_number(d->directory, "size") * SECTOR_BYTES;
    read_attribute(d->directory, "device/vendor", vendor);
    read_attribute(d->directory, "device/model", model);
    if (model[0] == 0)
        read_attribute(d->directory, "device/name", model); /* memory cards */
    snprintf(d->model, sizeof d->model, "%.40s%s%.50s", vendor, vendor[0] != 0 ? " " : "",
             model[0] != 0 ? model : "unknown");
    return 0;
}

int usb_device_find(struct usb_device *d, const char *root, const char *path, dev_t number,
                    struct run_failure *failure)
{
    if (usb_device_look_up(d, root, path, number, failure) != 0 || check_kind(d, failure) != 0)
        return -1;
    return usb_device_check_unused(d, root, failure);
}
