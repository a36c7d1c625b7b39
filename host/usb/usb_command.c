/* hr usb: makes sticks that run programs without a hypervisor, and takes their results off. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/base/text.h"
#include "host/usb/usb_collect.h"
#include "host/usb/usb_command.h"
#include "host/usb/usb_contents.h"
#include "host/usb/usb_device.h"
#include "host/usb/usb_image.h"
#include "host/usb/usb_source.h"
#include "host/usb/usb_write.h"

/* Refuses a device that must not be overwritten, before any work is done.  Returns 0, or -1 with
 * the failure filled. */
static int check_device(struct usb_device *d, const struct usb_options *o, dev_t number,
                        struct run_failure *failure)
{
    if (o->size_bytes != 0)
        return run_fail(failure, "--size is for images; on the device %s all is used", o->output);
    return usb_device_find(d, "", o->output, number, failure);
}

/* Opens a file without a name, so that it disappears however hr ends. */
static int open_temporary(struct run_failure *failure)
{
    const char *directory = getenv("TMPDIR");
    char path[PATH_MAX];
    int fd;

    if (directory == NULL || directory[0] == 0)
        directory = "/var/tmp";
    fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && snprintf(path, sizeof path, "%s/hr-usb-XXXXXX", directory) < (int)sizeof path) {
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
    }
    if (fd < 0)
        run_fail(failure, "a temporary file in %s: %s; name another place in TMPDIR", directory,
                 strerror(errno));
    return fd;
}

/* Only a full "yes" is accepted. */
static int ask(const struct usb_device *d, struct run_failure *failure)
{
    char answer[16] = "", size[TEXT_QUANTITY_BYTES], model[128];
    FILE *terminal = fopen("/dev/tty", "r+e");

    if (terminal == NULL)
        return run_fail(failure,
                        "%s: there is no terminal on which to ask whether it may be overwritten; "
                        "if it may be, add --yes",
                        d->path);
    fprintf(terminal, "write to %s (%s, %s)? All that is on it will be lost. Type yes: ", d->path,
            text_escape(model, sizeof model, d->model), text_bytes(size, d->bytes));
    fflush(terminal);
    if (fgets(answer, sizeof answer, terminal) == NULL)
        answer[0] = 0;
    fclose(terminal);
    if (strcmp(answer, "yes\n") == 0)
        return 0;
    return run_fail(failure, "%s was not changed, because the answer was not yes", d->path);
}

/* Linux grants exclusive use of a disk only if neither it nor a partition is in use. */
static int open_device(const struct usb_device *d, struct run_failure *failure)
{
    int fd = open(d->path, O_RDWR | O_EXCL | O_CLOEXEC);

    if (fd < 0 && errno == EBUSY)
        run_fail(failure, "%s is in use; unmount what is on it", d->path);
    else if (fd < 0)
        run_fail(failure, "%s: %s%s", d->path, strerror(errno),
                 errno == EACCES ? "; try with sudo" : "");
    return fd;
}

static int write_device(const struct usb_device *d, int image, uint64_t bytes,
                        struct run_failure *failure)
{
    char size[TEXT_QUANTITY_BYTES];
    uint64_t written = 0;
    int result;
    int fd = open_device(d, failure);

    if (fd < 0)
        return -1;
    result = usb_write(image, fd, bytes, d->path, true, &written, failure);
    if (close(fd) != 0 && result == 0)
        result = run_fail(failure, "%s: %s", d->path, strerror(errno));
    if (result == 0)
        fprintf(stderr, "hr: %s: %s written and read back; it can be pulled out\n", d->path,
                text_bytes(size, written));
    return result;
}

/* Makes the image in a temporary file, asks on the terminal unless told not to, writes the image to
 * the device and compares.  Returns 0, or -1 with the failure filled. */
static int write_to_device(const struct usb_device *d, const struct usb_contents *c,
                           const struct usb_options *o, struct run_failure *failure)
{
    uint64_t bytes = d->bytes < USB_IMAGE_BYTES_MAX ? d->bytes : USB_IMAGE_BYTES_MAX;
    int result = -1;
    int image;

    if (usb_image_size(c, bytes, failure) == 0)
        return -1;
    image = open_temporary(failure);
    if (image < 0)
        return -1;
    if (usb_image_make(image, bytes, c, o, failure) == 0 && (o->yes || ask(d, failure) == 0) &&
        usb_device_check_unused(d, "", failure) == 0)
        result = write_device(d, image, bytes, failure);
    close(image);
    return result;
}

