/* The kernel, top to bottom: boot, load the program, run it. */
#include <string.h>

#include "drivers/acpi/acpi.h"
#include "drivers/apic/apic.h"
#include "drivers/pci/pci_config.h"
#include "drivers/platform.h"
#include "drivers/processor/topology.h"
#include "drivers/uart/uart.h"
#include "guest/base/image.h"
#include "guest/base/log.h"
#include "guest/base/panic.h"
#include "guest/base/run.h"
#include "guest/calls/calls.h"
#include "guest/calls/calls_observe.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/cpu/entry.h"
#include "guest/cpu/paravirt.h"
#include "guest/cpu/turn.h"
#include "guest/exec/exec.h"
#include "guest/exec/vdso_map.h"
#include "guest/file/files.h"
#include "guest/file/input.h"
#include "guest/file/signalfd.h"
#include "guest/fs/fs.h"
#include "guest/fs/fs_jit.h"
#include "guest/fs/fs_kept.h"
#include "guest/fs/fs_missing.h"
#include "guest/fs/fs_served.h"
#include "guest/memory/page.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_kernel.h"
#include "guest/probe/probe.h"
#include "guest/proc/fs_mounts.h"
#include "guest/run_manifest.h"
#include "guest/sample/calibrate.h"
#include "guest/sample/observer.h"
#include "guest/sample/pebs.h"
#include "guest/sample/python.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/sample/stack.h"
#include "guest/service/deadline.h"
#include "guest/service/service.h"
#include "guest/service/service_cpu.h"
#include "guest/service/service_input.h"
#include "guest/signal/duration.h"
#include "guest/signal/program_timer.h"
#include "guest/signal/signal.h"
#include "guest/socket/socket_outside.h"
#include "guest/syscall/process/ending.h"
#include "guest/thread/idle.h"
#include "guest/thread/pages.h"
#include "guest/thread/process.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/thread/threads_end.h"
#include "guest/thread/timer.h"
#include "guest/thread/translations.h"
#include "guest/thread/wait.h"
#include "guest/trace/called.h"
#include "guest/trace/machine.h"
#include "guest/trace/trace.h"
#include "guest/trace/trace_process.h"
#include "guest/transport/leave.h"
#include "guest/transport/transport.h"
#include "guest/transport/uefi.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm.h"
#include "guest/vm/vm_fill.h"
#include "include/run_ports.h"
#include "include/version.h"
#include "lib/array.h"

#define CR4_PCE (1u << 8)
#define WORKLOAD_CPU 1 /* the first CPU that runs the program, unless CPU 0 does */

static uint32_t prepare_turn; /* the CPU to prepare itself next; set when all have started */
static uint32_t workload_go; /* 1: the program is loaded */

/* Begins a step of the start, one of RUN_STEPS, and writes it to the serial port, which needs no
 * driver; not on a bare machine, where a line takes a millisecond and is not read. */
static void begin_step(const char *name)
{
    char line[64];

    format_text(line, sizeof line, RUN_STEP_LINE "%s\n", name);
    if (run.boot->entry == BOOT_ENTRY_PVH)
        uart_write(line, strlen(line));
    test_hook(name);
}

static void read_machine(const struct boot_info *boot)
{
    struct topology topology;

    acpi_read(boot->rsdp, &run.machine);
    pci_config_set(run.machine.pci_config_base, run.machine.pci_config_first,
                   run.machine.pci_config_last);
    apic_init(run.machine.local_apic_base, run.machine.x2apic_opt_out);
    if (boot->entry == BOOT_ENTRY_UEFI)
        uefi_keep_apic();
    apic_enable(VECTOR_SPURIOUS);
    cpus[0].apic_id = apic_id();
    topology_read(&topology);
    topology_spread(&topology, run.machine.apic_ids, run.machine.cpu_count, cpus[0].apic_id);
}

static void read_archive(const struct boot_info *boot)
{
    const void *archive;

    if (!boot->archive_base)
        panic("no archive: start the kernel through hr run, or give one with -initrd");
    archive = platform_physical_pointer(boot->archive_base);
    if (archive == NULL || fs_init(archive, boot->archive_bytes))
        panic("the run archive is damaged");
    run_read_manifest();
    probe_read();
    calls_start();
}

static void find_clock(void)
{
    uint64_t asked = 0;

    manifest_number(&run.manifest, "virtual-time", &asked);
    clock_find(&run.machine, asked != 0, &run.clock);
    apic_timer_calibrate(run.clock.hz, run.clock.virtual_time);
    run_find_emulation();
    run.pmu_caps.exact_instructions = run.clock.virtual_time && run.shared;
}

