/* The options of `hr usb`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/options/options.h"
#include "lib/boot/boot_conf.h"

struct usb_options {
    struct options run; /* program, or archives: run.program then holds their names */
    bool archives; /* the arguments are archives of hr pack */
    const char *output; /* image or device; with collect: the directory */
    const char *collect; /* image or device to read results from; NULL: write a stick */
    bool clear; /* remove collected results */
    bool yes; /* do not ask before a device is overwritten */
    bool force; /* an image may replace any file, even one with results */
    const char *loader; /* BOOTX64.EFI; NULL: the one that belongs to hr */
    uint64_t size_bytes; /* of an image; 0: hr chooses */
    struct boot_conf conf; /* the contents of microtome.conf, without files and runs */
    bool resumable; /* a stick that is started again continues */
    const char *marks; /* of the runs, as lib/boot/boot_conf.h has them; NULL: all wait */
    uint64_t repeat;
    uint64_t timeout_ns; /* limit for each run; 0: the archives' own */
    struct run_failure *failure; /* for errors during parsing */
};

/* Parses argv.  argp prints usage errors and --help itself.  Returns 0, or -1 with the failure
 * filled. */
int usb_options_parse(struct usb_options *o, int argc, char **argv, struct run_failure *failure);
