/* Calls itself 200 times; the call itself is what first touches each page of the stack.  Before, a call
 * reads its target from two pages, of which only the first one was touched. */
    .globl main
    .type main, @function
main:
    pushq $0
    movl $landing, pointer
crossing:
    call *pointer
    movl $200, %edi
    call deep
    popq %rax
    ret
    .size main, . - main

    .type deep, @function
deep:
    subq $4088, %rsp
    testl %edi, %edi
    jz 1f
    decl %edi
deep_call:
    call deep
1:  addq $4088, %rsp
    ret
    .size deep, . - deep

landing:
    ret

    .bss
    .balign 4096
    .skip 4092
pointer:
    .skip 4100

    .section .note.GNU-stack, "", @progbits
