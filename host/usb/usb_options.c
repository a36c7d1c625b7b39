/* Parses the options of hr usb. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "host/base/command_line.h"
#include "host/base/option.h"
#include "host/options/options_archive.h"
#include "host/usb/usb_options.h"
#include "host/usb/usb_options_conf.h"

#define CPIO_MAGIC "070701" /* cpio(5), "New ASCII Format" */
#define PART_BYTES (4095ull << 20) /* below FAT's limit for a file */

enum { /* options without a letter */
       KEY_SIZE = 256,
       KEY_COLLECT,
       KEY_CLEAR,
       KEY_YES,
       KEY_FORCE,
       KEY_KERNEL,
       KEY_LOADER,
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "image (default usb.img) or device to write; with --collect the directory for results "
     "(default "
     "results)",
     0},
    {"collect", KEY_COLLECT, "FILE", 0, "take the results off this image or device", 0},
    {"clear", KEY_CLEAR, 0, 0, "with --collect: then remove them there", 0},
    {"yes", KEY_YES, 0, 0, "overwrite the device without asking", 0},
    {"force", KEY_FORCE, 0, 0, "replace a file that is no image of hr usb, or that holds results",
     0},
    {"size", KEY_SIZE, "SIZE", 0,
     "size of an image (default: 1G for results, and at least 2G in all)", 0},
    {"kernel", KEY_KERNEL, "FILE", 0, "the kernel (default: guest.elf beside hr)", 4},
    {"loader", KEY_LOADER, "FILE", 0, "the loader (default: BOOTX64.EFI beside hr)", 4},
    {0},
};

static const char help[] =
    "Writes a USB stick, or an image for one, from which a PC with UEFI runs the program, or takes "
    "the results off it again."
    "\vOptions after PROGRAM belong to PROGRAM.  Archives are made by hr pack --target-cpu all, "
    "one "
    "for each run.  TIME takes ns, us, ms, s; SIZE takes K, M, G.\n\n"
    "Examples:\n"
    "  hr usb -o usb.img ./prog --size 100     an image; write it to a stick with dd\n"
    "  hr usb -o /dev/sdX ./prog --size 100    the stick itself; asks first\n"
    "  hr usb -o usb.img one.cpio two.cpio     two runs\n"
    "  hr usb --collect /dev/sdX -o results    results/001/hr.bin and so on";

struct parse {
    struct usb_options *options;
    struct options_parsing archive;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'o', OPTION_TEXT, .offset = offsetof(struct usb_options, output)},
        {KEY_COLLECT, OPTION_TEXT, .offset = offsetof(struct usb_options, collect)},
        {KEY_CLEAR, OPTION_FLAG, .offset = offsetof(struct usb_options, clear)},
        {KEY_YES, OPTION_FLAG, .offset = offsetof(struct usb_options, yes)},
        {KEY_FORCE, OPTION_FLAG, .offset = offsetof(struct usb_options, force)},
        {KEY_KERNEL, OPTION_TEXT, .offset = offsetof(struct usb_options, run.kernel)},
        {KEY_LOADER, OPTION_TEXT, .offset = offsetof(struct usb_options, loader)},
        {0},
    };
    struct parse *parse = state->input;
    struct usb_options *o = parse->options;

    if (option_store(fields, key, argument, o, state))
        return 0;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &parse->archive;
        state->child_inputs[2] = o;
        return 0;
    case KEY_SIZE:
        return usb_options_set_size("size", argument, &o->size_bytes, o->failure) == 0 ? 0 : EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Returns whether a file begins like an archive. */
static bool is_archive(const char *path)
{
    char magic[6] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool found = fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
                 memcmp(magic, CPIO_MAGIC, sizeof magic) == 0;

    if (fd >= 0)
        close(fd);
    return found;
}

static int finish_archives(struct usb_options *o, const struct options_parsing *archive)
{
    for (size_t i = 0; i < o->run.program_count; i++)
        if (o->run.program[i][0] == '-')
            return run_fail(
                o->failure,
                "%s: options come before the archives; write ./%s for a file of that name",
                o->run.program[i], o->run.program[i]);
    if (archive->given == NULL)
        return 0;
    return run_fail(o->failure, "--%s is a part of the archive; give it to hr pack",
                    archive->given);
}

static int finish_collect(struct usb_options *o)
{
    if (o->output == NULL)
        o->output = "results";
    if (strcmp(o->output, "-") == 0)
        return run_fail(o->failure, "--output -: results need a directory");
    if (o->run.program_count == 0)
        return 0;
    return run_fail(o->failure, "%s: --collect takes results off an image; it runs no program",
                    o->run.program[0]);
}

static int finish(struct usb_options *o, struct options_parsing *archive)
{
    if (o->collect != NULL)
        return finish_collect(o);
    if (o->clear)
        return run_fail(o->failure, "--clear removes what was collected; add --collect FILE");
    if (o->output == NULL)
        o->output = "usb.img";
    if (o->run.program_count == 0)
        return run_fail(o->failure, "no program and no archive given; see 'hr usb --help'");
    if (usb_options_finish_conf(o) != 0)
        return -1;
    o->archives = is_archive(o->run.program[0]);
    o->conf.memory_bytes = o->run.memory_given ? o->run.memory_bytes : BOOT_CONF_USUAL;
    return o->archives ? finish_archives(o, archive) : options_finish(archive);
}

int usb_options_parse(struct usb_options *o, int argc, char **argv, struct run_failure *failure)
{
    const struct argp_child children[] = {
        {&options_archive_argp, 0, NULL, 0},
        {&options_kept_argp, 0, NULL, 0},
        {&usb_options_conf_argp, 0, NULL, 0},
        {0},
    };
    const struct argp command = {
        .options = options,
        .parser = parse_option,
        .args_doc = "PROGRAM [ARG...]\nARCHIVE...\n--collect FILE",
        .doc = help,
        .children = children,
    };
    struct parse parse = {.options = o};
    error_t result;

    *o = (struct usb_options){
        .failure = failure,
        .repeat = 1,
        .conf = {.buffer_bytes = BOOT_CONF_ALL, .part_bytes = PART_BYTES},
    };
    options_init(&parse.archive, &o->run, failure);
    o->run.packing = o->run.unattended = true;
    o->run.target_cpu = "all";
    argp_err_exit_status = RUN_EXIT_FAILED;
    result = command_line_parse(&command, argc, argv, ARGP_IN_ORDER, &parse);
    if (failure->exit_status != 0)
        return -1;
    if (result != 0)
        return run_fail(failure, "%s", strerror(result));
    return finish(o, &parse.archive);
}
