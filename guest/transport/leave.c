/* Leaves the machine: to the emulator's end, or back to the firmware. */
#include "guest/transport/leave.h"

#include "drivers/apic/apic.h"
#include "guest/base/panic.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/transport/transport.h"
#include "guest/transport/uefi.h"
#include "include/run_ports.h"
#include "lib/x86.h"

/* SDM volume 4, "Architectural MSRs": IA32_APIC_BASE, bit 8: this is the boot CPU */
#define MSR_APIC_BASE 0x1b
#define APIC_BASE_BOOT_CPU 0x100u
#define STOPS_MOST 2 /* another CPU's panic may interrupt the first */

static uint32_t asked; /* by another CPU than 0: enum boot_end; 0: not; atomic */

static void leave_now(uint32_t end) __attribute__((noreturn));

static void leave_now(uint32_t end)
{
    static unsigned stops; /* one that fails is in a panic that leads here again */

    run.boot->result.end = end;
    test_hook("leave");
    if (run.boot->entry == BOOT_ENTRY_UEFI) {
        cpu_stop_others();
        if (transport != NULL && transport->stop != NULL && stops++ < STOPS_MOST)
            transport->stop();
        uefi_leave(end);
    }
    for (;;) {
        x86_out32(RUN_DEBUG_EXIT_PORT,
                  end == BOOT_END_PANIC || end == BOOT_END_HUNG ? RUN_EXIT_PANIC : RUN_EXIT_DONE);
        x86_wait_for_interrupt();
    }
}

void leave_done(uint32_t end)
{
    leave_now(end);
}

/* GS and the stack may be anything, and the local APIC not known yet. */
static bool on_boot_cpu(void)
{
    return x86_rdmsr(MSR_APIC_BASE) & APIC_BASE_BOOT_CPU;
}

static void __attribute__((noreturn)) leave_wait(void)
{
    for (;;) {
        if (on_boot_cpu())
            leave_if_asked();
        x86_pause();
    }
}

/* An NMI reaches CPU 0 in any state; its handler calls leave_if_asked. */
void leave_panic(bool first)
{
    if (!first)
        leave_wait();
    if (on_boot_cpu() || run.boot->entry != BOOT_ENTRY_UEFI)
        leave_now(BOOT_END_PANIC);
    __atomic_store_n(&asked, BOOT_END_PANIC, __ATOMIC_SEQ_CST);
    apic_send_nmi(cpus[0].apic_id);
    leave_wait();
}

void leave_if_asked(void)
{
    uint32_t end = __atomic_load_n(&asked, __ATOMIC_SEQ_CST);

    if (end)
        leave_now(end);
}
