/* Validates an ELF64 x86-64 executable for loading (System V ABI, "Object Files"). */
#include "lib/program/elf64.h"

#include <elf.h>
#include <string.h>

#include "lib/array.h"
#include "lib/round.h"

#define LOWEST_FIXED_ADDRESS 0x10000ull
#define RELOCATABLE_END (1ull << 46) /* room for a load base below ELF64_USER_END */
#define INTERPRETER_BYTES_MAX 4096u
#define BUILD_ID_BYTES_MAX 64u

/* Returns a part of the file, or NULL if it is not there. */
static const uint8_t *part(const struct elf64_source *f, uint64_t offset, uint64_t bytes)
{
    if (offset <= f->head_bytes && bytes <= f->head_bytes - offset)
        return f->head + offset;
    return f->look != NULL && bytes <= ELF64_LOOK_MAX ? f->look(f->context, offset, bytes) : NULL;
}

static bool inside(const struct elf64_source *f, uint64_t offset, uint64_t bytes)
{
    return offset <= f->bytes && bytes <= f->bytes - offset;
}

static enum elf64_status check_identity(const struct elf64_source *f)
{
    const uint8_t *ident = f->head;

    if (f->head_bytes < SELFMAG || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return ELF64_NOT_ELF;
    if (f->head_bytes <= EI_VERSION)
        return ELF64_TRUNCATED;
    if (ident[EI_CLASS] == ELFCLASS32)
        return ELF64_NOT_64BIT;
    if (ident[EI_CLASS] != ELFCLASS64)
        return ELF64_BAD_HEADERS;
    if (ident[EI_DATA] == ELFDATA2MSB)
        return ELF64_WRONG_MACHINE;
    if (ident[EI_DATA] != ELFDATA2LSB || ident[EI_VERSION] != EV_CURRENT)
        return ELF64_BAD_HEADERS;
    return f->head_bytes < sizeof(Elf64_Ehdr) ? ELF64_TRUNCATED : ELF64_OK;
}

static enum elf64_status check_header(const struct elf64_source *f, Elf64_Ehdr *header)
{
    enum elf64_status status = check_identity(f);

