/* The variables of one ELF file's debug information, and the names of their parts.  For
 * host/symbols/symbols.c; link-time addresses; hostile input; bounded memory; never prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/object/symbols_file.h"
#include "host/symbols/symbols.h"

struct symbols_types;

/* Returns 0; -ENODATA: no debug information, or no variables in it; -EFBIG; -ENOEXEC; -ENOMEM. */
int symbols_types_open(struct symbols_types **types, const struct symbols_file *file,
                       const struct symbols_options *options);
void symbols_types_close(struct symbols_types *types);

/* Writes what lies `offset` bytes after the start of the variable at an address, as one writes it
 * after the variable's name: ".hits", "[12].next", "" for the variable itself, "[3]+0x14" for a
 * part that has no name.  Returns false, and writes nothing, if there is no such variable. */
bool symbols_types_part(const struct symbols_types *types, uint64_t variable, uint64_t offset,
                        char *text, size_t bytes);