static void open_transport(struct boot_info *boot)
{
    static const struct transport *const transports[] = {
        [BOOT_OUTPUT_VIRTIO] = &transport_virtio,
        [BOOT_OUTPUT_MEMORY] = &transport_memory,
        [BOOT_OUTPUT_TCP] = &transport_tcp,
    };
    int status;

    if (boot->output >= ARRAY_COUNT(transports) || transports[boot->output] == NULL)
        panic("boot_info: no output of kind %u", boot->output);
    transport = transports[boot->output];
    status = transport->init(boot);
    if (status && boot->result.end != BOOT_END_NONE)
        leave_done(boot->result.end);
    if (status)
        panic("no output over %s: error %d", transport->name, status);
}

/* Chooses the counters and what they count; run.start_error says if the events are not available.
 */
static void choose_counters(void)
{
    run_read_sampling();
    run.start_error = run_encode_events();
    if (run.start_error == 0)
        run.start_error = run_assign_events();
}

/* Makes a CPU a workload CPU: its ring, its stack, its timer. */
static void prepare_workload(struct cpu *cpu)
{
    struct ring *ring = platform_allocate(sizeof *ring);
    uint8_t *stack = platform_allocate(KERNEL_STACK_BYTES);

    if (ring == NULL || stack == NULL ||
        ring_init(ring, cpu->index, RING_SLOTS,
                  sampling.session.event_count + sampling.probe_arguments))
        panic("no memory for the sampling ring of CPU %u; give more with --mem", cpu->index);
    cpu->ring = ring;
    if (pebs_add_cpu(cpu) || stack_add_to_ring(ring))
        panic("no memory for the large samples of CPU %u; give more with --mem", cpu->index);
    run_try_events();
    run.ring_slots = ring->mask + 1;
    service_make_buffer(cpu);
    cpu->clock.stop_mask = run.shared ? ~0ull : 0;
    cpu->trigger.paused = run.asked.paused;
    cpu->trigger.attention_due = cpu->schedule.slice_end = cpu->schedule.flush_due = CPU_NEVER;
    cpu_set_kernel_stack(cpu, (uint64_t)stack + KERNEL_STACK_BYTES);
    apic_timer_setup(VECTOR_TIMER);
    machine_prepare(cpu);
    if (paravirt_prepare(cpu))
        panic("no memory for what the hypervisor says of CPU %u", cpu->index);
}

/* prepare_workload for the first workload CPU, which also measures what a sample costs. */
static void prepare_first(struct cpu *cpu)
{
    prepare_workload(cpu);
    begin_step("calibration");
    run.pmu->start(&sampling.session);
    calibrate(cpu);
    run.pmu->stop(&sampling.session);
}

/* Loads the program and announces the trace.  The workload CPUs' rings must exist. */
static void load_program(struct cpu *workload)
{
    struct exec_plan program = {0};
    struct thread *thread;
    int status;

    begin_step("program");
    sampling_start();
    syscall_start();
    trace_init(service_flush);
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].ring != NULL)
            trace_add_ring(cpus[i].ring);
    calls_observe_start();
    run.kernel_bytes = phys_total_bytes() - phys_free_bytes();
    process_start();
    thread = threads_first(&process_first);
    status = run.start_error;
    trace_map_kernel();
    if (status == 0)
        status = vm_space_init(process_first.space);
    if (status == 0)
        status = exec_load(&process_first, &program);
    fs_served_start();
    run.start_ticks = run.shared ? 0 : x86_rdtsc();
    vdso_start();
    trace_start();
    probe_start(process_first.space);
    if (run.latency)
        called_announce();
    if (status)
        service_refuse((uint32_t)-status);
    *threads_frame(thread) = (struct trap_frame){.rip = program.entry,
                                                 .cs = SELECTOR_USER_CODE,
                                                 .rflags = 2 | 1u << 9, /* IF */
                                                 .rsp = program.stack,
                                                 .ss = SELECTOR_USER_DATA};
    run_state.after_call.always = cross_several || sampling.trigger->nmi || run.allocations;
    schedule_first(thread, workload);
}

/* Starts the counters; on every workload CPU, just before the program starts. */
static void start_counting(struct cpu *cpu)
{
    if (run.pmu_caps.needs_encodings)
        x86_write_cr4(x86_read_cr4() | CR4_PCE); /* the program's RDPMC reads its own counters */
    if (run.shared)
        clock_reset(cpu); /* an overflow in the kernel before the program gets time 0 */
    cpu->clock.user_ticks = 0;
    machine_start(cpu);
    paravirt_start(cpu);
    cpu->trigger.counters_wait = 0;
    trace_registers_start(cpu);
    sampling.trigger->prepare(cpu);
    run.pmu->start(&sampling.session);
    if (cpu->trigger.paused)
        sampling.trigger->pause(cpu);
}

static void main_expire(struct timer *)
{
    deadline_stop();
}

/* Starts the time limit.  A service CPU checks it, so that workload CPUs have no additional timer.
 */
static void start_deadline(void)
{
    static struct timer timer = {.expire = main_expire, .background = true};
    uint64_t due = deadline_start();

    if (due != CPU_NEVER && run.shared)
        timer_set(&timer, due);
}

