/* Calls itself 200 times; the call itself is what first touches each page of the stack. */
    .globl main
main:
    pushq $0
    movl $200, %edi
    call deep
    popq %rax
    ret

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

    .section .note.GNU-stack, "", @progbits
