/* The ACPI reader against good, damaged and hostile tables. */
#include "tests/unit/drivers/fake_x86.h"

#include "drivers/acpi/acpi.c"

#include <stdlib.h>

#include "tests/unit/test.h"

/* Physical memory: the first MiB, and the tables, which end where memory ends. */
#define LOW_BYTES 0x100000u
#define TABLES_BASE 0x3fe0000u
#define TABLES_BYTES 4096u

static uint8_t *low;
static uint8_t *tables;

const void *platform_physical_pointer(uint64_t physical)
{
    if (physical < LOW_BYTES)
        return low + physical;
    if (physical >= TABLES_BASE && physical < TABLES_BASE + TABLES_BYTES)
        return tables + (physical - TABLES_BASE);
    return NULL;
}

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    assert_int_equal(leaf, 1);
    (void)subleaf;
    return (struct cpuid_result){.ebx = 7u << 24};
}

/* Offsets of the tables that build() makes. */
enum {
    AT_XSDT = 0x000,
    AT_RSDT = 0x100,
    AT_FADT = 0x200,
    AT_HPET = 0x400,
    AT_DMAR = 0x500,
    AT_MCFG = 0x600,
    AT_MADT = 0xf00, /* the last bytes of memory */
    MADT_BYTES = 0x100,
    AT_RSDP = 0xe1230, /* in low memory */
};

static void checksum(uint8_t *bytes, size_t count, size_t at)
{
    uint8_t sum = 0;

    bytes[at] = 0;
    for (size_t i = 0; i < count; i++)
        sum = (uint8_t)(sum + bytes[i]);
    bytes[at] = (uint8_t)-sum;
}

static void seal(unsigned at)
{
    checksum(tables + at, bytes_load32(tables + at + 4), 9);
}

static void begin(unsigned at, const char *signature, uint32_t length)
{
    memcpy(tables + at, signature, 4);
    bytes_store32(tables + at + 4, length);
}

static void build_madt(void)
{
    static const uint8_t entries[] = {
        0, 8,  0, 0,    1, 0, 0,    0, /* CPU 0 */
        0, 8,  1, 2,    1, 0, 0,    0, /* APIC id 2 */
        0, 8,  2, 4,    0, 0, 0,    0, /* disabled */
        1, 12, 0, 0,    0, 0, 0xc0, 0xfe, 0, 0, 0, 0, /* I/O APIC: skipped */
        9, 16, 0, 0,    2, 0, 0,    0,    1, 0, 0, 0, 0, 0, 0, 0, /* x2APIC id 2: the same CPU */
        9, 16, 0, 0,    0, 1, 0,    0,    1, 0, 0, 0, 0, 0, 0, 0, /* x2APIC id 256 */
        5, 12, 0, 0,    0, 0, 0xd0, 0xfe, 0, 0, 0, 0, /* base FED00000H */
        0, 8,  3, 0xff, 1, 0, 0,    0, /* FFH is no CPU's id */
    };
    begin(AT_MADT, "APIC", MADT_BYTES);
    bytes_store32(tables + AT_MADT + 36, 0xfee00000);
    memcpy(tables + AT_MADT + 44, entries, sizeof entries);
    for (size_t at = 44 + sizeof entries; at < MADT_BYTES; at += 4) { /* unknown, of 4 bytes */
        tables[AT_MADT + at] = 0x7f;
        tables[AT_MADT + at + 1] = 4;
    }
    seal(AT_MADT);
}

static void build_rsdp(void)
{
    uint8_t *rsdp = low + AT_RSDP;

    memcpy(rsdp, "RSD PTR ", 8);
    rsdp[15] = 2;
    bytes_store32(rsdp + 16, TABLES_BASE + AT_RSDT);
    bytes_store32(rsdp + 20, 36);
    bytes_store64(rsdp + 24, TABLES_BASE + AT_XSDT);
    checksum(rsdp, 20, 8);
    checksum(rsdp, 36, 32);
}

