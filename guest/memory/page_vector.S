/* Pages by vector instructions.  The program's registers are live: what is used is kept on the stack. */
#include "guest/base/layout.h"

    .text

.macro FUNCTION name
    .balign 16
    .globl \name
    .type \name, @function
\name:
.endm

/* 16 stores of 32 bytes a round */
    FUNCTION page_zero_avx
    vmovdqu %ymm0, -32-8(%rsp) /* below the return address; interrupts are off, NMIs have stacks of their own */
    vpxor %xmm0, %xmm0, %xmm0
    movl $PAGE_BYTES / 512, %ecx
1:
    .set at, 0
    .rept 16
    vmovdqa %ymm0, at(%rdi)
    .set at, at + 32
    .endr
    addq $512, %rdi
    decl %ecx
    jnz 1b
    vmovdqu -32-8(%rsp), %ymm0
    ret

    FUNCTION page_zero_sse
    movups %xmm0, -32(%rsp)
    xorps %xmm0, %xmm0
    movl $PAGE_BYTES / 512, %ecx
1:
    .set at, 0
    .rept 32
    movaps %xmm0, at(%rdi)
    .set at, at + 16
    .endr
    addq $512, %rdi
    decl %ecx
    jnz 1b
    movups -32(%rsp), %xmm0
    ret

    FUNCTION page_copy_blocks_avx
    vmovdqu %ymm0, -40(%rsp)
1:
    .set at, 0
    .rept 4
    vmovdqu at(%rsi), %ymm0
    vmovdqu %ymm0, at(%rdi)
    .set at, at + 32
    .endr
    addq $128, %rsi
    addq $128, %rdi
    subq $128, %rdx
    jnz 1b
    vmovdqu -40(%rsp), %ymm0
    ret

    FUNCTION page_copy_blocks_sse
    movups %xmm0, -32(%rsp)
1:
    .set at, 0
    .rept 8
    movups at(%rsi), %xmm0
    movups %xmm0, at(%rdi)
    .set at, at + 16
    .endr
    addq $128, %rsi
    addq $128, %rdi
    subq $128, %rdx
    jnz 1b
    movups -32(%rsp), %xmm0
    ret
