/* hr usb: makes sticks that run programs without a hypervisor, and takes their results off. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "host/commands.h"
#include "host/error.h"
#include "host/export/target.h"
#include "host/text.h"
#include "host/usb/usb_collect.h"
#include "host/usb/usb_contents.h"
#include "host/usb/usb_image.h"
#include "host/usb/usb_options.h"
#include "host/usb/usb_stick.h"

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

static int write_image(const struct usb_options *o, const struct usb_contents *c,
                       struct run_failure *failure)
{
    uint64_t bytes = usb_image_size(c, o->size_bytes, failure);
    struct target target;
    struct stat status;
    int result;

    if (bytes == 0)
        return -1;
    if (stat(o->output, &status) == 0 && is_input(o, &status))
        return run_fail(failure, RUN_EXIT_FAILED,
                        "%s goes into the image; name another one with -o", o->output);
    if (target_open(&target, o->output, "", "img", true) != HR_EXIT_OK) {
        failure->exit_status = RUN_EXIT_FAILED; /* and it was said why */
        return -1;
    }
    result = usb_image_make(target.fd, bytes, c, o, failure);
    if (target_close(&target, result == 0) != HR_EXIT_OK && result == 0) {
        failure->exit_status = RUN_EXIT_FAILED;
        return -1;
    }
    if (result == 0)
        say(o, c, bytes);
    return result;
}

/* A device that is not plugged in, or misspelt, would otherwise become a file there.  /dev/shm is
 * for files.
 */
static bool is_no_device(const char *path)
{
    return strncmp(path, "/dev/", strlen("/dev/")) == 0 &&
           strncmp(path, "/dev/shm/", strlen("/dev/shm/")) != 0;
}

static int write_stick(const struct usb_options *o, struct run_failure *failure)
{
    struct usb_contents contents;
    struct usb_device device;
    struct stat status;
    bool is_device = stat(o->output, &status) == 0 && S_ISBLK(status.st_mode);
    int result;

    if (!is_device && is_no_device(o->output))
        return run_fail(failure, RUN_EXIT_FAILED,
                        "%s: no such device; is the stick plugged in? lsblk shows its name",
                        o->output);
    if (is_device && usb_stick_check(&device, o, status.st_rdev, failure) != 0)
        return -1;
    result = usb_contents_gather(&contents, o, failure);
    if (result == 0)
        result = is_device ? usb_stick_write(&device, &contents, o, failure)
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
        (void)write_stick(&options, &failure);
    if (failure.text[0] != 0)
        error_print("%s", failure.text);
    return failure.exit_status != 0 ? failure.exit_status : status;
}
