/* Gives the firmware its devices back: what boot/uefi_entry.S does not keep itself. */
#include "guest/transport/uefi.h"

#include <stdbool.h>

#include "drivers/apic/apic.h"
#include "drivers/apic/apic_state.h"
#include "drivers/uart/uart.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "lib/x86.h"

#define DRAIN_TRIES 64 /* more than there are vectors of the kernel's */

static struct apic_saved found;

void uefi_keep_apic(void)
{
    apic_save(&found);
}

/* Takes the kernel's pending interrupts, which would otherwise reach the firmware. */
static void drain_interrupts(void)
{
    cpu_ignore_interrupts();
    for (int i = 0; i < DRAIN_TRIES && apic_pending_from(APIC_OWN_VECTORS); i++)
        x86_take_interrupts();
}

void uefi_restore(void)
{
    static bool tried;

    if (tried) /* it failed before: the rest is more important */
        return;
    tried = true;
    if (run.pmu != NULL && run.pmu->reset != NULL)
        run.pmu->reset();
    if (found.valid) {
        apic_timer_stop();
        apic_mask_all();
        drain_interrupts();
        apic_restore(&found, APIC_OWN_VECTORS);
    }
    uart_restore();
}
