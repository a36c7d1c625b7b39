/* Asks firmware and CPU about the machine. */
#include "boot/uefi/machine.h"

#include <string.h>

#include "boot/uefi/firmware.h"
#include "drivers/platform.h"
#include "drivers/smbios/smbios.h"
#include "lib/boot/boot_value.h"
#include "lib/format.h"
#include "lib/hash.h"
#include "lib/x86.h"

#define CPUID_1_ECX_RDRAND (1u << 30) /* SDM volume 2, "CPUID" */
#define PCI_CLASS_REGISTER 0x08 /* revision, interface, subclass, class */
#define PCI_CLASS_NETWORK 0x02

/* For drivers/smbios: while the firmware's tables are in use, memory is mapped one to one. */
const void *platform_physical_pointer(uint64_t physical)
{
    return (const void *)(uintptr_t)physical;
}

/* 4.6, "EFI Configuration Table". */
static uint64_t find_table(const EFI_GUID *guid)
{
    const EFI_SYSTEM_TABLE *table = firmware.table;

    for (UINTN i = 0; i < table->NumberOfTableEntries; i++)
        if (memcmp(&table->ConfigurationTable[i].VendorGuid, guid, sizeof *guid) == 0)
            return (uintptr_t)table->ConfigurationTable[i].VendorTable;
    return 0;
}

uint64_t machine_rsdp(void)
{
    static const EFI_GUID acpi_2 = ACPI_20_TABLE_GUID;
    static const EFI_GUID acpi_1 = ACPI_TABLE_GUID;
    uint64_t found = find_table(&acpi_2);

    return found ? found : find_table(&acpi_1);
}

uint64_t machine_smbios(void)
{
    static const EFI_GUID smbios_3 = SMBIOS3_TABLE_GUID;
    static const EFI_GUID smbios_2 = SMBIOS_TABLE_GUID;
    uint64_t found = find_table(&smbios_3);

    return found ? found : find_table(&smbios_2);
}

/* Writes the address of the first network card that the firmware has a driver for; "" if there is
 * none. */
static void network_address(char out[16])
{
    static const EFI_GUID simple_network = EFI_SIMPLE_NETWORK_PROTOCOL_GUID;
    size_t count;
    EFI_HANDLE *handles = firmware_handles(&simple_network, &count);
    EFI_SIMPLE_NETWORK_PROTOCOL *network = NULL;

    for (size_t i = 0; i < count && network == NULL; i++)
        network = firmware_protocol(handles[i], &simple_network);
    out[0] = '\0';
    if (network != NULL && network->Mode != NULL && network->Mode->HwAddressSize == 6) {
        const UINT8 *a = network->Mode->PermanentAddress.Addr;

        format_text(out, 16, "%02x%02x%02x%02x%02x%02x", a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    firmware_free_pool(handles);
}

void machine_name(char out[BOOT_CONF_NAME_BYTES])
{
    struct smbios smbios;
    char address[16], text[SMBIOS_TEXT_BYTES + sizeof address];
    const uint64_t entry = machine_smbios();
    const size_t product_bytes = BOOT_CONF_NAME_BYTES - sizeof address;

    network_address(address);
    if (!entry || smbios_read(entry, &smbios) != 0)
        smbios.system_product[0] = '\0';
    memcpy(text, smbios.system_product, sizeof smbios.system_product);
    text[product_bytes] = '\0';
    if (!boot_value_sanitise((struct boot_text){text, strlen(text)}, out, BOOT_CONF_NAME_BYTES))
        memcpy(out, "machine", sizeof "machine");
    if (address[0])
        format_text(out + strlen(out), BOOT_CONF_NAME_BYTES - strlen(out), "-%s", address);
}

bool machine_secure_boot(void)
{
    EFI_GUID global = EFI_GLOBAL_VARIABLE;
    UINT8 value = 0;
    UINTN bytes = sizeof value;
    CHAR16 name[] = L"SecureBoot"; /* 3.3, "Globally Defined Variables" */

    return !EFI_ERROR(firmware.runtime->GetVariable(name, &global, NULL, &bytes, &value)) &&
           value == 1;
}

static bool random_of_firmware(uint8_t out[16])
{
    static const EFI_GUID guid = EFI_RNG_PROTOCOL_GUID;
    size_t count;
    EFI_HANDLE *handles;
    bool good = false;

    if (firmware.boot == NULL)
        return false;
    handles = firmware_handles(&guid, &count);
    for (size_t i = 0; i < count && !good; i++) {
        EFI_RNG_PROTOCOL *random = firmware_protocol(handles[i], &guid);

        good = random != NULL && !EFI_ERROR(random->GetRNG(random, NULL, 16, out));
    }
    firmware_free_pool(handles);
    return good;
}

static bool random_of_cpu(uint64_t *out)
{
    uint8_t good = 0;

    if (!(x86_cpuid(1, 0).ecx & CPUID_1_ECX_RDRAND))
        return false;
    for (int i = 0; i < 10 && !good; i++)
        __asm__ volatile("rdrand %0; setc %1" : "=r"(*out), "=qm"(good)::"cc");
    return good;
}

void machine_random(uint8_t out[16])
{
    uint64_t halves[2] = {0, 0}, word = 0;

    /* Mixed with all other sources: two runs never have equal clocks. */
    if (!random_of_firmware(out))
        memset(out, 0, 16);
    memcpy(halves, out, sizeof halves);
    for (int i = 0; i < 2; i++) {
        if (random_of_cpu(&word))
            halves[i] ^= word;
        halves[i] ^= (x86_rdtsc() ^ firmware_unix_ns()) * HASH_GOLDEN;
    }
    memcpy(out, halves, sizeof halves);
}

void machine_release_network(void)
{
    static const EFI_GUID guid = EFI_PCI_IO_PROTOCOL_GUID;
    size_t count;
    EFI_HANDLE *handles = firmware_handles(&guid, &count);

    for (size_t i = 0; i < count; i++) {
        EFI_PCI_IO_PROTOCOL *pci = firmware_protocol(handles[i], &guid);
        UINT32 class = 0;

        if (pci != NULL &&
            !EFI_ERROR(pci->Pci.Read(pci, EfiPciIoWidthUint32, PCI_CLASS_REGISTER, 1, &class)) &&
            class >> 24 == PCI_CLASS_NETWORK)
            firmware.boot->DisconnectController(handles[i], NULL, NULL);
    }
    firmware_free_pool(handles);
}