static void say(const struct usb_options *o, const struct usb_contents *c, uint64_t bytes)
{
    char size[TEXT_QUANTITY_BYTES], used[TEXT_QUANTITY_BYTES];

    fprintf(stderr, "hr: %s: %zu %s, %s used of %s\n", o->output, c->run_count,
            c->run_count == 1 ? "run" : "runs", text_bytes(used, c->bytes),
            text_bytes(size, bytes));
}

static bool is_input(const struct usb_options *o, const struct stat *output)
{
    struct stat input;

    for (size_t i = 0; i < (o->archives ? o->run.program_count : 1); i++)
        if (stat(o->run.program[i], &input) == 0 && input.st_dev == output->st_dev &&
            input.st_ino == output->st_ino)
            return true;
    return false;
}

/* Results in an image that were not collected yet may be the only copy. */
static int check_results(const struct usb_options *o, struct run_failure *failure)
{
    struct run_failure words = {0};
    struct usb_names names = {0};
    struct usb_source source;
    int result = 0;

    if (usb_source_open(&source, o->output, &words) == 0 &&
        usb_source_list(&source, "results", &names, &words) == 0 && names.count > 0)
        result =
            run_fail(failure,
                     "%s holds %zu %s; take them off with 'hr usb --collect %s --clear', name "
                     "another image with -o, or add --force",
                     o->output, names.count, names.count == 1 ? "result" : "results", o->output);
    else if (words.text[0] != 0)
        result = run_fail(failure,
                          "%s: it is unknown whether it holds results (%s); name another image "
                          "with -o, or add --force",
                          o->output, words.text);
    free(names.names);
    usb_source_close(&source);
    return result;
}

static int write_image(const struct usb_options *o, const struct usb_contents *c,
                       struct run_failure *failure)
{
    const struct output_file_wish wish = {
        .kind = OUTPUT_IMAGE, .force = o->force, .needs_file = true};
    uint64_t bytes = usb_image_size(c, o->size_bytes, failure);
    struct output_file target;
    struct stat status;
    int result;

    if (bytes == 0)
        return -1;
    if (stat(o->output, &status) == 0 && is_input(o, &status))
        return run_fail(failure,
                        "%s is an archive or program for the image, so the image cannot replace "
                        "it; name another image with -o",
                        o->output);
    if (output_file_open(&target, o->output, &wish, failure) != 0)
        return -1;
    result = usb_image_make(target.fd, bytes, c, o, failure);
    if (output_file_finish(&target, result == 0, failure) != 0)
        return -1;
    if (result == 0 && !o->run.quiet)
        say(o, c, bytes);
    return result;
}

/* A device that is not plugged in, or misspelt, would otherwise become a file there.  /dev/shm is
 * for files. */
static bool is_no_device(const char *path)
{
    return strncmp(path, "/dev/", strlen("/dev/")) == 0 &&
           strncmp(path, "/dev/shm/", strlen("/dev/shm/")) != 0;
}

static bool is_image(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool found = fd >= 0 && output_kind_is(fd, OUTPUT_IMAGE, NULL);

    if (fd >= 0)
        close(fd);
    return found;
}

int usb_command_write(const struct usb_options *o, struct run_failure *failure)
{
    struct usb_contents contents;
    struct usb_device device;
    struct stat status;
    bool exists = stat(o->output, &status) == 0;
    bool is_device = exists && S_ISBLK(status.st_mode);
    int result;

    if (!is_device && is_no_device(o->output))
        return run_fail(failure,
                        "%s: no such device; is the stick plugged in? lsblk shows its name",
                        o->output);
    if (is_device && check_device(&device, o, status.st_rdev, failure) != 0)
        return -1;
    result = usb_contents_gather(&contents, o, failure);
    if (result == 0 && exists && S_ISREG(status.st_mode) && status.st_size > 0 && !o->force &&
        is_image(o->output))
        result = check_results(o, failure);
    if (result == 0)
        result = is_device ? write_to_device(&device, &contents, o, failure)
                           : write_image(o, &contents, failure);
    usb_contents_free(&contents);
    return result;
}

int usb_command(int argc, char **argv)
{
    struct run_failure failure = {0};
    struct usb_options options;

    int status = HR_EXIT_OK;

    if (usb_options_parse(&options, argc, argv, &failure) != 0)
        ;
    else if (options.collect != NULL)
        status = usb_collect(&options, &failure);
    else
        (void)usb_command_write(&options, &failure);
    if (failure.text[0] != 0)
        error_print("%s", failure.text);
    return failure.exit_status != 0 ? failure.exit_status : status;
}
