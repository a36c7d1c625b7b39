/* What the firmware had in a local APIC, kept while the kernel uses it.  Acts on the calling CPU;
 * interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define APIC_LVT_ENTRIES 7
#define APIC_EXTENDED_ENTRIES 8 /* of AMD's extended local vector table, at most */
#define APIC_VECTOR_WORDS 8 /* of 32 vectors */

struct apic_saved {
    bool valid; /* apic_save has filled it */
    uint64_t base; /* IA32_APIC_BASE: address, mode */
    volatile uint32_t *registers; /* in xAPIC mode */
    uint32_t task_priority, spurious, logical_id, logical_format;
    uint32_t lvt[APIC_LVT_ENTRIES];
    uint32_t extended_count;
    uint32_t extended[APIC_EXTENDED_ENTRIES];
    uint32_t divide, initial, current; /* the timer */
    uint64_t deadline; /* IA32_TSC_DEADLINE, 0: none */
    uint32_t in_service[APIC_VECTOR_WORDS];
};

/* Boot CPU, once, after apic_init and before apic_enable. */
void apic_save(struct apic_saved *saved);

/* Restores everything as apic_save found it: a periodic timer ticks again, and interrupts that came
 * for the firmware since then (apic_enable lets none through) are pending.  Ends interrupts that
 * came into service since then.  Vectors from `own` on are the kernel's; those that are pending are
 * lost. */
void apic_restore(const struct apic_saved *saved, uint8_t own);

/* For the other CPUs, which the firmware starts again.  apic_mode returns IA32_APIC_BASE; called
 * before apic_enable.  apic_mode_restore puts that value and its mode back, with all interrupts
 * masked. */
uint64_t apic_mode(void);
void apic_mode_restore(uint64_t base);

/* Is any interrupt from vector `own` on waiting to be delivered? */
bool apic_pending_from(uint8_t own);

/* Ends the interrupt that is being handled, if the local APIC delivered it, otherwise if the two
 * 8259A did (Intel 8259A data sheet, "Operation Command Words"): for handlers that do not know
 * where it came from. */
void apic_end_unknown(void);
