/* Copies between kernel and user memory, with SMAP opened for just that long.
 * Any user address is checked and its page made present first (through vm_fault), so the copy
 * itself cannot fault; a bad address is -EFAULT, never a kernel fault.
 */
#ifndef GUEST_UACCESS_H
#define GUEST_UACCESS_H

#include <stddef.h>
#include <stdint.h>

int copy_from_user(void *to, uint64_t from, size_t bytes); /* 0, -EFAULT */
int copy_to_user(uint64_t to, const void *from, size_t bytes);
/* Copies a NUL-terminated string: its length without the NUL, -EFAULT, -ENAMETOOLONG. */
int copy_string_from_user(char *to, uint64_t from, size_t room);

#endif
