/* The program of a run: found as a shell finds it, with its interpreters resolved as Linux does.
 *
 * Functions return 0, or -1 with the failure filled, and never print.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "host/base/run_failure.h"
#include "host/options/options.h"

#define PACK_PROGRAM_SCRIPTS_MAX 4 /* depth of scripts whose interpreter is a script */

struct pack_program {
    const char *root; /* the tree that it comes from (host/pack/program/pack_root.h); NULL: / */
    char found[PATH_MAX]; /* absolute, as found; links are not resolved */
    char path[PATH_MAX]; /* absolute, without symbolic links */
    struct stat status;
    uint64_t memory_bytes; /* of all segments */
    char build_id[129]; /* hexadecimal, empty if there is none */
    char interpreter[PATH_MAX]; /* its dynamic linker; empty: a static program */
    bool searched; /* found through PATH */
    char **arguments; /* argv, NULL-terminated, with the words of scripts' first lines */
    size_t argument_count;
    char **settings; /* K=V settings of scripts' `env`, NULL-terminated; or NULL */
    size_t setting_count;
    char *scripts[PACK_PROGRAM_SCRIPTS_MAX]; /* absolute paths */
    size_t script_count;
};

/* Finds the program and refuses, with a reason, what cannot run: exit status 127 if there is no
 * such program, 126 if Microtome cannot run it.  Call pack_program_free in any case. */
int pack_program_find(const struct options *o, struct pack_program *program,
                      struct run_failure *failure);

/* Finds a program in PATH, below `root` in the guest's default one.  Returns 0, or -1 with the
 * failure filled. */
int pack_program_search(const char *root, const char *name, char found[PATH_MAX],
                        struct run_failure *failure);
void pack_program_free(struct pack_program *program);
