/* The first line of a script, "#!INTERPRETER ARGUMENT".  Pure code. */
#pragma once

#include <stddef.h>

#define EXEC_SCRIPT_BYTES 256u /* BINPRM_BUF_SIZE of Linux */

struct exec_script {
    char line[EXEC_SCRIPT_BYTES]; /* the beginning of the file, then zeros */
    const char *interpreter; /* in `line` */
    const char *argument; /* NULL: none */
};

/* Takes script->line apart, and puts NULs into it.  Returns 0; 1 if it is no script; or -ENOEXEC if
 * the line is too long or names no interpreter. */
int exec_script_parse(struct exec_script *script);
