/* Starts the other CPUs, and stops them. */
#include <string.h>

#include "drivers/acpi/acpi.h"
#include "drivers/apic/apic.h"
#include "drivers/apic/apic_state.h"
#include "drivers/clock/clock.h"
#include "drivers/platform.h"
#include "guest/cpu.h"
#include "guest/entry.h"
#include "guest/log.h"
#include "guest/phys.h"
#include "guest/run.h"
#include "guest/vm.h"
#include "lib/x86.h"

#define TRAMPOLINE_END 0xa0000u /* of a PC's low memory */
#define STOP_TRIES 3
#define STOP_POLLS 1000
#define STOP_POLL_US 20

static void (*secondary_entry)(struct cpu *cpu);
static volatile uint32_t cpus_running = 1;
static bool stopping; /* atomic */

void cpu_secondary_main(void)
{
    uint32_t index = cpus_running;

    x86_write_cr3(vm_kernel_root());
    cpu_setup(index);
    cpus[index].apic_found = apic_mode();
    apic_enable(VECTOR_SPURIOUS);
    cpus[index].apic_id = apic_id();
    __atomic_store_n(&cpus_running, index + 1, __ATOMIC_RELEASE);
    secondary_entry(&cpus[index]);
    panic("CPU %u has nothing to do", index);
}

/* Puts the code that they start with into their page. */
static void place_trampoline(uint64_t page)
{
    uint8_t *copy = phys_pointer(page);
    struct trampoline_data *data =
        (struct trampoline_data *)(copy + (trampoline_data - trampoline_start));

    memcpy(copy, trampoline_start, (size_t)(trampoline_end - trampoline_start));
    data->root = (uint32_t)vm_start_root();
    data->far_32.address += (uint32_t)page;
    data->far_64.address += (uint32_t)page;
    data->gdt_address += (uint32_t)page;
}

/* Starts one CPU and waits up to a second for it to report. */
static bool start_one(uint32_t id)
{
    uint8_t *stack = platform_allocate(KERNEL_STACK_BYTES);
    uint32_t before = cpus_running;

    if (!stack)
        return false;
    trampoline_stack = (uint64_t)stack + KERNEL_STACK_BYTES;
    apic_start_cpu(id, (uint8_t)(run.boot->trampoline / PAGE_BYTES), clock_delay_us);
    for (int i = 0; i < 10000; i++) {
        if (__atomic_load_n(&cpus_running, __ATOMIC_ACQUIRE) != before)
            return true;
        clock_delay_us(100);
    }
    apic_send_init(id); /* or it might still, beside the next one */
    log_notice("CPU with APIC id %u did not start", id);
    return false;
}

uint32_t cpu_start_others(const struct acpi_machine *machine, uint32_t wanted,
                          void (*entry)(struct cpu *cpu))
{
    uint64_t page = run.boot->trampoline;

    if (page == 0 || page >= TRAMPOLINE_END || page % PAGE_BYTES) {
        log_notice("no page below 1 MiB for the other CPUs to start in");
        return cpu_count;
    }
    secondary_entry = entry;
    place_trampoline(page);
    for (uint32_t i = 0; i < machine->cpu_count && cpus_running <= wanted; i++) {
        if (machine->apic_ids[i] != cpus[0].apic_id && cpus_running < CPUS_MAX)
            start_one(machine->apic_ids[i]);
    }
    cpu_count = cpus_running;
    return cpu_count;
}

void cpu_stop_asked(struct cpu *cpu)
{
    if (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE) || cpu->index == 0)
        return;
    if (run.pmu && run.pmu->reset)
        run.pmu->reset();
    apic_mode_restore(cpu->apic_found);
    __atomic_store_n(&cpu->halted, true, __ATOMIC_RELEASE);
    for (;;)
        __asm__ volatile("cli; hlt");
}

/* An NMI may be one with that of a counter. */
static void stop_one(const struct cpu *cpu)
{
    for (int sent = 0; sent < STOP_TRIES; sent++) {
        apic_send_nmi(cpu->apic_id);
        for (int i = 0; i < STOP_POLLS; i++) {
            if (__atomic_load_n(&cpu->halted, __ATOMIC_ACQUIRE))
                return;
            clock_delay_us(STOP_POLL_US);
        }
    }
}

void cpu_stop_others(void)
{
    if (__atomic_exchange_n(&stopping, true, __ATOMIC_SEQ_CST))
        return; /* it failed here, and was called again */
    run.mode = HR_MODE_OFF; /* NMIs are no samples any more */
    for (uint32_t i = 1; i < cpus_running; i++) {
        stop_one(&cpus[i]);
        apic_send_init(cpus[i].apic_id);
    }
}
