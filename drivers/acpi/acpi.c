/* Finds and reads the ACPI tables that Microtome needs.  The firmware's data are checked first. */
#include "drivers/acpi/acpi.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "drivers/firmware_memory.h"
#include "lib/array.h"
#include "lib/bytes.h"
#include "lib/x86.h"

#define TABLE_BYTES_MAX (1u << 20) /* larger than any table that is read here */
#define TABLES_MAX 256

/* ACPI 6.4, table 5.4: offsets in the description header that starts every table */
enum {
    HEADER_LENGTH = 4,
    HEADER_BYTES = 36,
};

/* 5.2.5.3, Root System Description Pointer */
enum {
    RSDP_V1_BYTES = 20,
    RSDP_V2_BYTES = 36,
    RSDP_REVISION = 15,
    RSDP_RSDT = 16,
    RSDP_LENGTH = 20,
    RSDP_XSDT = 24,
};

/* 5.2.12, Multiple APIC Description Table */
enum {
    MADT_APIC_ADDRESS = 36,
    MADT_ENTRIES = 44,
    MADT_LOCAL_APIC = 0,
    MADT_APIC_ADDRESS_OVERRIDE = 5,
    MADT_LOCAL_X2APIC = 9,
    MADT_ENABLED = 1,
};

/* 5.2.9, Fixed ACPI Description Table; 5.2.3.2, Generic Address Structure */
enum {
    FADT_PM_TIMER_BLOCK = 76,
    FADT_PM_TIMER_LENGTH = 91,
    FADT_FLAGS = 112,
    FADT_X_PM_TIMER_BLOCK = 208,
    FADT_TIMER_32BIT = 1 << 8,
    GAS_ADDRESS = 4,
    GAS_BYTES = 12,
    GAS_SPACE_MEMORY = 0,
    GAS_SPACE_IO = 1,
};

enum { HPET_ADDRESS = 40, HPET_BYTES = 56 }; /* IA-PC HPET specification 1.0a, 3.2.4 */

/* Intel VT for Directed I/O, "DMA Remapping Reporting Structure" */
enum { DMAR_FLAGS = 37, DMAR_BYTES = 48, DMAR_X2APIC_OPT_OUT = 1 << 1 };

/* PCI Firmware Specification 3.0, 4.1.2, "MCFG Table Description" */
enum {
    MCFG_ENTRIES = 44,
    MCFG_ENTRY_BYTES = 16,
    MCFG_SEGMENT = 8,
    MCFG_FIRST_BUS = 10,
    MCFG_LAST_BUS = 11,
};

#define DEFAULT_APIC_BASE 0xfee00000u

static bool rsdp_valid(const uint8_t *rsdp)
{
    return memcmp(rsdp, "RSD PTR ", 8) == 0 && firmware_memory_sums_to_zero(rsdp, RSDP_V1_BYTES);
}

/* 5.2.5.1: the RSDP is on a 16-byte boundary. */
static uint64_t rsdp_search(uint64_t start, uint64_t end)
{
    for (uint64_t address = start; address + RSDP_V2_BYTES <= end; address += 16) {
        const uint8_t *bytes = firmware_memory(address, RSDP_V2_BYTES);
        if (bytes != NULL && rsdp_valid(bytes))
            return address;
    }
    return 0;
}

static uint64_t rsdp_find(void)
{
    const uint8_t *segment = firmware_memory(0x40e, 2); /* BIOS data area: the EBDA's segment */
    uint64_t ebda = segment != NULL ? (uint64_t)(segment[0] | segment[1] << 8) << 4 : 0;
    uint64_t found = 0;

    if (ebda >= 0x400 && ebda < 0xa0000)
        found = rsdp_search(ebda, ebda + 1024 < 0xa0000 ? ebda + 1024 : 0xa0000);
    return found ? found : rsdp_search(0xe0000, 0x100000);
}

/* Returns a checked table and its length, or NULL. */
static const uint8_t *table_at(uint64_t address, const char *signature, uint32_t *length)
{
    const uint8_t *table = firmware_memory(address, HEADER_BYTES);

    if (table == NULL || memcmp(table, signature, 4) != 0)
        return NULL;
    *length = bytes_load32(table + HEADER_LENGTH);
    if (*length < HEADER_BYTES || *length > TABLE_BYTES_MAX ||
        firmware_memory(address, *length) == NULL)
        return NULL;
    return firmware_memory_sums_to_zero(table, *length) ? table : NULL;
}

struct root { /* RSDT or XSDT */
    const uint8_t *table;
    uint32_t length;
    uint32_t entry_bytes;
};

static int root_open(uint64_t rsdp_address, struct root *root)
{
    const uint8_t *rsdp = firmware_memory(rsdp_address, RSDP_V2_BYTES);

    if (rsdp == NULL || !rsdp_valid(rsdp))
        return -ENOENT;
    root->table = NULL;
    if (rsdp[RSDP_REVISION] >= 2 && bytes_load32(rsdp + RSDP_LENGTH) == RSDP_V2_BYTES &&
        firmware_memory_sums_to_zero(rsdp, RSDP_V2_BYTES)) {
        root->entry_bytes = 8;
        root->table = table_at(bytes_load64(rsdp + RSDP_XSDT), "XSDT", &root->length);
    }
    if (root->table == NULL) {
        root->entry_bytes = 4;
        root->table = table_at(bytes_load32(rsdp + RSDP_RSDT), "RSDT", &root->length);
    }
    return root->table != NULL ? 0 : -ENOENT;
}

