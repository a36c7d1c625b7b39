/* The options for where symbols come from and how they are shown. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#define SYMBOLS_DEBUG_DIRS_MAX 16u

struct symbols_options { /* all zero: the defaults */
    const char *program; /* replaces the path of the program's own maps; NULL: as recorded */
    const char *debug_dirs[SYMBOLS_DEBUG_DIRS_MAX]; /* searched before /usr/lib/debug */
    uint32_t debug_dir_count;
    bool raw_names; /* not demangled */
    bool no_inlines;
    bool no_debuginfod; /* ask no server, even if DEBUGINFOD_URLS is set */
};

/* Parses --program, --debug-dir and so on, as a child of a command's argp; its input is a struct
 * symbols_options. */
extern const struct argp symbols_argp;
