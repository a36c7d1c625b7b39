/* guest/cpu/cpu_others.c: which CPUs are used, whose clocks are set, and how CPUs are left. */
#include "tests/unit/drivers/fake_x86.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"

/* The page of low memory that CPUs start in. */
#define GUEST_MEMORY_PHYS_H
static uint8_t low_page[4096];

static void *phys_pointer(uint64_t physical)
{
    assert_int_equal(physical, 0x9f000);
    return low_page;
}

static void x86_write_cr3(uint64_t root)
{
    (void)root;
}

#include "guest/cpu/cpu_others.c"
#include "guest/memory/vm_kernel.h"

#define MACHINE_CPUS 6

struct run_config run;
bool cpu_nmi_samples;
struct cpu cpus[CPUS_MAX];
uint32_t cpu_count = 1;
struct apic_state apic;
uint64_t trampoline_stack;

/* One after the other, as the linker has them. */
__asm__(".pushsection .data\n"
        ".globl trampoline_start, trampoline_data, trampoline_end\n"
        "trampoline_start: .zero 16\n"
        "trampoline_data: .zero 22\n"
        "trampoline_end: .popsection\n");

static struct {
    uint32_t id;
    uint8_t kind;
    uint64_t adjust; /* IA32_TSC_ADJUST */
    bool fixed; /* it cannot be written */
    bool initialised; /* by INIT, last */
    uint64_t mode; /* IA32_APIC_BASE */
} machine[MACHINE_CPUS];
static unsigned here; /* the CPU that executes */
static jmp_buf elsewhere;
static struct acpi_machine tables;
static char logged[512];

void log_line(const char *format, ...)
{
    size_t used = strlen(logged);
    va_list arguments;

    va_start(arguments, format);
    format_text_v(logged + used, sizeof logged - used, format, arguments);
    va_end(arguments);
}

void panic(const char *format, ...)
{
    fail_msg("panic: %s", format);
    for (;;)
        continue;
}

static bool hypervisor;

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    return (struct cpuid_result){.eax = leaf == 0 ? 7 : 0,
                                 .ebx = leaf == 7 ? 2 : 0,
                                 .ecx = leaf == 1 && hypervisor ? 1u << 31 : 0};
}

int platform_msr_read(uint32_t msr, uint64_t *value)
{
    assert_int_equal(msr, 0x3b);
    *value = machine[here].adjust;
    return 0;
}

int platform_msr_write(uint32_t msr, uint64_t value)
{
    assert_int_equal(msr, 0x3b);
    if (machine[here].fixed)
        return -14;
    machine[here].adjust = value;
    return 0;
}

#include "drivers/clock/tsc_adjust.c"

uint8_t processor_core_kind(void)
{
    return machine[here].kind;
}

void topology_read(struct topology *out) /* ids 0 to 7 are of one package, 8 and 9 of another */
{
    *out = (struct topology){.core_shift = 0, .package_shift = 3};
}

void *platform_allocate(size_t bytes)
{
    assert_true(bytes > 0);
    return low_page;
}

uint64_t vm_kernel_root(void)
{
    return 0;
}

uint64_t vm_start_root(void)
{
    return 0;
}

void cpu_setup(uint32_t index)
{
    cpus[index].index = index;
}

uint64_t run_ticks_to_ns(uint64_t ticks)
{
    return ticks / 2;
}

static uint64_t waited_us;

void clock_delay_us(uint64_t us)
{
    waited_us += us;
}

void apic_enable(uint8_t vector)
{
    assert_int_equal(vector, VECTOR_SPURIOUS);
    machine[here].mode = 0xfee00d00;
}

uint64_t apic_mode(void)
{
    return machine[here].mode;
}

void apic_mode_restore(uint64_t base)
{
    machine[here].mode = base;
}

uint32_t apic_id(void)
{
    return machine[here].id;
}

static unsigned of_id(uint32_t id)
{
    unsigned i = 0;

    while (machine[i].id != id)
        assert_true(++i < MACHINE_CPUS);
    return i;
}

/* A CPU runs until it waits for something. */
static void switch_to(unsigned cpu, void (*what)(void))
{
    here = cpu;
    if (!setjmp(elsewhere))
        what();
    here = 0;
}

void x86_halt(void)
{
    assert_int_not_equal(here, 0);
    longjmp(elsewhere, 1);
}

static void secondary_waits(struct cpu *cpu)
{
    assert_int_equal(cpu->apic_id, machine[here].id);
    longjmp(elsewhere, 1);
}

void apic_start_cpu(uint32_t id, uint8_t at, void (*delay_us)(uint64_t us))
{
    assert_int_equal(at, 0x9f);
    delay_us(10000);
    delay_us(200);
    machine[of_id(id)].initialised = false;
    switch_to(of_id(id), cpu_secondary_main);
}

void apic_send_init(uint32_t id)
{
    machine[of_id(id)].initialised = true;
}

static void stop_here(void)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].apic_id == machine[here].id)
            cpu_stop_asked(&cpus[i]);
}

