/* One ELF file with probes: its symbols, its code and the bounds of its functions.
 *
 * Addresses are link-time addresses.  ELF files are hostile input.  Never prints.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/probe/probe_code.h"
#include "host/symbols/symbols_module.h"
#include "host/unwind/unwind_tables.h"

enum probe_symbol_kind {
    PROBE_SYMBOL_FUNCTION,
    PROBE_SYMBOL_LABEL, /* without a type, in code */
    PROBE_SYMBOL_CHOICE, /* STT_GNU_IFUNC */
    PROBE_SYMBOL_DATA,
};

struct probe_symbol {
    uint64_t start;
    uint64_t bytes; /* 0: unknown */
    const char *name; /* lives as long as the file is open; may end in @VERSION */
    char *plain; /* demangled, once it was asked for; owned */
    uint8_t kind; /* enum probe_symbol_kind */
    bool asked; /* `plain` was tried */
    bool global;
};

struct probe_file {
    char *path; /* as the guest sees it */
    char *place; /* where it is here */
    bool opened; /* opening was tried; `status` is the result */
    int status;
    struct symbols_file file;
    struct symbols_module module;
    Elf *elf; /* belongs to the module */
    const uint8_t *bytes; /* of the file, mapped */
    uint64_t byte_count;
    struct probe_symbol *symbols; /* by address, the best name of each first */
    size_t count;
    struct unwind_tables tables; /* table_count 0 until asked for */
    bool tables_asked;
};

/* Returns NULL if out of memory. */
struct probe_file *probe_file_new(const char *path, const char *place);
void probe_file_free(struct probe_file *f);

/* Reads the file, once.  Returns 0, also if it has no symbols; -ENOENT; -ENOEXEC; other -errno. */
int probe_file_open(struct probe_file *f);

/* Return what is at an address: the file's offset, and how many bytes of executable code follow.
 * False or NULL: no code. */
bool probe_file_offset(const struct probe_file *f, uint64_t address, uint64_t *offset,
                       uint64_t *bytes);
const uint8_t *probe_file_code(void *file, uint64_t address, uint64_t *bytes);

/* Finds the section of code that holds an address.  Returns false if there is none. */
bool probe_file_section(Elf *elf, uint64_t address, GElf_Shdr *header);

/* Stores the range of a function.  Returns whether its size is known, not only a limit. */
bool probe_file_range(struct probe_file *f, const struct probe_symbol *symbol,
                      struct probe_range *range);

/* Stores the range of the code that holds an address: of a function or, if none is known, of a
 * section; *symbol is NULL then.  Returns false if there is none. */
bool probe_file_around(struct probe_file *f, uint64_t address, struct probe_range *range,
                       const struct probe_symbol **symbol);

/* Fulfils struct probe_code_source.part. */
bool probe_file_part(void *file, uint64_t start, uint64_t target, struct probe_range *part);

/* Returns whether a symbol names a part that was moved out of another function. */
bool probe_file_is_part(const struct probe_symbol *symbol);