    if (status != ELF64_OK)
        return status;
    memcpy(header, f->head, sizeof *header);
    if (header->e_machine != EM_X86_64)
        return ELF64_WRONG_MACHINE;
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return ELF64_WRONG_TYPE;
    if (header->e_phnum == 0)
        return ELF64_NO_SEGMENTS;
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == PN_XNUM)
        return ELF64_BAD_HEADERS;
    if (!inside(f, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return ELF64_TRUNCATED;
    return ELF64_OK;
}

static bool alignment_ok(const Elf64_Phdr *ph)
{
    if (ph->p_align > 1 && (ph->p_align & (ph->p_align - 1)))
        return false;
    /* A segment must have equal offsets within a page in memory and file to be mapped. */
    return ph->p_filesz == 0 || (ph->p_vaddr - ph->p_offset) % ELF64_PAGE == 0;
}

static enum elf64_status check_load(const struct elf64_source *f, const struct elf64_image *image,
                                    const Elf64_Phdr *ph)
{
    uint64_t limit = image->relocatable ? RELOCATABLE_END : ELF64_USER_END;

    if (ph->p_filesz > ph->p_memsz || !alignment_ok(ph))
        return ELF64_BAD_HEADERS;
    if (!inside(f, ph->p_offset, ph->p_filesz))
        return ELF64_TRUNCATED;
    if (ph->p_vaddr > limit || ph->p_memsz > limit - ph->p_vaddr)
        return ELF64_BAD_ADDRESS;
    if (!image->relocatable && ph->p_vaddr < LOWEST_FIXED_ADDRESS)
        return ELF64_BAD_ADDRESS;
    return ELF64_OK;
}

/* Keeps the segments sorted by address. */
static void insert_segment(struct elf64_image *image, const Elf64_Phdr *ph)
{
    uint32_t at = image->segment_count++;

    for (; at > 0 && image->segments[at - 1].address > ph->p_vaddr; at--)
        image->segments[at] = image->segments[at - 1];
    image->segments[at] = (struct elf64_segment){
        .address = ph->p_vaddr,
        .memory_bytes = ph->p_memsz,
        .file_offset = ph->p_offset,
        .file_bytes = ph->p_filesz,
        .flags = ph->p_flags & (PF_R | PF_W | PF_X),
    };
}

static enum elf64_status take_load(const struct elf64_source *f, struct elf64_image *image,
                                   const Elf64_Phdr *ph)
{
    enum elf64_status status;

    if (ph->p_memsz == 0)
        return ph->p_filesz == 0 ? ELF64_OK : ELF64_BAD_HEADERS;
    status = check_load(f, image, ph);
    if (status != ELF64_OK)
        return status;
    if (image->segment_count == ELF64_SEGMENTS_MAX)
        return ELF64_TOO_MANY_SEGMENTS;
    insert_segment(image, ph);
    return ELF64_OK;
}

static enum elf64_status take_interpreter(const struct elf64_source *f, struct elf64_image *image,
                                          const Elf64_Phdr *ph)
{
    const uint8_t *text;

    if (image->interpreter_bytes)
        return ELF64_OK;
    if (ph->p_filesz < 2 || ph->p_filesz > INTERPRETER_BYTES_MAX)
        return ELF64_BAD_HEADERS;
    text = part(f, ph->p_offset, ph->p_filesz);
    if (text == NULL)
        return ELF64_TRUNCATED;
    if (text[ph->p_filesz - 1] != '\0' || text[0] == '\0')
        return ELF64_BAD_HEADERS;
    image->interpreter_offset = ph->p_offset;
    image->interpreter_bytes = ph->p_filesz;
    return ELF64_OK;
}

/* Notes are optional: a malformed one ends the search, not the program. */
static void take_notes(const struct elf64_source *f, struct elf64_image *image,
                       const Elf64_Phdr *ph)
{
    uint64_t alignment = ph->p_align == 8 ? 8 : 4;
    uint64_t at = 0;
    Elf64_Nhdr note;

    if (!inside(f, ph->p_offset, ph->p_filesz))
        return;
    while (at <= ph->p_filesz && sizeof note <= ph->p_filesz - at) {
        uint64_t start = ph->p_offset + at;
        const uint8_t *bytes = part(f, start, sizeof note + sizeof "GNU");
        uint64_t text;

        if (bytes == NULL)
            return;
        memcpy(&note, bytes, sizeof note);
        text = round_up(sizeof note + note.n_namesz, alignment);
        if (text > ph->p_filesz - at || note.n_descsz > ph->p_filesz - at - text)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(bytes + sizeof note, "GNU", 4) == 0 && note.n_descsz > 0 &&
            note.n_descsz <= BUILD_ID_BYTES_MAX && !image->build_id_bytes) {
            image->build_id_offset = start + text;
            image->build_id_bytes = note.n_descsz;
        }
        at += round_up(text + note.n_descsz, alignment);
    }
}

static enum elf64_status take_program_header(const struct elf64_source *f,
                                             struct elf64_image *image, const Elf64_Phdr *ph)
{
    switch (ph->p_type) {
    case PT_LOAD:
        return take_load(f, image, ph);
    case PT_INTERP:
        return take_interpreter(f, image, ph);
    case PT_GNU_STACK:
        image->executable_stack = ph->p_flags & PF_X;
        return ELF64_OK;
    case PT_NOTE:
        take_notes(f, image, ph);
        return ELF64_OK;
    default:
        return ELF64_OK;
    }
}

static enum elf64_status check_layout(const struct elf64_image *image)
{
    if (image->segment_count == 0)
        return ELF64_NO_SEGMENTS;
    for (uint32_t i = 1; i < image->segment_count; i++) {
        const struct elf64_segment *before = &image->segments[i - 1];

        if (before->address + before->memory_bytes > image->segments[i].address)
            return ELF64_OVERLAP;
    }
    for (uint32_t i = 0; i < image->segment_count; i++) {
        const struct elf64_segment *s = &image->segments[i];

        if ((s->flags & PF_X) && image->entry >= s->address &&
            image->entry - s->address < s->memory_bytes)
            return ELF64_OK;
    }
    return ELF64_BAD_ENTRY;
}

/* Finds the address of the program's own headers (AT_PHDR), in the segment that holds them. */
static uint64_t find_program_headers(const struct elf64_image *image, const Elf64_Ehdr *header)
{
    uint64_t bytes = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);

