/* The kernel's own mappings.  Boot, before other CPUs run, except where noted. */
#ifndef GUEST_MEMORY_VM_KERNEL_H
#define GUEST_MEMORY_VM_KERNEL_H

#include <stdint.h>

/* Replaces the boot page tables: direct map of all RAM with large pages (NX), kernel text
 * read-execute, read-only data NX, data NX, DIRECT_MAP from page 0 to phys_mapped_end(), nothing in
 * the user half.  Also enables CR0.WP, EFER.NXE, SMEP,
 * SMAP, UMIP where CPUID has them on the calling CPU through vm_enable_protection, which other CPUs
 * call for themselves.
 */
void vm_init(void);

/* Maps one page, 4 KiB or 2 MiB by its level, with VM_ENTRY_* flags; panics without memory. */
void vm_kernel_map(uint64_t address, uint64_t physical, unsigned level, uint64_t flags);

void vm_enable_protection(void);
uint64_t vm_map_device(uint64_t physical, uint64_t bytes); /* uncached; its virtual address */

/* Makes variables marked SEALED read-only for the calling CPU; the first call does so for CPUs that
 * have not read them yet, too.  Before a CPU runs the program. */
void vm_seal(void);
uint64_t vm_kernel_root(void); /* CR3 for CPUs without a process */

/* The same for CPUs that come from real mode: below 4 GiB, and the first 4 GiB are mapped one to
 * one too. */
uint64_t vm_start_root(void);

/* Maps KERNEL_STACK_BYTES of contiguous memory as kernel stack `number` of all address spaces, for
 * good: its lowest address; 0: out of memory.  And where such an address is physically. */
uint64_t vm_map_stack(uint32_t number, uint64_t physical);
uint64_t vm_stack_physical(uint64_t address);

#endif
