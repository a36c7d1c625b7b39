/* Physical memory: a buddy allocator of 4 KiB (order 0) to 4 MiB (order 10) blocks. */
#ifndef GUEST_MEMORY_PHYS_H
#define GUEST_MEMORY_PHYS_H

#include <stddef.h>
#include <stdint.h>

#include "guest/base/layout.h"
#include "include/boot_info.h"

#define PHYS_ORDER_MAX 10

#define PHYS_MAP_BYTES (1ull << 30) /* the direct map grows by so much */

/* Takes all RAM of boot_info above 1 MiB except the kernel image (guest/base/image.h) and the
 * archive. Quick: cost must not grow with every page (a 4 GiB guest must start in a few hundred
 * thousand instructions).
 */
void phys_init(const struct boot_info *boot);

/* Adds the RAM above 4 GiB, once vm_init's direct map covers it. */
void phys_add_high(void);

/* A block of 2^order pages: physical address, or 0 when there is none.  Contents undefined. */
uint64_t phys_alloc(unsigned order);
void phys_free(uint64_t address, unsigned order);

/* Boot: the last free block of the largest order, out of the way of all others: what it is taken
 * for changes nothing in how the rest is given out, nor in how long that takes.  0: there is none.
 */
uint64_t phys_alloc_last(void);

uint64_t phys_free_bytes(void);
uint64_t phys_total_bytes(void);
uint64_t phys_peak_bytes(void); /* most ever allocated */
uint64_t phys_mapped_end(void); /* what the direct map ends at: RAM, BUFFER ranges, archive */

/* The smallest order whose blocks hold `bytes` bytes; more than PHYS_ORDER_MAX when none does. */
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
