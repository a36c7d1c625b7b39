/* An ELF file together with its debug file, as libdwfl finds it: by build-id and by .gnu_debuglink
 * (with its checksum) in the debug folders, then from a debuginfod server. */
#pragma once

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "host/object/symbols_file.h"
#include "host/symbols/symbols.h"

struct symbols_module { /* addresses are link-time addresses throughout */
    Dwfl *dwfl;
    Dwfl_Module *module;
    char *debug_path; /* folders to search, for libdwfl */
    Dwfl_Callbacks callbacks;
    bool debug;
    bool too_large; /* a debug file exceeded SYMBOLS_MODULE_UNPACKED_MAX */
};

/* Compressed sections are unpacked to memory.  Of a file with more than this, they are not used. */
#define SYMBOLS_MODULE_UNPACKED_MAX (96ull << 20)

/* `debug`: the debug information is wanted, not only symbols.  Returns 0; -EFBIG: beyond the limit
 * above; -ENOEXEC; -ENOMEM.  The module must not be moved; `file` may be closed afterwards. */
int symbols_module_open(struct symbols_module *module, const struct symbols_file *file, bool debug,
                        const struct symbols_options *options);
void symbols_module_close(struct symbols_module *module);

/* Returns the section .NAME (or .zNAME) of the file with the debug information, unpacked; or NULL.
 */
Elf_Data *symbols_module_section(struct symbols_module *module, const char *name);

/* Returns the path of a file that is at the place of the debug file but belongs to another build;
 * the caller frees it.  NULL if there is none. */
char *symbols_module_stranger(struct symbols_module *module);
