/* The kernel's own mappings, and what the CPU has to protect them. */
#include <string.h>

#include "guest/base/image.h"
#include "guest/base/log.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_kernel.h"
#include "guest/memory/vm_table.h"
#include "lib/x86.h"

#define EFER_NXE (1ull << 11)
#define CR0_WP (1ull << 16)
#define CR4_PGE (1ull << 7)
#define CR4_UMIP (1ull << 11)
#define CR4_SMEP (1ull << 20)
#define CR4_SMAP (1ull << 21)
#define GIB PHYS_MAP_BYTES
#define FLUSH_EACH_MAX 32u /* pages; more are flushed by reloading CR3 */
#define KERNEL_HALF 256u /* first entry of the top table that is the kernel's */

static uint64_t kernel_root;
static uint64_t device_next = DEVICE_MAP;

void vm_kernel_map(uint64_t address, uint64_t physical, unsigned level, uint64_t flags)
{
    uint64_t *entry = vm_table_make(kernel_root, address, level);

    if (entry == NULL)
        panic("no memory for the kernel's page tables");
    *entry = physical | flags | VM_ENTRY_PRESENT | VM_ENTRY_GLOBAL | VM_ENTRY_ACCESSED |
             VM_ENTRY_DIRTY | (level == VM_LEVEL_LARGE ? VM_ENTRY_LARGE : 0);
}

static void map_image(uint64_t start, uint64_t end, uint64_t flags)
{
    for (uint64_t address = start; address < end; address += PAGE_BYTES)
        vm_kernel_map(address, image_physical((const void *)address), VM_LEVEL_PAGE, flags);
}

static void map_memory(void)
{
    for (uint64_t base = 0; base < phys_mapped_end(); base += GIB) {
        uint64_t *entries;

        vm_kernel_map(DIRECT_MAP + base, base, VM_LEVEL_LARGE,
                      VM_ENTRY_WRITE | VM_ENTRY_NO_EXECUTE);
        entries = vm_table_make(kernel_root, DIRECT_MAP + base, VM_LEVEL_LARGE);
        for (uint64_t i = 1; i < 512; i++)
            entries[i] = entries[0] + i * LARGE_PAGE_BYTES;
    }
}

void vm_init(void)
{
    kernel_root = vm_table_new();
    if (!kernel_root)
        panic("no memory for the kernel's page tables");
    vm_enable_protection();
    map_memory();
    map_image((uint64_t)kernel_start, (uint64_t)kernel_text_end, 0);
    map_image((uint64_t)kernel_text_end, (uint64_t)kernel_rodata_end, VM_ENTRY_NO_EXECUTE);
    map_image((uint64_t)kernel_rodata_end, (uint64_t)kernel_end,
              VM_ENTRY_WRITE | VM_ENTRY_NO_EXECUTE);
    /* Every address space copies the kernel's top entries: this one must exist before the first. */
    if (vm_table_make(kernel_root, DEVICE_MAP, VM_LEVEL_TOP - 1) == NULL)
        panic("no memory for the kernel's page tables");
    if (vm_table_make(kernel_root, STACK_MAP, VM_LEVEL_TOP - 1) == NULL)
        panic("no memory for the kernel's page tables");
    x86_write_cr3(kernel_root);
    phys_add_high();
}

void vm_enable_protection(void)
{
    struct cpuid_result leaf7 = {0, 0, 0, 0};
    uint64_t cr4 = x86_read_cr4() | CR4_PGE;

    if (x86_cpuid(0, 0).eax >= 7)
        leaf7 = x86_cpuid(7, 0);
    if (leaf7.ebx >> 7 & 1)
        cr4 |= CR4_SMEP;
    if (leaf7.ebx >> 20 & 1)
        cr4 |= CR4_SMAP;
    if (leaf7.ecx >> 2 & 1)
        cr4 |= CR4_UMIP;
    x86_wrmsr(X86_MSR_EFER, x86_rdmsr(X86_MSR_EFER) | EFER_NXE);
    x86_write_cr0(x86_read_cr0() | CR0_WP);
    x86_write_cr4(cr4);
}

void vm_seal(void)
{
    uint64_t start = (uint64_t)kernel_rodata_end, end = (uint64_t)kernel_sealed_end;

    map_image(start, end, VM_ENTRY_NO_EXECUTE);
    vm_table_forget(start, end);
}

uint64_t vm_kernel_root(void)
{
    return kernel_root;
}

void vm_kernel_share(uint64_t *top)
{
    memcpy(top + KERNEL_HALF, (const uint64_t *)phys_pointer(kernel_root) + KERNEL_HALF,
           (512 - KERNEL_HALF) * sizeof *top);
}

uint64_t vm_start_root(void)
{
    vm_kernel_share(boot_pml4);
    return image_physical(boot_pml4);
}

void vm_table_forget(uint64_t start, uint64_t end)
{
    if ((end - start) / PAGE_BYTES > FLUSH_EACH_MAX) {
        x86_write_cr3(x86_read_cr3());
        return;
    }
    for (uint64_t address = start; address < end; address += PAGE_BYTES)
        x86_invlpg(address);
}

uint64_t vm_map_device(uint64_t physical, uint64_t bytes)
{
    uint64_t first = physical & ~(PAGE_BYTES - 1ull);
    uint64_t address = device_next;

    for (uint64_t at = first; at < physical + bytes; at += PAGE_BYTES) {
        vm_kernel_map(device_next, at, VM_LEVEL_PAGE,
                      VM_ENTRY_WRITE | VM_ENTRY_NO_EXECUTE | VM_ENTRY_UNCACHED |
                          VM_ENTRY_WRITE_THROUGH);
        device_next += PAGE_BYTES;
    }
    device_next += PAGE_BYTES; /* a hole, so that an overrun faults */
    return address + (physical - first);
}

/* Each with an unmapped gap of its own size below it, so that an overflow faults. */
uint64_t vm_map_stack(uint32_t number, uint64_t physical)
{
    uint64_t address = STACK_MAP + (2 * (uint64_t)number + 1) * KERNEL_STACK_BYTES;

    for (uint64_t at = 0; at < KERNEL_STACK_BYTES; at += PAGE_BYTES) {
        uint64_t *entry = vm_table_make(kernel_root, address + at, VM_LEVEL_PAGE);

        if (entry == NULL)
            return 0;
        *entry = (physical + at) | VM_ENTRY_WRITE | VM_ENTRY_NO_EXECUTE | VM_ENTRY_PRESENT |
                 VM_ENTRY_GLOBAL | VM_ENTRY_ACCESSED | VM_ENTRY_DIRTY;
    }
    return address;
}

uint64_t vm_stack_physical(uint64_t address)
{
    struct vm_slot slot = vm_table_look(kernel_root, address, VM_LEVEL_PAGE);

    return (*slot.entry & VM_ENTRY_ADDRESS) + address % PAGE_BYTES;
}
