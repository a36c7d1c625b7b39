/* Reads the kernel's ELF file for a loader (System V ABI, "Object Files"). */
#include "lib/boot/kernel_image.h"

#include <elf.h>
#include <string.h>

#include "include/kernel_layout.h"
#include "lib/bytes.h"
#include "lib/round.h"

#define START (KERNEL_BASE + KERNEL_PHYSICAL) /* the image's first virtual address */

struct file {
    const uint8_t *bytes;
    uint64_t count;
};

static bool inside(const struct file *f, uint64_t offset, uint64_t bytes)
{
    return offset <= f->count && bytes <= f->count - offset;
}

static const char *check_header(const struct file *f, Elf64_Ehdr *header)
{
    if (f->count < sizeof *header || memcmp(f->bytes, ELFMAG, SELFMAG) != 0)
        return "it is no ELF file";
    memcpy(header, f->bytes, sizeof *header);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != EM_X86_64 || header->e_type != ET_EXEC)
        return "it is no 64-bit x86-64 kernel";
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == PN_XNUM ||
        !inside(f, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return "its program headers are damaged";
    return NULL;
}

static const char *add_segment(const struct file *f, const Elf64_Phdr *ph,
                               struct kernel_image *image)
{
    struct kernel_image_segment *segment = &image->segments[image->segment_count];
    uint64_t place = ph->p_vaddr - START, end;

    if (ph->p_memsz == 0)
        return NULL;
    if (image->segment_count == KERNEL_IMAGE_SEGMENTS_MAX)
        return "it has too many segments";
    if (ph->p_filesz > ph->p_memsz || !inside(f, ph->p_offset, ph->p_filesz))
        return "a segment reaches past its end";
    if (ph->p_vaddr < START || place > KERNEL_IMAGE_BYTES_MAX ||
        ph->p_memsz > KERNEL_IMAGE_BYTES_MAX - place)
        return "a segment lies where no kernel is";
    if (place < image->bytes)
        return "its segments overlap";
    *segment = (struct kernel_image_segment){place, ph->p_memsz, ph->p_offset, ph->p_filesz};
    image->segment_count++;
    end = place + ph->p_memsz;
    image->bytes = round_up(end, PAGE_BYTES);
    return NULL;
}

static uint64_t align4(uint64_t bytes)
{
    return (bytes + 3) & ~3ull;
}

/* Returns the word of a note of ours from the notes of one PT_NOTE; 0 if it is not there. */
static uint64_t word_of_note(const struct file *f, const Elf64_Phdr *ph, uint32_t type)
{
    static const char name[] = KERNEL_IMAGE_NOTE_NAME;
    uint64_t at = 0;

    if (!inside(f, ph->p_offset, ph->p_filesz))
        return 0;
    while (ph->p_filesz - at >= sizeof(Elf64_Nhdr)) {
        const uint8_t *bytes = f->bytes + ph->p_offset + at;
        uint64_t left = ph->p_filesz - at, value, next;
        Elf64_Nhdr note;

        memcpy(&note, bytes, sizeof note);
        value = sizeof note + align4(note.n_namesz);
        next = value + align4(note.n_descsz);
        if (value + note.n_descsz > left)
            return 0;
        if (note.n_type == type && note.n_namesz == sizeof name &&
            note.n_descsz == sizeof(uint64_t) &&
            memcmp(bytes + sizeof note, name, sizeof name) == 0)
            return bytes_load64(bytes + value);
        if (next >= left)
            return 0;
        at += next;
    }
    return 0;
}

static const char *check_entry(struct kernel_image *image, uint64_t address)
{
    if (address == 0)
        return "it has no entry for UEFI";
    image->entry = address - START;
    if (address < START || image->entry >= image->bytes)
        return "its entry for UEFI is outside of it";
    return NULL;
}

const char *kernel_image_parse(const void *file, size_t bytes, struct kernel_image *image)
{
    struct file f = {file, bytes};
    Elf64_Ehdr header;
    uint64_t entry = 0;
    const char *wrong = check_header(&f, &header);

    memset(image, 0, sizeof *image);
    if (wrong != NULL)
        return wrong;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr ph;

        memcpy(&ph, f.bytes + header.e_phoff + (uint64_t)i * sizeof ph, sizeof ph);
        if (ph.p_type == PT_LOAD)
            wrong = add_segment(&f, &ph, image);
        if (ph.p_type == PT_NOTE && entry == 0)
            entry = word_of_note(&f, &ph, KERNEL_IMAGE_NOTE_ENTRY);
        if (ph.p_type == PT_NOTE && word_of_note(&f, &ph, KERNEL_IMAGE_NOTE_NETWORK))
            image->network = true;
        if (wrong != NULL)
            return wrong;
    }
    return check_entry(image, entry);
}

void kernel_image_place(const struct kernel_image *image, const void *file, void *memory)
{
    uint8_t *to = memory;

    memset(to, 0, image->bytes);
    for (uint32_t i = 0; i < image->segment_count; i++)
        memcpy(to + image->segments[i].place,
               (const uint8_t *)file + image->segments[i].file_offset,
               image->segments[i].file_bytes);
}
