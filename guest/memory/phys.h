/* Physical memory: a buddy allocator of 4 KiB (order 0) to 4 MiB (order 10) blocks. */
#ifndef GUEST_MEMORY_PHYS_H /* a unit test has its own */
#define GUEST_MEMORY_PHYS_H

#include <stddef.h>
#include <stdint.h>

#include "guest/base/layout.h"
#include "include/boot_info.h"

#define PHYS_ORDER_MAX 10

#define PHYS_MAP_BYTES (1ull << 30) /* the direct map grows by so much */

/* Takes all RAM of boot_info above 1 MiB except the kernel image (guest/base/image.h) and the
 * archive. Must be quick: the cost must not grow with every page (a 4 GiB guest must start in a few
 * hundred thousand instructions). */
void phys_init(const struct boot_info *boot);

/* Adds the RAM above 4 GiB, once vm_init's direct map covers it. */
void phys_add_high(void);

/* Returns the physical address of a block of 2^order pages, or 0 if there is none.  Its contents
 * are undefined. */
uint64_t phys_alloc(unsigned order);
void phys_free(uint64_t address, unsigned order);
void phys_free_pages(uint64_t address, uint64_t pages); /* adjacent ones, at once */

/* Boot: returns the last free block of the largest order, or 0 if there is none.  Taking it changes
 * neither which other blocks later calls return nor how long they take. */
uint64_t phys_alloc_last(void);

uint64_t phys_free_bytes(void);
uint64_t phys_total_bytes(void);
uint64_t phys_peak_bytes(void); /* most ever allocated */
uint64_t phys_first_byte(void); /* all that phys_alloc returns is from here */
uint64_t phys_end(void); /* to here, both multiples of the largest block */
uint64_t phys_mapped_end(void); /* the direct map's end: RAM, BUFFER ranges, archive */

/* Returns the smallest order whose blocks hold `bytes` bytes; more than PHYS_ORDER_MAX if none
 * does. */
static inline unsigned phys_order(uint64_t bytes)
{
    unsigned order = 0;

    while (order <= PHYS_ORDER_MAX && (uint64_t)PAGE_BYTES << order < bytes)
        order++;
    return order;
}

static inline void *phys_pointer(uint64_t physical)
{
    return (void *)(physical + DIRECT_MAP);
}

#endif
