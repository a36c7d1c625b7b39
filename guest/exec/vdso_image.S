/* The vDSO's bytes, to be mapped into the program, and the page of data that it reads. */
#include "guest/base/layout.h"

    .section .rodata
    .balign 16
    .globl vdso_image, vdso_image_end
vdso_image:
    .incbin "vdso.bin" /* found by -Wa,-I: the stripped build/vdso.so */
vdso_image_end:

    .bss
    .balign PAGE_BYTES
    .globl vdso_data_page
vdso_data_page: /* nothing else is in this page: the program can read all of it */
    .skip PAGE_BYTES

    .section .note.GNU-stack, "", @progbits
