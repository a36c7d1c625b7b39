/* Finds places by program headers; section headers show files without code. */
#include "host/object/elf_place.h"

#include <gelf.h>
#include <stddef.h>

#define PAGE_BYTES 4096ull
#define SEGMENTS_MAX 64u

static bool segment(Elf *elf, size_t i, GElf_Phdr *header)
{
    size_t count = 0;

    return elf_getphdrnum(elf, &count) == 0 && i < count && i < SEGMENTS_MAX &&
           gelf_getphdr(elf, (int)i, header) != NULL;
}

bool elf_place_address(Elf *elf, uint64_t offset, uint64_t *address)
{
    GElf_Phdr header;

    for (size_t i = 0; segment(elf, i, &header); i++) {
        uint64_t before = header.p_offset % PAGE_BYTES; /* pages are mapped whole */
        uint64_t start = header.p_offset - before;

        if (header.p_type != PT_LOAD || offset < start ||
            offset - start >= before + header.p_filesz)
            continue;
        *address = offset - header.p_offset + header.p_vaddr;
        return true;
    }
    return false;
}

/* Returns whether a section of the file holds the address, but not its bytes. */
static bool left_out(Elf *elf, uint64_t address)
{
    Elf_Scn *section = NULL;
    GElf_Shdr part;

    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &part) != NULL && part.sh_type == SHT_NOBITS &&
            (part.sh_flags & SHF_EXECINSTR) != 0 && address >= part.sh_addr &&
            address - part.sh_addr < part.sh_size)
            return true;
    return false;
}

bool elf_place_code(Elf *elf, uint64_t address, uint64_t *offset, uint64_t *bytes)
{
    GElf_Phdr header;

    for (size_t i = 0; segment(elf, i, &header); i++) {
        if (header.p_type != PT_LOAD || address < header.p_vaddr ||
            address - header.p_vaddr >= header.p_filesz)
            continue;
        *offset = header.p_offset + (address - header.p_vaddr);
        *bytes = header.p_filesz - (address - header.p_vaddr);
        return !left_out(elf, address);
    }
    return false;
}
