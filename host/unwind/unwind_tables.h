/* The call frame information of one ELF file: .eh_frame and .debug_frame.  For
 * host/unwind/unwind_files.c.
 *
 * ELF files are hostile input: memory is what the sections take and an index, three times as much
 * at most, whatever they say.  Never prints.
 */
#ifndef HOST_UNWIND_UNWIND_TABLES_H
#define HOST_UNWIND_UNWIND_TABLES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/unwind/unwind_rule.h"

struct unwind_entry { /* one stretch of code */
    uint64_t start; /* as linked */
    uint64_t end;
    uint32_t offset; /* of its FDE in the section */
};

struct unwind_table {
    Elf_Data *data; /* belongs to the Elf */
    bool eh_frame;
    uint64_t address; /* of the section, as linked */
    struct unwind_entry *entries; /* ascending by start; owned */
    size_t count;
};

struct unwind_tables {
    int fd; /* not owned */
    Elf *elf;
    struct unwind_table tables[2];
    uint32_t table_count;
    uint64_t bytes; /* of memory that they take, about */
};

/* Loads what the ELF file in `fd` has, if it takes at most `room` bytes of memory; the descriptor
 * must stay open.
 */
void unwind_tables_open(struct unwind_tables *tables, int fd, uint64_t room);
void unwind_tables_close(struct unwind_tables *tables);

/* The rule for an address that the file's byte at `file_offset` is mapped to; false: there is none.
 */
bool unwind_tables_find(const struct unwind_tables *tables, uint64_t file_offset,
                        struct unwind_rule *rule);

/* Whether that byte is of the few instructions that the kernel starts a program or its ld.so at.
 * They often come without call frame information, and nobody called them.
 */
bool unwind_tables_is_entry(const struct unwind_tables *tables, uint64_t file_offset);

#endif
