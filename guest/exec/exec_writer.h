/* Writes to the new program's memory, from an address on.  Context: any. */
#pragma once

#include "guest/vm/vm.h"

struct exec_writer {
    struct vm_space *space;
    uint64_t address; /* of the next byte */
    uint8_t *at; /* the kernel's pointer to it */
    uint64_t room; /* bytes up to the page's end; 0: look for the page */
};

/* Returns 0, or -ENOMEM or -EFAULT. */
int exec_writer_put(struct exec_writer *w, const void *from, uint64_t bytes);
int exec_writer_word(struct exec_writer *w, uint64_t word);