void apic_send_nmi(uint32_t id)
{
    switch_to(of_id(id), stop_here);
}

static int begin(void **state)
{
    static struct boot_info boot = {.trampoline = 0x9f000};
    static const uint32_t ids[MACHINE_CPUS] = {0, 1, 2, 3, 8, 9};

    (void)state;
    memset(machine, 0, sizeof machine);
    memset(cpus, 0, sizeof cpus);
    logged[0] = 0;
    run = (struct run_config){.boot = &boot};
    apic = (struct apic_state){0};
    tables = (struct acpi_machine){.cpu_count = MACHINE_CPUS};
    cpus_running = cpu_count = 1;
    waited_us = 0;
    hypervisor = false;
    parked = 0;
    stopping = false;
    for (unsigned i = 0; i < MACHINE_CPUS; i++) {
        machine[i].id = tables.apic_ids[i] = ids[i];
        machine[i].mode = 0xfee00900;
    }
    return 0;
}

static uint32_t start(uint32_t wanted)
{
    return cpu_start_others(&tables, wanted, secondary_waits);
}

static void all_are_started_and_stopped(void **state)
{
    (void)state;
    assert_int_equal(start(63), MACHINE_CPUS);
    assert_string_equal(logged, "");
    assert_int_equal(cpus[5].apic_id, 9);
    cpu_stop_others();
    for (unsigned i = 1; i < MACHINE_CPUS; i++) {
        assert_true(machine[i].initialised);
        assert_int_equal(machine[i].mode, 0xfee00900);
    }
}

static void as_many_as_wanted(void **state)
{
    (void)state;
    assert_int_equal(start(2), 3);
    assert_int_equal(cpus[2].apic_id, 2);
}

static void delays_are_short_under_a_hypervisor(void **state)
{
    (void)state;
    start(2);
    assert_int_equal(waited_us, 2 * 10200);
    begin(state);
    hypervisor = true;
    start(2);
    assert_int_equal(waited_us, 2 * 400);
}

static void other_kinds_are_left_out(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MACHINE_CPUS; i++)
        machine[i].kind = i == 1 || i == 4 ? 0x20 : 0x40;
    assert_int_equal(start(63), 4);
    assert_int_equal(cpus[1].apic_id, 2);
    assert_int_equal(cpus[2].apic_id, 3);
    assert_int_equal(cpus[3].apic_id, 9);
    assert_true(machine[1].initialised && machine[4].initialised);
    assert_int_equal(machine[1].mode, 0xfee00900); /* as it was */
    assert_string_equal(logged, "notice: hybrid processor: CPU 0 is of kind Core; 2 CPUs of "
                                "another kind are left out");
}

static void what_xapic_mode_does_not_reach_is_left_out(void **state)
{
    uint32_t registers[1024];

    (void)state;
    machine[5].id = tables.apic_ids[5] = 256;
    apic.registers = registers;
    assert_int_equal(start(63), 5);
}

/* Package 1 was reset later than package 0: its CPUs are right when they agree. */
static void clocks_of_a_package_are_set_to_agree(void **state)
{
    static const uint64_t found[MACHINE_CPUS] = {10, 10, 2010, 10, 500, 490};
    static const uint64_t set[MACHINE_CPUS] = {10, 10, 10, 10, 500, 500};

    (void)state;
    for (unsigned i = 0; i < MACHINE_CPUS; i++)
        machine[i].adjust = found[i];
    assert_int_equal(start(63), MACHINE_CPUS);
    for (unsigned i = 0; i < MACHINE_CPUS; i++)
        assert_int_equal(machine[i].adjust, set[i]);
    assert_string_equal(logged, "notice: the firmware has set the clocks (TSC) of 2 CPUs apart, by "
                                "up to 1000 ns; they are set to agree during the run");
    cpu_stop_others();
    for (unsigned i = 0; i < MACHINE_CPUS; i++)
        assert_int_equal(machine[i].adjust, found[i]);
}

static void a_clock_that_cannot_be_set_is_told(void **state)
{
    (void)state;
    machine[3].adjust = (uint64_t)-8;
    machine[3].fixed = true;
    assert_int_equal(start(63), MACHINE_CPUS);
    assert_string_equal(logged,
                        "notice: the firmware has set the clocks (TSC) of 1 CPUs apart, by up to 4 "
                        "ns; they cannot be set: do not compare times of different CPUs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_are_started_and_stopped, begin),
        cmocka_unit_test_setup(as_many_as_wanted, begin),
        cmocka_unit_test_setup(delays_are_short_under_a_hypervisor, begin),
        cmocka_unit_test_setup(other_kinds_are_left_out, begin),
        cmocka_unit_test_setup(what_xapic_mode_does_not_reach_is_left_out, begin),
        cmocka_unit_test_setup(clocks_of_a_package_are_set_to_agree, begin),
        cmocka_unit_test_setup(a_clock_that_cannot_be_set_is_told, begin),
    };
    return cmocka_run_group_tests_name("cpu_others", tests, NULL, NULL);
}
