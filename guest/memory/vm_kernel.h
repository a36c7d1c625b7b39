/* The kernel's own mappings.  Context: boot, before other CPUs run, except where noted. */
#pragma once

#include <stdint.h>

/* Replaces the boot page tables: direct map with large pages (NX) from page 0 to phys_mapped_end(),
 * kernel text read-execute, read-only data NX, data NX, nothing in the user half.  Also calls
 * vm_enable_protection, which enables CR0.WP, EFER.NXE, and SMEP, SMAP and UMIP if CPUID has them;
 * other CPUs call that for themselves. */
void vm_init(void);

/* Maps one page, 4 KiB or 2 MiB by its level, with VM_ENTRY_* flags; panics without memory. */
void vm_kernel_map(uint64_t address, uint64_t physical, unsigned level, uint64_t flags);

void vm_enable_protection(void);
uint64_t vm_map_device(uint64_t physical, uint64_t bytes); /* uncached; its virtual address */

/* Makes variables marked SEALED read-only for the calling CPU; the first call also does so for CPUs
 * that have not read them yet.  Called before a CPU runs the program. */
void vm_seal(void);
uint64_t vm_kernel_root(void); /* CR3 for CPUs without a process */
void vm_kernel_share(uint64_t *top); /* gives an address space's top table the kernel's half */

/* CR3 for CPUs that come from real mode: below 4 GiB, and the first 4 GiB are mapped one to one
 * too. */
uint64_t vm_start_root(void);

/* vm_map_stack maps KERNEL_STACK_BYTES of contiguous memory as kernel stack `number` in all address
 * spaces, permanently.  Returns its lowest address, or 0 if out of memory.  vm_stack_physical
 * returns the physical address of such an address. */
uint64_t vm_map_stack(uint32_t number, uint64_t physical);
uint64_t vm_stack_physical(uint64_t address);