static int build(void **state)
{
    static const unsigned at[] = {AT_FADT, AT_HPET, AT_DMAR, AT_MCFG, AT_MADT};

    (void)state;
    low = calloc(1, LOW_BYTES);
    tables = calloc(1, TABLES_BYTES);
    if (!low || !tables)
        return -1;
    build_rsdp();
    build_madt();
    begin(AT_FADT, "FACP", 244);
    bytes_store32(tables + AT_FADT + 76, 0x608);
    tables[AT_FADT + 91] = 4;
    bytes_store32(tables + AT_FADT + 112, 1 << 8);
    seal(AT_FADT);
    begin(AT_HPET, "HPET", 56);
    bytes_store64(tables + AT_HPET + 44, 0xfed00000);
    seal(AT_HPET);
    begin(AT_DMAR, "DMAR", 48);
    tables[AT_DMAR + 37] = 1; /* interrupts are remapped */
    seal(AT_DMAR);
    begin(AT_MCFG, "MCFG", 44 + 2 * 16);
    bytes_store64(tables + AT_MCFG + 44, 0x1000000000);
    tables[AT_MCFG + 44 + 8] = 1; /* another segment */
    bytes_store64(tables + AT_MCFG + 60, 0xe0000000);
    tables[AT_MCFG + 60 + 10] = 2;
    tables[AT_MCFG + 60 + 11] = 0x7f;
    seal(AT_MCFG);
    begin(AT_XSDT, "XSDT", 36 + 5 * 8);
    begin(AT_RSDT, "RSDT", 36 + 5 * 4);
    for (unsigned i = 0; i < 5; i++) {
        bytes_store64(tables + AT_XSDT + 36 + 8 * i, TABLES_BASE + at[i]);
        bytes_store32(tables + AT_RSDT + 36 + 4 * i, TABLES_BASE + at[i]);
    }
    seal(AT_XSDT);
    seal(AT_RSDT);
    return 0;
}

static int discard(void **state)
{
    (void)state;
    free(low);
    free(tables);
    return 0;
}

static void assert_complete(const struct acpi_machine *machine)
{
    assert_int_equal(machine->pci_config_base, 0xe0000000);
    assert_int_equal(machine->pci_config_first, 2);
    assert_int_equal(machine->pci_config_last, 0x7f);
    assert_int_equal(machine->cpu_count, 3);
    assert_int_equal(machine->apic_ids[0], 0);
    assert_int_equal(machine->apic_ids[1], 2);
    assert_int_equal(machine->apic_ids[2], 256);
    assert_int_equal(machine->local_apic_base, 0xfed00000);
    assert_int_equal(machine->hpet_base, 0xfed00000);
    assert_int_equal(machine->pm_timer_port, 0x608);
    assert_int_equal(machine->pm_timer_32bit, 1);
}

static void assert_nothing(const struct acpi_machine *machine)
{
    assert_int_equal(machine->cpu_count, 1);
    assert_int_equal(machine->apic_ids[0], 7);
    assert_int_equal(machine->local_apic_base, 0xfee00000);
    assert_int_equal(machine->hpet_base, 0);
    assert_int_equal(machine->pm_timer_port, 0);
}

static void reads_good_tables(void **state)
{
    struct acpi_machine machine;

    (void)state;
    assert_int_equal(acpi_read(AT_RSDP, &machine), 0);
    assert_complete(&machine);
    assert_int_equal(acpi_read(0, &machine), 0); /* by searching the BIOS area */
    assert_complete(&machine);
}

static void finds_rsdp_in_extended_bios_data(void **state)
{
    struct acpi_machine machine;

    (void)state;
    memcpy(low + 0x9fc00 + 0x3d0, low + AT_RSDP, 36);
    memset(low + AT_RSDP, 0, 36);
    low[0x40e] = 0xc0;
    low[0x40f] = 0x9f;
    assert_int_equal(acpi_read(0, &machine), 0);
    assert_complete(&machine);
}

static void the_firmware_opts_out_of_x2apic_mode(void **state)
{
    struct acpi_machine machine;

    (void)state;
    assert_int_equal(acpi_read(0, &machine), 0);
    assert_false(machine.x2apic_opt_out);
    tables[AT_DMAR + 37] = 3;
    seal(AT_DMAR);
    assert_int_equal(acpi_read(0, &machine), 0);
    assert_true(machine.x2apic_opt_out);
    bytes_store32(tables + AT_DMAR + 4, 40); /* too short to be one */
    seal(AT_DMAR);
    assert_int_equal(acpi_read(0, &machine), 0);
    assert_false(machine.x2apic_opt_out);
}

static void old_rsdp_leads_to_rsdt(void **state)
{
    struct acpi_machine machine;

    (void)state;
    low[AT_RSDP + 15] = 0;
    checksum(low + AT_RSDP, 20, 8);
    memset(tables + AT_XSDT, 0, 0x100);
    assert_int_equal(acpi_read(AT_RSDP, &machine), 0);
    assert_complete(&machine);
}

static void damaged_xsdt_falls_back_to_rsdt(void **state)
{
    struct acpi_machine machine;

    (void)state;
    tables[AT_XSDT + 40] ^= 1;
    assert_int_equal(acpi_read(AT_RSDP, &machine), 0);
    assert_complete(&machine);
}

static void nothing_usable_is_one_cpu(void **state)
{
    struct acpi_machine machine;

    (void)state;
    low[AT_RSDP + 3] ^= 1;
    assert_int_equal(acpi_read(0, &machine), -ENOENT);
    assert_nothing(&machine);
    assert_int_equal(acpi_read(AT_RSDP, &machine), -ENOENT);
    assert_nothing(&machine);
    assert_int_equal(acpi_read(0x123456789000, &machine), -ENOENT);
    assert_nothing(&machine);
}

