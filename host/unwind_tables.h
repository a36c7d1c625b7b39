/* The call frame information of one ELF file, by libdw.  For host/unwind_files.c.
 *
 * ELF files are hostile input: tables above a size are not used, because libdw keeps each entry
 * that it passes over.  Never prints.
 */
#ifndef HOST_UNWIND_TABLES_H
#define HOST_UNWIND_TABLES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/unwind_rule.h"

struct unwind_tables {
    Elf *elf;
    Dwarf *dwarf; /* for .debug_frame */
    Dwarf_CFI *eh_frame;
    Dwarf_CFI *debug_frame;
    uint64_t bytes; /* of memory that the tables take, about */
};

/* Loads what the ELF file in `fd` has, if it takes at most `room` bytes of memory; the descriptor
 * must stay open meanwhile.  Without tables all is NULL.
 */
void unwind_tables_open(struct unwind_tables *tables, int fd, uint64_t room);
void unwind_tables_close(struct unwind_tables *tables);

/* The rule for an address that a file's byte at `file_offset` is mapped to; false: there is none.
 */
bool unwind_tables_find(struct unwind_tables *tables, uint64_t file_offset,
                        struct unwind_rule *rule);

#endif
