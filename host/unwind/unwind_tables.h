/* The call frame information of one ELF file: .eh_frame and .debug_frame.  For
 * host/unwind/unwind_files.c.
 *
 * ELF files are hostile input: whatever they say, memory is bounded by the size of the sections and
 * an index of at most three times that.  Never prints.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/unwind/unwind_rule.h"

struct unwind_entry { /* one stretch of code */
    uint64_t start; /* link-time address */
    uint64_t end;
    uint32_t offset; /* offset of its FDE in the section */
};

struct unwind_table {
    Elf_Data *data; /* belongs to the Elf */
    bool eh_frame;
    uint64_t address; /* link-time address of the section */
    struct unwind_entry *entries; /* ascending by start; owned */
    size_t count;
};

struct unwind_tables {
    int fd; /* not owned */
    Elf *elf;
    struct unwind_table tables[2];
    uint32_t table_count;
    uint64_t bytes; /* approximate memory in use */
};

/* Loads the tables of the ELF file in `fd` if they take at most `room` bytes of memory.  The
 * descriptor must stay open. */
void unwind_tables_open(struct unwind_tables *tables, int fd, uint64_t room);
void unwind_tables_close(struct unwind_tables *tables);

/* Finds the rule for the address that the file's byte at `file_offset` is mapped to.  Returns false
 * if there is none. */
bool unwind_tables_find(const struct unwind_tables *tables, uint64_t file_offset,
                        struct unwind_rule *rule);

/* Returns whether that byte belongs to the few instructions at which the kernel starts a program or
 * its ld.so.  They often lack call frame information, and they have no caller. */
bool unwind_tables_is_entry(const struct unwind_tables *tables, uint64_t file_offset);
