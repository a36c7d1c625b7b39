/* Reads the parts of an ELF file that a dynamic linker needs (System V ABI, "Dynamic Linking"). */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "host/pack/libraries/pack_elf.h"

static bool inside(const struct pack_elf *e, uint64_t offset, uint64_t bytes)
{
    return offset <= e->bytes && bytes <= e->bytes - offset;
}

static int read_header(const struct pack_elf *e, Elf64_Ehdr *header)
{
    if (e->bytes < sizeof *header)
        return -ENOEXEC;
    memcpy(header, e->file, sizeof *header);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_X86_64 ||
        (header->e_type != ET_EXEC && header->e_type != ET_DYN))
        return -ENOEXEC;
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == PN_XNUM ||
        !inside(e, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return -EINVAL;
    return 0;
}

static Elf64_Phdr read_program_header(const struct pack_elf *e, const Elf64_Ehdr *header,
                                      unsigned index)
{
    Elf64_Phdr ph;

    memcpy(&ph, e->file + header->e_phoff + index * sizeof ph, sizeof ph);
    return ph;
}

/* Returns a string of the file that ends before `end`. */
static const char *text_at(const struct pack_elf *e, uint64_t offset, uint64_t end)
{
    const char *text = (const char *)e->file + offset;

    return offset < end && memchr(text, 0, end - offset) != NULL ? text : NULL;
}

/* Finds an address in the file, with the bytes from there to the segment's end. */
static bool locate(const struct pack_elf *e, const Elf64_Ehdr *header, uint64_t address,
                   uint64_t *offset, uint64_t *bytes)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr ph = read_program_header(e, header, i);

        if (ph.p_type == PT_LOAD && address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz &&
            inside(e, ph.p_offset, ph.p_filesz)) {
            *offset = ph.p_offset + (address - ph.p_vaddr);
            *bytes = ph.p_filesz - (address - ph.p_vaddr);
            return true;
        }
    }
    return false;
}

static int read_segments(struct pack_elf *e, const Elf64_Ehdr *header)
{
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;

    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr ph = read_program_header(e, header, i);

        if (ph.p_type == PT_LOAD && ph.p_memsz <= UINT64_MAX - ph.p_vaddr) {
            low = ph.p_vaddr < low ? ph.p_vaddr : low;
            high = ph.p_vaddr + ph.p_memsz > high ? ph.p_vaddr + ph.p_memsz : high;
        }
        if (ph.p_type == PT_INTERP && e->interpreter == NULL) {
            if (!inside(e, ph.p_offset, ph.p_filesz))
                return -EINVAL;
            e->interpreter = text_at(e, ph.p_offset, ph.p_offset + ph.p_filesz);
            if (e->interpreter == NULL)
                return -EINVAL;
        }
        if (ph.p_type == PT_DYNAMIC && e->dynamic_count == 0) {
            if (!inside(e, ph.p_offset, ph.p_filesz))
                return -EINVAL;
            e->dynamic_offset = ph.p_offset;
            e->dynamic_count = ph.p_filesz / sizeof(Elf64_Dyn);
        }
    }
    e->memory_bytes = high > low ? high - low : 0;
    return 0;
}

static bool read_dynamic(const struct pack_elf *e, uint64_t index, Elf64_Dyn *entry)
{
    if (index >= e->dynamic_count)
        return false;
    memcpy(entry, e->file + e->dynamic_offset + index * sizeof *entry, sizeof *entry);
    return entry->d_tag != DT_NULL;
}

static const char *dynamic_text(const struct pack_elf *e, uint64_t offset)
{
    if (offset >= e->strings_bytes)
        return NULL;
    return text_at(e, e->strings_offset + offset, e->strings_offset + e->strings_bytes);
}

static void find_strings(struct pack_elf *e, const Elf64_Ehdr *header)
{
    uint64_t address = 0;
    uint64_t size = 0;
    uint64_t bytes = 0;
    Elf64_Dyn entry;

    for (uint64_t i = 0; read_dynamic(e, i, &entry); i++) {
        if (entry.d_tag == DT_STRTAB)
            address = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRSZ)
            size = entry.d_un.d_val;
    }
    if (locate(e, header, address, &e->strings_offset, &bytes))
        e->strings_bytes = size < bytes ? size : bytes;
}

static void read_names(struct pack_elf *e)
{
    Elf64_Dyn entry;

    for (uint64_t i = 0; read_dynamic(e, i, &entry); i++) {
        switch (entry.d_tag) {
        case DT_SONAME:
            e->soname = dynamic_text(e, entry.d_un.d_val);
            break;
        case DT_RPATH:
            e->rpath = dynamic_text(e, entry.d_un.d_val);
            break;
        case DT_RUNPATH:
            e->runpath = dynamic_text(e, entry.d_un.d_val);
            break;
        case DT_FLAGS_1:
            e->no_default = entry.d_un.d_val & DF_1_NODEFLIB;
            break;
        default:
            break;
        }
    }
    if (e->runpath != NULL)
        e->rpath = NULL;
}

int pack_elf_parse(const void *file, size_t bytes, struct pack_elf *elf)
{
    Elf64_Ehdr header;
    int result;

    *elf = (struct pack_elf){.file = file, .bytes = bytes};
    result = read_header(elf, &header);
    if (result == 0)
        result = read_segments(elf, &header);
    if (result != 0)
        return result;
    find_strings(elf, &header);
    read_names(elf);
    return 0;
}

const char *pack_elf_next_needed(const struct pack_elf *elf, uint64_t *position)
{
    Elf64_Dyn entry;

    while (read_dynamic(elf, *position, &entry)) {
        ++*position;
        if (entry.d_tag == DT_NEEDED) {
            const char *name = dynamic_text(elf, entry.d_un.d_val);

            if (name != NULL && name[0] != 0)
                return name;
        }
    }
    return NULL;
}
