/* The kernel image's bounds, from linker.ld: page-aligned virtual addresses. */
#ifndef GUEST_IMAGE_H
#define GUEST_IMAGE_H

extern char kernel_start[]; /* text: read, execute */
extern char kernel_text_end[]; /* then read-only data */
extern char kernel_rodata_end[]; /* then data and bss */
extern char kernel_end[];

#endif
