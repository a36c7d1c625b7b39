/* Says in the kernel's file that it can send runs over the network: lib/boot/kernel_image.h. */
    .section .note.microtome, "a", @note
    .align 4
    .long 10, 8, 2 /* name bytes, descriptor bytes, type */
    .asciz "Microtome"
    .align 4
    .quad 1

    .section .note.GNU-stack, "", @progbits
