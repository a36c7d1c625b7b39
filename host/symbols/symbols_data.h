/* The global objects of one ELF file: variables by address.  For host/symbols/symbols.c.  Never
 * prints. */
#pragma once

#include "host/symbols/symbols_elf.h"

struct symbols_data { /* all zero: not loaded */
    bool loaded;
    struct symbols_function *objects; /* ascending; owned */
    size_t count;
};

/* Reads the objects of an open file, once.  Without memory there are none. */
void symbols_data_load(struct symbols_data *data, const struct symbols_elf *elf);
void symbols_data_free(struct symbols_data *data);

/* Returns the object that holds a link-time address, or NULL. */
const struct symbols_function *symbols_data_find(const struct symbols_data *data, uint64_t address);
