/* The kernel, top to bottom: boot, load the program, run it. */
#include <errno.h>
#include <string.h>

#include "drivers/acpi/acpi.h"
#include "drivers/apic/apic.h"
#include "drivers/platform.h"
#include "drivers/uart/uart.h"
#include "guest/calibrate.h"
#include "guest/clock.h"
#include "guest/exec.h"
#include "guest/fs.h"
#include "guest/log.h"
#include "guest/overflow.h"
#include "guest/panic.h"
#include "guest/phys.h"
#include "guest/ring.h"
#include "guest/run.h"
#include "guest/sampler.h"
#include "guest/service.h"
#include "guest/service_cpu.h"
#include "guest/trace.h"
#include "guest/vm.h"
#include "include/version.h"

#define CR4_TSD (1u << 2)
#define CR4_PCE (1u << 8)
#define WORKLOAD_CPU 1 /* the one that runs the program where it is not CPU 0 */

static struct trap_frame first_frame; /* of the program */
/* Between service and workload CPU, in this order.  Boot's allocators have no locks, so the
 * workload CPU waits until the other CPUs are set up, and the service CPU until the workload CPU
 * is. */
static bool workload_may_prepare, workload_ready, workload_go;

static void read_machine(const struct boot_info *boot)
{
    acpi_read(boot->rsdp, &run.machine);
    apic_init(run.machine.local_apic_base);
    apic_enable(VECTOR_SPURIOUS);
    cpus[0].apic_id = apic_id();
}

static void read_archive(const struct boot_info *boot)
{
    if (!boot->archive_base)
        panic("no archive: start the kernel through hr run, or give one with -initrd");
    if (fs_init(platform_physical_pointer(boot->archive_base), boot->archive_bytes))
        panic("the run archive is damaged");
    run_read_manifest();
}

static void find_clock(void)
{
    uint64_t asked = 0;

    manifest_number(&run.manifest, "virtual-time", &asked);
    clock_find(&run.machine, asked != 0, &run.clock);
    apic_timer_calibrate(run.clock.hz, run.clock.virtual_time);
    run.pmu_caps.exact_instructions = run.clock.virtual_time && run.shared;
}

/* Which counters, counting what: run.start_error says when the events cannot be had. */
static void choose_counters(void)
{
    run_read_sampling();
    run.start_error = run_encode_events();
    if (run.start_error == 0)
        run.start_error = run_assign_events();
}

/* A CPU becomes a workload CPU: its ring, its timer, and what a sample costs on it. */
static void prepare_workload(struct cpu *cpu)
{
    struct ring *ring = platform_allocate(sizeof *ring);
    uint8_t *stack = platform_allocate(KERNEL_STACK_BYTES);

    if (!ring || !stack || ring_init(ring, cpu->index, RING_SLOTS, run.session.event_count))
        panic("no memory for the sampling ring of CPU %u", cpu->index);
    cpu->ring = ring;
    cpu->stop_mask = run.shared ? ~0ull : 0;
    cpu_set_kernel_stack(cpu, (uint64_t)stack + KERNEL_STACK_BYTES);
    apic_timer_setup(VECTOR_TIMER);
    run.pmu->start(&run.session);
    calibrate(cpu);
    run.pmu->stop(&run.session);
}

/* Loads the program and announces the trace.  The ring of the workload CPU exists. */
static void load_program(struct cpu *workload)
{
    struct exec_result program;

    trace_init();
    trace_add_ring(workload->ring);
    run.thread.process = &run.process;
    run.thread.tid = run.process.pid;
    int status = run.start_error;
    trace_map_kernel();
    if (status == 0)
        status = vm_space_init(&run.process.space);
    if (status == 0)
        status = exec_load(&run.process, &program);
    run.start_ticks = run.shared ? 0 : x86_rdtsc();
    trace_start();
    workload->thread = &run.thread;
    workload->tid = run.thread.tid;
    if (status)
        service_refuse((uint32_t)-status);
    first_frame = (struct trap_frame){.rip = program.entry,
                                      .cs = SELECTOR_USER_CODE,
                                      .rflags = 2 | 1u << 9, /* IF */
                                      .rsp = program.stack,
                                      .ss = SELECTOR_USER_DATA};
}

static void __attribute__((noreturn)) run_program(struct cpu *cpu)
{
    x86_write_cr3(run.process.space.root);
    if (run.shared)
        x86_write_cr4(x86_read_cr4() | CR4_TSD); /* see emulate_rdtsc */
    if (run.pmu_caps.needs_encodings)
        x86_write_cr4(x86_read_cr4() | CR4_PCE); /* the program's RDPMC reads its own counters */
    cpu->user_ticks = 0;
    cpu->slept_ticks = 0;
    cpu->paused = run.paused;
    if (run.mode == HR_MODE_OVERFLOW) {
        run.session.period = run.period;
        overflow_start(cpu);
    }
    run.pmu->start(&run.session);
    run.started = true;
    service_check_stop();
    panic_test("start");
    sampler_start(cpu, run.shared ? 0 : x86_rdtsc());
    user_enter(&first_frame);
    panic("the program left ring 3");
}

static void wait_for(const bool *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        x86_pause();
}

/* What a CPU other than the first does. */
static void secondary(struct cpu *cpu)
{
    if (cpu != &cpus[WORKLOAD_CPU]) /* the program has one thread */
        for (;;)
            x86_wait_for_interrupt();
    wait_for(&workload_may_prepare);
    prepare_workload(cpu);
    __atomic_store_n(&workload_ready, true, __ATOMIC_RELEASE);
    wait_for(&workload_go);
    run_program(cpu);
}

static void __attribute__((noreturn)) run_shared(void)
{
    prepare_workload(&cpus[0]);
    load_program(&cpus[0]);
    run_program(&cpus[0]);
}

static void __attribute__((noreturn)) run_with_service_cpu(uint32_t workload_cpus)
{
    if (cpu_start_others(&run.machine, workload_cpus, secondary) < 2)
        panic("no second CPU started; --cpus needs one");
    __atomic_store_n(&workload_may_prepare, true, __ATOMIC_RELEASE);
    wait_for(&workload_ready);
    load_program(&cpus[WORKLOAD_CPU]);
    __atomic_store_n(&workload_go, true, __ATOMIC_RELEASE);
    service_main();
}

void kernel_main(const struct boot_info *boot)
{
    uint64_t workload_cpus = 0;

    run.boot = boot;
    uart_init();
    phys_init(boot);
    vm_init();
    cpu_setup(0);
    read_machine(boot);
    read_archive(boot);
    find_clock();
    int status = service_init();
    if (status)
        panic("no virtio-serial device: error %d", status);
    choose_counters();
    log_line("microtome %s: TSC %lu Hz, %lu MiB, %u CPUs offered, ready after %lu us", VERSION_TEXT,
             run.clock.hz, phys_total_bytes() >> 20, run.machine.cpu_count,
             run_ticks_to_ns(x86_rdtsc()) / 1000);
    log_line("counters: driver %s, version %u, %u general of %u bits, %u fixed", run.pmu->name,
             run.pmu_caps.version, run.pmu_caps.general_counters, run.pmu_caps.general_bits,
             run.pmu_caps.fixed_counters);
    manifest_number(&run.manifest, "cpus", &workload_cpus);
    if (run.shared)
        run_shared();
    run_with_service_cpu((uint32_t)workload_cpus);
}