static const uint8_t *table_find(const struct root *root, const char *signature, uint32_t *length)
{
    uint32_t count = (root->length - HEADER_BYTES) / root->entry_bytes;

    for (uint32_t i = 0; i < count && i < TABLES_MAX; i++) {
        const uint8_t *entry = root->table + HEADER_BYTES + (size_t)i * root->entry_bytes;
        uint64_t address = root->entry_bytes == 8 ? bytes_load64(entry) : bytes_load32(entry);
        const uint8_t *table = table_at(address, signature, length);
        if (table != NULL)
            return table;
    }
    return NULL;
}

/* A CPU may be listed both as local APIC and as local x2APIC. */
static void cpu_add(struct acpi_machine *machine, uint32_t apic_id)
{
    for (uint32_t i = 0; i < machine->cpu_count; i++)
        if (machine->apic_ids[i] == apic_id)
            return;
    if (machine->cpu_count < ACPI_CPUS_MAX)
        machine->apic_ids[machine->cpu_count++] = apic_id;
}

static void madt_entry(const uint8_t *entry, uint8_t length, struct acpi_machine *machine)
{
    if (entry[0] == MADT_LOCAL_APIC && length >= 8) {
        if (entry[3] != 0xff && bytes_load32(entry + 4) & MADT_ENABLED)
            cpu_add(machine, entry[3]);
    } else if (entry[0] == MADT_LOCAL_X2APIC && length >= 16) {
        if (bytes_load32(entry + 8) & MADT_ENABLED)
            cpu_add(machine, bytes_load32(entry + 4));
    } else if (entry[0] == MADT_APIC_ADDRESS_OVERRIDE && length >= 12) {
        machine->local_apic_base = bytes_load64(entry + 4);
    }
}

static void madt_read(const uint8_t *table, uint32_t length, struct acpi_machine *machine)
{
    if (length < MADT_ENTRIES)
        return;
    machine->local_apic_base = bytes_load32(table + MADT_APIC_ADDRESS);
    for (uint32_t offset = MADT_ENTRIES; length - offset >= 2;) {
        uint8_t entry_length = table[offset + 1];
        if (entry_length < 2 || entry_length > length - offset)
            return;
        madt_entry(table + offset, entry_length, machine);
        offset += entry_length;
    }
}

static void fadt_read(const uint8_t *table, uint32_t length, struct acpi_machine *machine)
{
    uint64_t port;
    const uint8_t *extended;

    if (length < FADT_FLAGS + 4 || table[FADT_PM_TIMER_LENGTH] != 4)
        return;
    port = bytes_load32(table + FADT_PM_TIMER_BLOCK);
    extended = table + FADT_X_PM_TIMER_BLOCK;
    if (port == 0 && length >= FADT_X_PM_TIMER_BLOCK + GAS_BYTES && extended[0] == GAS_SPACE_IO)
        port = bytes_load64(extended + GAS_ADDRESS);
    if (port == 0 || port > 0xfffc)
        return;
    machine->pm_timer_port = (uint16_t)port;
    machine->pm_timer_32bit = (bytes_load32(table + FADT_FLAGS) & FADT_TIMER_32BIT) != 0;
}

static void hpet_read(const uint8_t *table, uint32_t length, struct acpi_machine *machine)
{
    if (length >= HPET_BYTES && table[HPET_ADDRESS] == GAS_SPACE_MEMORY)
        machine->hpet_base = bytes_load64(table + HPET_ADDRESS + GAS_ADDRESS);
}

static void dmar_read(const uint8_t *table, uint32_t length, struct acpi_machine *machine)
{
    machine->x2apic_opt_out = length >= DMAR_BYTES && table[DMAR_FLAGS] & DMAR_X2APIC_OPT_OUT;
}

static void mcfg_read(const uint8_t *table, uint32_t length, struct acpi_machine *machine)
{
    for (uint32_t at = MCFG_ENTRIES; at + MCFG_ENTRY_BYTES <= length; at += MCFG_ENTRY_BYTES) {
        const uint8_t *entry = table + at;

        if (entry[MCFG_SEGMENT] != 0 || entry[MCFG_SEGMENT + 1] != 0)
            continue;
        machine->pci_config_base = bytes_load64(entry);
        machine->pci_config_first = entry[MCFG_FIRST_BUS];
        machine->pci_config_last = entry[MCFG_LAST_BUS];
        return;
    }
}

static void tables_read(const struct root *root, struct acpi_machine *machine)
{
    static const struct {
        const char *signature;
        void (*read)(const uint8_t *table, uint32_t length, struct acpi_machine *machine);
    } readers[] = {{"APIC", madt_read},
                   {"FACP", fadt_read},
                   {"HPET", hpet_read},
                   {"DMAR", dmar_read},
                   {"MCFG", mcfg_read}};

    for (size_t i = 0; i < ARRAY_COUNT(readers); i++) {
        uint32_t length;
        const uint8_t *table = table_find(root, readers[i].signature, &length);

        if (table != NULL)
            readers[i].read(table, length, machine);
    }
}

int acpi_read(uint64_t rsdp, struct acpi_machine *machine)
{
    struct root root;
    int error;

    memset(machine, 0, sizeof *machine);
    machine->local_apic_base = DEFAULT_APIC_BASE;
    error = root_open(rsdp ? rsdp : rsdp_find(), &root);
    if (!error)
        tables_read(&root, machine);
    if (machine->cpu_count == 0) {
        machine->apic_ids[0] = x86_cpuid(1, 0).ebx >> 24;
        machine->cpu_count = 1;
    }
    return error;
}
