/* What `hr usb` was asked to do. */
#ifndef HOST_USB_USB_OPTIONS_H
#define HOST_USB_USB_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/options/options.h"
#include "lib/boot_conf.h"

struct usb_options {
    struct options run; /* program, or archives: then run.program holds their names */
    bool archives; /* what follows the options are archives of hr pack's */
    const char *output; /* image or device; with collect: the directory */
    const char *collect; /* image or device to take results from, NULL: write one */
    bool clear; /* remove collected results */
    bool yes; /* do not ask before a device is overwritten */
    bool force; /* an image may replace any file, and results */
    const char *loader; /* BOOTX64.EFI, NULL: found beside hr */
    uint64_t size_bytes; /* of an image; 0: chosen */
    struct boot_conf conf; /* what goes into microtome.conf, but for files and runs */
    uint32_t repeat;
    uint64_t timeout_ns; /* of each run; 0: the archives' own */
    struct run_failure *failure; /* of the parsing */
};

/* Parses argv.  argp prints usage errors and --help itself.  0, or -1 with the failure filled. */
int usb_options_parse(struct usb_options *o, int argc, char **argv, struct run_failure *failure);

#endif
