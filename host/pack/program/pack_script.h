/* Scripts: the first line that names their interpreter, by Linux's rules (fs/binfmt_script.c).
 * Hostile input. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PACK_SCRIPT_LINE_BYTES 256 /* how much of the file Linux reads */
#define PACK_SCRIPT_WORDS_MAX 64

struct pack_script {
    char interpreter[PACK_SCRIPT_LINE_BYTES];
    char argument[PACK_SCRIPT_LINE_BYTES]; /* the rest of the line: one argument, or "" */
};

/* What `env ARGUMENT` would run. */
struct pack_script_env {
    char text[PACK_SCRIPT_LINE_BYTES];
    const char *settings[PACK_SCRIPT_WORDS_MAX]; /* NAME=VALUE */
    size_t setting_count;
    const char *words[PACK_SCRIPT_WORDS_MAX]; /* the program and its first arguments */
    size_t word_count;
};

bool pack_script_is(const void *file, size_t bytes);

/* Returns 0, or -ENOEXEC if the line names no interpreter or is too long to tell. */
int pack_script_parse(const void *file, size_t bytes, struct pack_script *script);

/* Splits an interpreter's argument as env(1) does: `NAME`, and with -S or --split-string settings,
 * a name and arguments.  Returns -EINVAL for everything else that env accepts: options, quotes,
 * escapes. */
int pack_script_parse_env(const struct pack_script *script, struct pack_script_env *env);
