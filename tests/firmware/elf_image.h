/* Loads guest.elf for the test application. */
#ifndef TESTS_FIRMWARE_ELF_IMAGE_H
#define TESTS_FIRMWARE_ELF_IMAGE_H

#include <efi.h>
#include <efilib.h>
#include <elf.h>

#include "include/kernel_layout.h"

/* Copies its segments to where the kernel shall be; the physical address of uefi_entry, or 0. */
static UINT64 elf_image_load(const UINT8 *elf, UINTN bytes, UINT8 *to)
{
    const Elf64_Ehdr *header = (const void *)elf;
    const Elf64_Phdr *segment = (const void *)(elf + header->e_phoff);
    UINT64 entry = 0, base = KERNEL_BASE + KERNEL_PHYSICAL;

    for (UINTN i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *s = &segment[i];
        if (s->p_offset + s->p_filesz > bytes)
            return 0;
        if (s->p_type == PT_LOAD) {
            SetMem(to + (s->p_vaddr - base), s->p_memsz, 0);
            CopyMem(to + (s->p_vaddr - base), (void *)(elf + s->p_offset), s->p_filesz);
        }
        for (UINTN at = 0; s->p_type == PT_NOTE && at + 12 < s->p_filesz;) {
            const UINT32 *note = (const void *)(elf + s->p_offset + at);
            if (note[0] == 10 && note[2] == 1 && CompareMem(note + 3, "Microtome", 10) == 0)
                entry = *(const UINT64 *)(note + 6);
            at += 12 + ((note[0] + 3) & ~3u) + ((note[1] + 3) & ~3u);
        }
    }
    return entry ? entry - base + (UINT64)to : 0;
}

#endif
