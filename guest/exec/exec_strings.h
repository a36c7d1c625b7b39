/* The strings that a new program gets, arguments or environment: from the manifest at boot, from
 * the calling program's memory at execve.  Context: boot, or a thread with the kernel lock held. */
#pragma once

#include "guest/exec/exec_writer.h"
#include "lib/boot/manifest.h"

#define EXEC_STRINGS_FIRST 20u /* a path and an argument of each nested script, and one path */
#define EXEC_STRING_BYTES_MAX (128u << 10) /* MAX_ARG_STRLEN of Linux, with the NUL */

struct exec_strings {
    const char *first[EXEC_STRINGS_FIRST]; /* the kernel's, which come before the others */
    uint32_t first_count;
    const struct manifest *manifest; /* the values of `key`; NULL: none */
    const char *key;
    struct vm_space *space; /* of `list` */
    uint64_t list; /* user address of pointers, the last one 0; 0: none */
    uint64_t count, bytes; /* exec_strings_survey's result: strings, and bytes with their NULs */
};

/* Counts them.  Subtracts the bytes of strings and of pointers to them from *room.  Returns 0,
 * -E2BIG if there is too little room or one is too long, -EFAULT or -ENOMEM. */
int exec_strings_survey(struct exec_strings *strings, uint64_t *room);

/* Writes the strings to `text`, and a pointer to each, and a 0, to `words`.  Returns 0, -EFAULT
 * (also if the program changed them since) or -ENOMEM. */
int exec_strings_write(const struct exec_strings *strings, struct exec_writer *words,
                       struct exec_writer *text);

/* Returns the most bytes that strings and pointers may take, by the limit of the stack. */
uint64_t exec_strings_room(uint64_t stack_limit);