static void damaged_table_is_skipped(void **state)
{
    struct acpi_machine machine;

    (void)state;
    tables[AT_MADT + 50] ^= 1; /* the checksum tells */
    tables[AT_HPET + 44] ^= 1;
    assert_int_equal(acpi_read(AT_RSDP, &machine), 0);
    assert_int_equal(machine.cpu_count, 1);
    assert_int_equal(machine.apic_ids[0], 7);
    assert_int_equal(machine.hpet_base, 0);
    assert_int_equal(machine.pm_timer_port, 0x608);
}

static void table_past_the_end_of_memory_is_skipped(void **state)
{
    struct acpi_machine machine;

    (void)state;
    bytes_store32(tables + AT_MADT + 4, MADT_BYTES + 1);
    assert_int_equal(acpi_read(AT_RSDP, &machine), 0);
    assert_int_equal(machine.apic_ids[0], 7);
    bytes_store32(tables + AT_MADT + 4, 0xffffffff);
    assert_int_equal(acpi_read(AT_RSDP, &machine), 0);
    assert_int_equal(machine.apic_ids[0], 7);
}

static void bad_madt_entry_ends_the_list(void **state)
{
    static const uint8_t lengths[] = {0, 1, 0xff};

    (void)state;
    for (size_t i = 0; i < sizeof lengths; i++) {
        struct acpi_machine machine;
        tables[AT_MADT + 44 + 8 + 1] = lengths[i];
        seal(AT_MADT);
        assert_int_equal(acpi_read(AT_RSDP, &machine), 0);
        assert_in_range(machine.cpu_count, 1, 2);
        assert_int_equal(machine.apic_ids[0], 0);
    }
}

static void cpus_beyond_the_maximum_are_left_out(void **state)
{
    struct acpi_machine machine;
    uint32_t length = 44 + 16 * 8;

    (void)state;
    begin(AT_HPET, "APIC", length);
    for (uint32_t i = 0; i < 16; i++) {
        uint8_t entry[8] = {0, 8, 0, (uint8_t)(10 + i), 1, 0, 0, 0};
        memcpy(tables + AT_HPET + 44 + i * 8, entry, 8);
    }
    seal(AT_HPET);
    memset(&machine, 0, sizeof machine);
    machine.cpu_count = ACPI_CPUS_MAX - 4;
    madt_read(tables + AT_HPET, length, &machine);
    assert_int_equal(machine.cpu_count, ACPI_CPUS_MAX);
    assert_int_equal(machine.apic_ids[ACPI_CPUS_MAX - 1], 13);
}

/* Whatever the tables hold, with right checksums too, nothing is read outside them (ASan). */
static void random_damage_is_survived(void **state)
{
    static const unsigned at[] = {AT_XSDT, AT_RSDT, AT_FADT, AT_HPET, AT_MADT};
    struct test_random random = {42};
    uint8_t good[TABLES_BYTES];

    (void)state;
    memcpy(good, tables, sizeof good);
    for (int round = 0; round < 20000; round++) {
        struct acpi_machine machine;
        memcpy(tables, good, sizeof good);
        unsigned table = at[test_random_below(&random, 5)];
        for (int i = 0; i < 3; i++)
            tables[table + test_random_below(&random, 0x100)] = (uint8_t)test_random_next(&random);
        uint32_t length = bytes_load32(tables + table + 4);
        if (length >= 36 && length <= TABLES_BYTES - table)
            seal(table);
        acpi_read(AT_RSDP, &machine);
        assert_in_range(machine.cpu_count, 1, ACPI_CPUS_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_good_tables, build, discard),
        cmocka_unit_test_setup_teardown(finds_rsdp_in_extended_bios_data, build, discard),
        cmocka_unit_test_setup_teardown(the_firmware_opts_out_of_x2apic_mode, build, discard),
        cmocka_unit_test_setup_teardown(old_rsdp_leads_to_rsdt, build, discard),
        cmocka_unit_test_setup_teardown(damaged_xsdt_falls_back_to_rsdt, build, discard),
        cmocka_unit_test_setup_teardown(nothing_usable_is_one_cpu, build, discard),
        cmocka_unit_test_setup_teardown(damaged_table_is_skipped, build, discard),
        cmocka_unit_test_setup_teardown(table_past_the_end_of_memory_is_skipped, build, discard),
        cmocka_unit_test_setup_teardown(bad_madt_entry_ends_the_list, build, discard),
        cmocka_unit_test_setup_teardown(cpus_beyond_the_maximum_are_left_out, build, discard),
        cmocka_unit_test_setup_teardown(random_damage_is_survived, build, discard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
