/* Writes a stick: asks, copies, compares. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/usb/usb_image.h"
#include "host/usb/usb_stick.h"
#include "host/usb/usb_write.h"

int usb_stick_check(struct usb_device *d, const struct usb_options *o, dev_t number,
                    struct run_failure *failure)
{
    if (o->size_bytes != 0)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "--size is for images; on the device %s all is used", o->output);
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
        run_fail(failure, RUN_EXIT_FAILED,
                 "a temporary file in %s: %s; name another place in TMPDIR", directory,
                 strerror(errno));
    return fd;
}

/* Only a full "yes" is accepted. */
static int ask(const struct usb_device *d, struct run_failure *failure)
{
    char answer[16] = "", size[TEXT_QUANTITY_BYTES], model[128];
    FILE *terminal = fopen("/dev/tty", "r+e");

    if (terminal == NULL)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "%s: there is no terminal to ask on whether it may be overwritten; --yes "
                        "says that it may",
                        d->path);
    fprintf(terminal, "write to %s (%s, %s)? All that is on it will be lost. Type yes: ", d->path,
            text_escape(model, sizeof model, d->model), text_bytes(size, d->bytes));
    fflush(terminal);
    if (fgets(answer, sizeof answer, terminal) == NULL)
        answer[0] = 0;
    fclose(terminal);
    if (strcmp(answer, "yes\n") == 0)
        return 0;
    return run_fail(failure, RUN_EXIT_FAILED, "%s is as it was", d->path);
}

/* Linux grants exclusive use of a disk only if neither it nor a partition is in use. */
static int open_device(const struct usb_device *d, struct run_failure *failure)
{
    int fd = open(d->path, O_RDWR | O_EXCL | O_CLOEXEC);

    if (fd < 0 && errno == EBUSY)
        run_fail(failure, RUN_EXIT_FAILED, "%s is in use; unmount what is on it", d->path);
    else if (fd < 0)
        run_fail(failure, RUN_EXIT_FAILED, "%s: %s%s", d->path, strerror(errno),
                 errno == EACCES ? "; try with sudo" : "");
    return fd;
}

static int write_image(const struct usb_device *d, const struct usb_options *o, int image,
                       uint64_t bytes, struct run_failure *failure)
{
    char size[TEXT_QUANTITY_BYTES];
    uint64_t written = 0;
    int result;
    int fd = open_device(d, failure);

    if (fd < 0)
        return -1;
    result = usb_write(image, fd, bytes, d->path, !o->run.quiet, &written, failure);
    if (close(fd) != 0 && result == 0)
        result = run_fail(failure, RUN_EXIT_FAILED, "%s: %s", d->path, strerror(errno));
    if (result == 0)
        fprintf(stderr, "hr: %s: %s written and read back; it can be pulled out\n", d->path,
                text_bytes(size, written));
    return result;
}

int usb_stick_write(const struct usb_device *d, const struct usb_contents *c,
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
        result = write_image(d, o, image, bytes, failure);
    close(image);
    return result;
}
