/* The interface between the two halves of the parser of microtome.conf: lines (boot_conf.c) and
 * what each key takes (boot_conf_keys.c).  Only these two files include it.
 */
#pragma once

#include <stdbool.h>

#include "lib/boot/boot_conf.h"
#include "lib/boot/boot_value.h"

#define BOOT_CONF_KEYS 22
#define BOOT_CONF_PART_BYTES_MAX (4095ull << 20) /* a file of FAT is shorter than 4 GiB */

/* Keys that other keys are checked against; the table continues after them. */
enum {
    KEY_VERSION,
    KEY_OUTPUT,
    KEY_FIRMWARE,
    KEY_COLLECTOR,
    KEY_ADDRESS,
    KEY_GATEWAY,
    KEY_PROGRESS
};

struct boot_conf_parser {
    struct boot_conf *conf;
    struct boot_conf_run *run; /* the run that keys belong to; NULL before the first */
    struct boot_conf_error *error;
    uint32_t line;
    uint32_t run_line; /* line of the run's [run] */
    uint32_t given[BOOT_CONF_KEYS]; /* line of each key; 0: not given */
};

struct boot_conf_key {
    const char *name;
    /* Returns NULL if the value is good, else what is wrong with it and what would be right, as a
     * text to follow "key = value". */
    const char *(*take)(struct boot_conf_parser *p, struct boot_text value);
    bool of_run;
    bool needed;
};

extern const struct boot_conf_key boot_conf_keys[BOOT_CONF_KEYS];