    for (uint32_t i = 0; i < image->segment_count; i++) {
        const struct elf64_segment *s = &image->segments[i];

        if (header->e_phoff >= s->file_offset && bytes <= s->file_bytes &&
            header->e_phoff - s->file_offset <= s->file_bytes - bytes)
            return s->address + (header->e_phoff - s->file_offset);
    }
    return 0;
}

/* Takes what all program headers say. */
static enum elf64_status take_program_headers(const struct elf64_source *f,
                                              struct elf64_image *image, const Elf64_Ehdr *header)
{
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        const uint8_t *at = part(f, header->e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
        enum elf64_status status;
        Elf64_Phdr ph;

        if (at == NULL)
            return ELF64_TRUNCATED;
        memcpy(&ph, at, sizeof ph);
        status = take_program_header(f, image, &ph);
        if (status != ELF64_OK)
            return status;
    }
    return check_layout(image);
}

enum elf64_status elf64_parse(const void *file, size_t bytes, struct elf64_image *image)
{
    const struct elf64_source source = {.head = file, .head_bytes = bytes, .bytes = bytes};

    return elf64_read(&source, image);
}

enum elf64_status elf64_read(const struct elf64_source *f, struct elf64_image *image)
{
    const struct elf64_segment *last;
    enum elf64_status status;
    Elf64_Ehdr header;

    memset(image, 0, offsetof(struct elf64_image, segments));
    status = check_header(f, &header);
    if (status != ELF64_OK)
        return status;
    image->relocatable = header.e_type == ET_DYN;
    image->entry = header.e_entry;
    image->program_header_count = header.e_phnum;
    image->program_header_bytes = header.e_phentsize;
    status = take_program_headers(f, image, &header);
    if (status != ELF64_OK)
        return status;
    image->program_headers = find_program_headers(image, &header);
    last = &image->segments[image->segment_count - 1];
    image->low = image->segments[0].address & ~(ELF64_PAGE - 1);
    image->high = round_up(last->address + last->memory_bytes, ELF64_PAGE);
    return ELF64_OK;
}

bool elf64_build_id(const void *file, size_t bytes, uint64_t *offset, uint64_t *id_bytes)
{
    const struct elf64_source f = {.head = file, .head_bytes = bytes, .bytes = bytes};
    struct elf64_image image = {0};
    Elf64_Ehdr header;

    if (check_header(&f, &header) != ELF64_OK)
        return false;
    for (uint32_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr ph;

        memcpy(&ph, f.head + header.e_phoff + i * sizeof ph, sizeof ph);
        if (ph.p_type == PT_NOTE)
            take_notes(&f, &image, &ph);
    }
    *offset = image.build_id_offset;
    *id_bytes = image.build_id_bytes;
    return image.build_id_bytes != 0;
}

const char *elf64_status_text(enum elf64_status status)
{
    static const char *const texts[] = {
        [ELF64_OK] = "no error",
        [ELF64_NOT_ELF] = "not an ELF file",
        [ELF64_NOT_64BIT] = "a 32-bit program; Microtome runs 64-bit x86-64 programs",
        [ELF64_WRONG_MACHINE] = "a program for another machine; Microtome runs x86-64 programs",
        [ELF64_WRONG_TYPE] = "an ELF file, but not a program (an object file or a core dump?)",
        [ELF64_TRUNCATED] = "a truncated ELF file: its headers point past its end",
        [ELF64_BAD_HEADERS] = "a damaged ELF file: its headers contradict each other",
        [ELF64_TOO_MANY_SEGMENTS] = "an ELF file with more than 32 loadable segments",
        [ELF64_BAD_ADDRESS] = "an ELF file with a segment outside the addresses of a program",
        [ELF64_OVERLAP] = "an ELF file whose segments overlap",
        [ELF64_NO_SEGMENTS] = "an ELF file with nothing to load",
        [ELF64_BAD_ENTRY] = "an ELF file without a valid entry point (a shared library?)",
    };

    return (size_t)status < ARRAY_COUNT(texts) ? texts[status] : "unknown status";
}
