/* Virtual memory: the kernel's own mapping and the program's address space.
 * Interrupts off.  Page faults and system calls of the one process call these.
 */
#ifndef GUEST_VM_H
#define GUEST_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VM_READ = 1, VM_WRITE = 2, VM_EXEC = 4 }; /* as PROT_* */

struct vm_area { /* start .. end-1, page-aligned; a sorted doubly linked list */
    uint64_t start;
    uint64_t end;
    uint32_t protection; /* VM_* */
    uint32_t flags; /* VM_AREA_* */
    struct vm_area *next;
    struct vm_area *previous;
};

enum {
    VM_AREA_STACK = 1,
    VM_AREA_BRK = 2,
    VM_AREA_IMAGE = 4,
    VM_AREA_FILE = 8,
    VM_AREA_SHARED = 16,
    VM_AREA_VDSO = 256
};

struct vm_space {
    uint64_t root; /* physical address of the PML4 */
    struct vm_area *areas;
    uint64_t brk_start;
    uint64_t brk_end;
    uint32_t area_count;
    uint64_t mapped_bytes; /* sum of areas */
    uint64_t resident_bytes; /* pages present */
};

/* Replaces the boot page tables: direct map of all RAM with large pages (NX), kernel text
 * read-execute, read-only data NX, data NX, DIRECT_MAP from page 0 past the last RAM byte to the
 * next GiB (ACPI ranges included), nothing in the user half.  Also enables CR0.WP, EFER.NXE, SMEP,
 * SMAP, UMIP where CPUID has them on the calling CPU through vm_enable_protection, which other CPUs
 * call for themselves.
 */
void vm_init(void);
void vm_enable_protection(void);
uint64_t vm_map_device(uint64_t physical, uint64_t bytes); /* uncached; its virtual address */
uint64_t vm_kernel_root(void); /* CR3 for CPUs without a process */

int vm_space_init(struct vm_space *space); /* 0, -ENOMEM */
void vm_space_free(struct vm_space *space); /* frees areas, pages and page tables; not in use */

/* mmap's core: anonymous memory, demand-zero.  `fixed` replaces what is there; otherwise `address`
 * is a hint and 0 lets the kernel choose top-down below the stack.  Returns the address or -errno
 * (EINVAL, ENOMEM, EPERM below 64 KiB, EEXIST when fixed_noreplace).
 */
int64_t vm_map(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t protection,
               uint32_t area_flags, bool fixed, bool noreplace);
int vm_unmap(struct vm_space *space, uint64_t address, uint64_t bytes);
int vm_protect(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t protection);
int vm_discard(struct vm_space *space, uint64_t address, uint64_t bytes); /* MADV_DONTNEED */
int64_t vm_remap(struct vm_space *space, uint64_t address, uint64_t old_bytes, uint64_t new_bytes,
                 uint32_t flags, uint64_t new_address);
uint64_t vm_set_brk(struct vm_space *space, uint64_t end); /* returns the break in force */

/* A page fault at `address` with the CPU's error code.  0: mapped, retry; -EFAULT: the program's
 * fault (SIGSEGV); -ENOMEM: out of memory.  Uses a 2 MiB page when area and alignment allow.
 */
int vm_fault(struct vm_space *space, uint64_t address, uint64_t error);

/* What areas show of an inode's pages first .. end-1 is no longer so: they forget it, on every CPU,
 * before this returns. */
struct inode;
void vm_inode_changed(struct inode *inode, uint64_t first_page, uint64_t end_page);

const struct vm_area *vm_find(const struct vm_space *space, uint64_t address);

/* Maps KERNEL_STACK_BYTES of contiguous memory as kernel stack `number` of all address spaces, for
 * good: its lowest address; 0: out of memory.  And where such an address is physically. */
uint64_t vm_map_stack(uint32_t number, uint64_t physical);
uint64_t vm_stack_physical(uint64_t address);

#endif
