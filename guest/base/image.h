/* The kernel image's parts, from linker.ld. */
#pragma once

#include <stdint.h>

/* Its bounds: page-aligned virtual addresses. */
extern char kernel_start[]; /* text: read, execute */
extern char kernel_text_end[]; /* then read-only data */
extern char kernel_rodata_end[]; /* then what is read-only once the program runs */
extern char kernel_sealed_end[]; /* then data and bss */
extern char kernel_end[];
extern char kernel_file_offset[]; /* its address is the text's offset in guest.elf */

extern uint64_t boot_pml4[512]; /* the top table that the kernel was started with */

/* A variable that is written during boot only: vm_seal makes it read-only. */
#define SEALED __attribute__((section(".sealed")))

/* The note NT_GNU_BUILD_ID: 12 bytes of header, "GNU" and NUL, the id. */
extern const uint8_t kernel_build_id[], kernel_build_id_end[];

/* image_place notes the image's physical address, once, before anything else; image_physical
 * returns the physical address of something in it. */
void image_place(uint64_t kernel_start_physical);
uint64_t image_physical(const void *address);