static void start_run(struct cpu *cpu)
{
    cross_lock(cpu);
    run_state.started = true;
    start_deadline();
    translations_start(cpu);
    pages_start();
    duration_start(run.duration_ns);
    service_check_stop();
    test_hook("start");
    cross_unlock();
}

/* CPUs prepare themselves in the order of their numbers: boot's allocators have no locks. */
static void prepare_in_turn(struct cpu *cpu)
{
    turn_wait(&prepare_turn, cpu->index);
    if (cpu->index == WORKLOAD_CPU)
        prepare_first(cpu);
    else if (cpu->index <= run.workload_cpus)
        prepare_workload(cpu);
    turn_set(&prepare_turn, cpu->index + 1, cpu->index + 1);
    apic_send(cpus[0].apic_id, VECTOR_WAKE);
}

/* The code of every CPU except the boot CPU. */
static void main_secondary(struct cpu *cpu)
{
    prepare_in_turn(cpu);
    turn_wait(&workload_go, 1);
    vm_seal();
    if (cpu->index > run.workload_cpus)
        observer_loop(cpu);
    cross_lock(cpu); /* one CPU at a time: drivers record what start tells them */
    start_counting(cpu);
    cross_unlock();
    if (cpu->index == WORKLOAD_CPU)
        start_run(cpu);
    idle_loop(cpu);
}

static void __attribute__((noreturn)) run_shared(void)
{
    struct cpu *cpu = &cpus[0];

    run.workload_cpus = 1;
    cpu->clock.offset = &vdso_data_page.data.clock_offset;
    prepare_first(cpu);
    load_program(cpu);
    vm_seal();
    start_counting(cpu);
    start_run(cpu);
    idle_loop(cpu);
}

static void __attribute__((noreturn)) run_with_service_cpu(uint32_t workload_cpus)
{
    uint32_t observers = run.asked.mode == HR_MODE_IPI ? 1 : 0, running;

    begin_step("CPUs");
    running = cpu_start_others(&run.machine, workload_cpus + observers, main_secondary);
    if (running < 2 + observers)
        panic("%u CPUs started; --cpus %u needs %u", running, workload_cpus,
              1 + workload_cpus + observers);
    run.workload_cpus = running - 1 - observers;
    if (run.workload_cpus < workload_cpus)
        log_notice("--cpus %u: only %u workload CPUs started", workload_cpus, run.workload_cpus);
    cross_several = true;
    if (run.latency)
        service_calls = (struct service_calls){
            .scan = calls_scan, .drain = calls_drain, .finish = calls_finish};
    turn_set(&prepare_turn, 1, 1);
    turn_wait(&prepare_turn, running);
    load_program(&cpus[WORKLOAD_CPU]);
    vm_seal();
    turn_set(&workload_go, 1, 1);
    service_main();
}

/* Sets the hooks by which rooms call rooms above them. */
static void connect_rooms(void)
{
    panic_leave = leave_panic;
    cross_hooks = (struct cross_hooks){.stop = service_stop_here, .relieve = service_cpu_relieve};
    sampler_drain = service_drain;
    python_look = trace_process_offer;
    service_input_arrived = input_arrived;
    service_files_end = (struct service_files_end){
        .names = fs_jit_send, .send = fs_kept_finish, .log = fs_missing_log};
    schedule_outside =
        (struct schedule_outside){.awaited = socket_outside_awaited, .wait = socket_outside_wait};
    wait_timers.wake = program_timer_wake_all;
    signal_listener = signalfd_sent;
    uaccess_out_of_memory = signal_out_of_memory;
    vm_fill_told = pages_filled;
    fs_file_release = files_release;
    inode_fetch = fs_served_fetch;
    exec_mount = fs_mount;
    threads_release = ending_release;
}

void kernel_main(struct boot_info *boot)
{
    uint64_t entered = x86_rdtsc();

    run.boot = boot;
    connect_rooms();
    image_place(boot->kernel_physical);
    uart_init();
    test_hook("boot");
    begin_step("memory");
    phys_init(boot);
    vm_init();
    vdso_init();
    cpu_setup(0);
    begin_step("devices");
    read_machine(boot);
    read_archive(boot);
    begin_step("clock");
    find_clock();
    page_choose(run.clock.virtual_time);
    begin_step("transport");
    open_transport(boot);
    socket_outside_start();
    begin_step("counters");
    choose_counters();
    log_line("microtome %s: TSC %lu Hz, %lu MiB, %u CPUs offered, ready after %lu us", VERSION_TEXT,
             run.clock.hz, phys_total_bytes() >> 20, run.machine.cpu_count,
             run_ticks_to_ns(x86_rdtsc() - entered) / 1000);
    log_line("counters: driver %s, version %u, %u general of %u bits, %u fixed", run.pmu->name,
             run.pmu_caps.version, run.pmu_caps.general_counters, run.pmu_caps.general_bits,
             run.pmu_caps.fixed_counters);
    if (run.shared)
        run_shared();
    run_with_service_cpu(run.wanted_cpus);
}
