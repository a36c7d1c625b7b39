/* hr completion: prints what a shell needs to complete hr's commands and options. */
#pragma once

#include <stddef.h>

#include "host/base/commands.h"

/* `argv` is "hr completion" and the shell: bash, zsh or fish.  The options are those that each
 * command's own --help lists.  Returns the exit status. */
int completion_command(const struct command *const *commands, size_t count, int argc, char **argv);
