/* What drivers need from the kernel (or from a test's fake).  Drivers include nothing of guest/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Maps device memory uncached; panics if it cannot.  Called after boot's memory set-up. */
volatile void *platform_map_device(uint64_t physical, size_t bytes);

/* Returns a pointer into the direct map, to read firmware tables and the archive; NULL if the
 * address is not mapped.  The direct map has all of RAM and, on UEFI machines, the first 4 GiB. */
const void *platform_physical_pointer(uint64_t physical);

/* Returns zeroed, physically contiguous, page-aligned memory that is never freed; NULL if out of
 * memory. */
void *platform_allocate(size_t bytes);

/* Returns the physical address of memory in the kernel's image or from platform_allocate or
 * phys_alloc. */
uint64_t platform_physical_address(const void *pointer);

/* Writes one line to the kernel's log, printf-like: %s %d %u %x %lu %lx %p %c %%, with width and 0.
 */
void platform_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* RDMSR and WRMSR for registers that may not exist.  Return 0, or -EFAULT on a general-protection
 * fault. */
int platform_msr_read(uint32_t msr, uint64_t *value);
int platform_msr_write(uint32_t msr, uint64_t value);

/* Returns the number of the calling CPU among those that run the program, from 0.  The service CPU
 * has 0, too.  Context: any, NMI included. */
uint32_t platform_cpu(void);

/* Waits until something may have changed: halts for an interrupt on a CPU that takes device
 * interrupts, otherwise PAUSE.  Called with interrupts off; returns with interrupts off.
 */
void platform_wait(void);
