/* The stubs through which a file calls functions of other files: the sections .plt*, which have no
 * symbols.  For host/symbols/symbols_elf.c; hostile input; never prints. */
#pragma once

#include <gelf.h>
#include <stdint.h>

#define SYMBOLS_PLT_STUBS_MAX (1u << 16)

/* Calls `take` for each stub, with its link-time addresses and the name of the function that it
 * calls, which lives as long as the file.  Returns 0, -ENOMEM or the result of `take`. */
int symbols_plt_read(Elf *elf,
                     int (*take)(void *context, uint64_t start, uint64_t end, const char *name),
                     void *context);
