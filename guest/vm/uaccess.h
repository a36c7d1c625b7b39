/* Copies between kernel memory and that of the calling CPU's current thread.  The kernel never
 * touches a user address: every page is checked, made present and then reached through the direct
 * map (guest/vm/vm_access.h).  A bad address gives -EFAULT, never a kernel fault.  A page for which
 * there is no memory ends the process when the call returns, as when the program touches it.  SMAP
 * stays on.  Context: thread, interrupts off. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NS_PER_SECOND 1000000000ull

/* Called when there is no memory for a page; set at boot. */
extern void (*uaccess_out_of_memory)(void);

int copy_from_user(void *to, uint64_t from, size_t bytes); /* 0, -EFAULT */
int copy_to_user(uint64_t to, const void *from, size_t bytes);
int uaccess_zero(uint64_t to, size_t bytes);
int uaccess_prepare_write(uint64_t address, size_t bytes); /* afterwards copies there cannot fail */
/* Returns the kernel's pointer to an aligned word of the program's, to change it atomically; NULL
 * for -EFAULT.  Valid as long as the kernel lock is held. */
uint32_t *uaccess_word(uint64_t address);
/* Copies a NUL-terminated string.  Returns its length without the NUL, or -EFAULT or -ENAMETOOLONG.
 */
int copy_string_from_user(char *to, uint64_t from, size_t room);

/* Reads seconds and nanoseconds: *ns, saturated; -EFAULT, -EINVAL. */
int uaccess_time(uint64_t user, uint64_t *ns);

/* Writes random bytes.  Returns how many, or -EFAULT if none could be written. */
int64_t uaccess_random(uint64_t user, uint64_t bytes);
