/* Validates an ELF64 x86-64 executable for loading.  Freestanding; the input is hostile.  The host
 * uses it to refuse early, with a reason; the guest uses it to load.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF64_SEGMENTS_MAX 32
#define ELF64_USER_END 0x00007ffffffff000ull /* segments end at or below */
#define ELF64_PAGE 4096ull

enum elf64_status {
    ELF64_OK = 0,
    ELF64_NOT_ELF,
    ELF64_NOT_64BIT, /* ELFCLASS32 */
    ELF64_WRONG_MACHINE, /* not EM_X86_64, or big-endian */
    ELF64_WRONG_TYPE, /* neither ET_EXEC nor ET_DYN: an object, a core */
    ELF64_TRUNCATED, /* headers or segment contents reach past the file's end */
    ELF64_BAD_HEADERS, /* sizes, counts or alignments that contradict each other */
    ELF64_TOO_MANY_SEGMENTS,
    ELF64_BAD_ADDRESS, /* overflow, outside user space, below 64 KiB for ET_EXEC */
    ELF64_OVERLAP, /* two PT_LOAD segments share bytes */
    ELF64_NO_SEGMENTS, /* nothing to load */
    ELF64_BAD_ENTRY, /* entry point outside every executable segment */
};

struct elf64_segment { /* a PT_LOAD with p_memsz > 0; ascending addresses */
    uint64_t address; /* p_vaddr */
    uint64_t memory_bytes;
    uint64_t file_offset;
    uint64_t file_bytes;
    uint32_t flags; /* PF_R, PF_W, PF_X as in <elf.h>: 4, 2, 1 */
};

struct elf64_image {
    bool relocatable; /* ET_DYN: static-PIE or dynamic; addresses are relative to a load base */
    uint64_t entry;
    uint64_t program_headers; /* address of the program headers in memory, 0 if not loaded */
    uint16_t program_header_count;
    uint16_t program_header_bytes; /* of one */
    uint64_t low; /* page-aligned extent of all segments */
    uint64_t high;
    bool executable_stack; /* PT_GNU_STACK with PF_X */
    uint64_t interpreter_offset; /* PT_INTERP: NUL-terminated inside the file */
    uint64_t interpreter_bytes; /* 0: static */
    uint64_t build_id_offset; /* NT_GNU_BUILD_ID's description in the file */
    uint64_t build_id_bytes; /* 0: none */
    uint32_t segment_count;
    struct elf64_segment segments[ELF64_SEGMENTS_MAX];
};

#define ELF64_LOOK_MAX 4096u

/* A file of which only the beginning is in memory. */
struct elf64_source {
    const uint8_t *head;
    uint64_t head_bytes;
    uint64_t bytes; /* of the whole file; UINT64_MAX: segments may end after it */
    /* Returns `bytes` (at most ELF64_LOOK_MAX) bytes from `offset` on, valid until the next call;
     * NULL: they are not there.  NULL: the head is all. */
    const uint8_t *(*look)(void *context, uint64_t offset, uint64_t bytes);
    void *context;
};

enum elf64_status elf64_read(const struct elf64_source *source, struct elf64_image *image);
enum elf64_status elf64_parse(const void *file, size_t bytes, struct elf64_image *image);

/* Finds the build-id of any ELF file, shared libraries included: its offset and length (at most 64)
 * in the file.  Returns false if there is none. */
bool elf64_build_id(const void *file, size_t bytes, uint64_t *offset, uint64_t *id_bytes);

/* Returns "not an ELF file", "a 32-bit program; Microtome runs 64-bit x86-64 programs" ... */
const char *elf64_status_text(enum elf64_status status);
