/* Starts the other CPUs, and stops them. */
#include <string.h>

#include "drivers/acpi/acpi.h"
#include "drivers/apic/apic.h"
#include "drivers/apic/apic_state.h"
#include "drivers/clock/clock.h"
#include "drivers/platform.h"
#include "drivers/processor/processor.h"
#include "drivers/processor/topology.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/cpu/entry.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_kernel.h"
#include "lib/x86.h"

#define TRAMPOLINE_END 0xa0000u /* of a PC's low memory */
#define VIRTUAL_DELAY_US 200
#define STOP_TRIES 3
#define STOP_POLLS 1000
#define STOP_POLL_US 20

static void (*secondary_entry)(struct cpu *cpu);
static volatile uint32_t cpus_running = 1;
static struct topology topology;
static uint8_t boot_kind; /* of core */
static uint32_t parked; /* CPUs of another kind; atomic */
static bool stopping; /* atomic */

static void __attribute__((noreturn)) cpu_others_halt(void)
{
    for (;;)
        x86_halt();
}

/* Parks a CPU of another kind of core, which has other events and perhaps other counters.  Nothing
 * of it was changed yet: CPU 0 sends it back to its former state. */
static void __attribute__((noreturn)) cpu_others_park(void)
{
    __atomic_add_fetch(&parked, 1, __ATOMIC_RELEASE);
    cpu_others_halt();
}

/* Returns the first CPU of a package; CPU 0 if this is its first one. */
static const struct cpu *first_of_package(const struct cpu *cpu)
{
    const struct cpu *first = cpus;

    while (first < cpu &&
           first->apic_id >> topology.package_shift != cpu->apic_id >> topology.package_shift)
        first++;
    return first;
}

void cpu_secondary_main(void)
{
    uint32_t index = cpus_running;

    if (processor_core_kind() != boot_kind)
        cpu_others_park();
    x86_write_cr3(vm_kernel_root());
    cpu_setup(index);
    cpus[index].apic_found = apic_mode();
    apic_enable(VECTOR_SPURIOUS);
    cpus[index].apic_id = apic_id();
    tsc_adjust_read(&cpus[index].tsc_adjust);
    tsc_adjust_follow(&cpus[index].tsc_adjust, &first_of_package(&cpus[index])->tsc_adjust);
    __atomic_store_n(&cpus_running, index + 1, __ATOMIC_RELEASE);
    secondary_entry(&cpus[index]);
    panic("CPU %u has nothing to do", index);
}

/* Puts the code that the other CPUs start with into its page. */
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

/* Under a hypervisor a CPU takes the next message at once.  Emulated, 10 ms can be millions of
 * turns of a loop, after each of which every other CPU is looked at: seconds where there are eight.
 */
static void delay_start(uint64_t us)
{
    if (x86_cpuid(1, 0).ecx >> 31 && us > VIRTUAL_DELAY_US)
        us = VIRTUAL_DELAY_US;
    clock_delay_us(us);
}

/* Starts one CPU and waits up to a second for it to report. */
static bool start_one(uint32_t id)
{
    uint8_t *stack = platform_allocate(KERNEL_STACK_BYTES);
    uint32_t before = cpus_running, parked_before = parked;

    if (stack == NULL)
        return false;
    trampoline_stack = (uint64_t)stack + KERNEL_STACK_BYTES;
    apic_start_cpu(id, (uint8_t)(run.boot->trampoline / PAGE_BYTES), delay_start);
    for (int i = 0; i < 10000; i++) {
        if (__atomic_load_n(&cpus_running, __ATOMIC_ACQUIRE) != before)
            return true;
        if (__atomic_load_n(&parked, __ATOMIC_ACQUIRE) != parked_before) {
            apic_send_init(id);
            return false;
        }
        clock_delay_us(100);
    }
    apic_send_init(id); /* otherwise it might still start, at the same time as the next one */
    log_notice("CPU with APIC id %u did not start", id);
    return false;
}

static const char *kind_name(uint8_t kind)
{
    return kind == PROCESSOR_KIND_CORE ? "Core" : kind == PROCESSOR_KIND_ATOM ? "Atom" : "another";
}

/* Reports CPUs whose clocks the firmware had set apart. */
static void log_clocks(void)
{
    uint32_t apart = 0, left = 0;
    uint64_t most = 0;

    for (uint32_t i = 1; i < cpus_running; i++) {
        const struct tsc_adjust *own = &cpus[i].tsc_adjust;
        uint64_t ticks;

        if (!own->apart)
            continue;
        ticks = tsc_adjust_distance(own, &first_of_package(&cpus[i])->tsc_adjust);
        apart++;
        left += !own->corrected;
        most = ticks > most ? ticks : most;
    }
    if (apart)
        log_notice("the firmware has set the clocks (TSC) of %u CPUs apart, by up to %lu ns; %s",
                   apart, run_ticks_to_ns(most),
                   left ? "they cannot be set: do not compare times of different CPUs"
                        : "they are set to agree during the run");
}

/* Reports what is unusual about the CPUs that were started or that failed to start. */
static void log_others(void)
{
    if (parked)
        log_notice("hybrid processor: CPU 0 is of kind %s; %u CPUs of another kind are left out",
                   kind_name(boot_kind), parked);
    log_clocks();
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
    topology_read(&topology);
    boot_kind = processor_core_kind();
    tsc_adjust_read(&cpus[0].tsc_adjust);
    place_trampoline(page);
    for (uint32_t i = 0; i < machine->cpu_count && cpus_running <= wanted; i++) {
        uint32_t id = machine->apic_ids[i];
        if (id != cpus[0].apic_id && cpus_running < CPUS_MAX && apic_reaches(id))
            start_one(id);
    }
    log_others();
    cpu_count = cpus_running;
    return cpu_count;
}

void cpu_stop_asked(struct cpu *cpu)
{
    if (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE) || cpu->index == 0)
        return;
    if (run.pmu != NULL && run.pmu->reset != NULL)
        run.pmu->reset();
    tsc_adjust_restore(&cpu->tsc_adjust);
    apic_mode_restore(cpu->apic_found);
    __atomic_store_n(&cpu->halted, true, __ATOMIC_RELEASE);
    cpu_others_halt();
}

/* Sends NMIs until the CPU answers: one may coalesce with a counter's. */
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
        return; /* a fault in this function led to a second call */
    cpu_nmi_samples = false;
    for (uint32_t i = 1; i < cpus_running; i++) {
        cpus[i].overflow.way = OVERFLOW_LONG;
        stop_one(&cpus[i]);
        apic_send_init(cpus[i].apic_id);
    }
}
