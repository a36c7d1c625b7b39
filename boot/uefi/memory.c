/* Allocates memory of the firmware (UEFI 2.10, 7.2 "Memory Allocation Services"). */
#include "boot/uefi/memory.h"

#include <string.h>

#include "boot/uefi/firmware.h"
#include "include/kernel_layout.h"
#include "lib/format.h"
#include "lib/round.h"

#define LOW_END 0x9f000ull /* the firmware often uses the last page below 640 KiB */
#define KERNEL_END (1ull << 32)
#define MAP_BYTES (128u << 10) /* room for 2,700 descriptors */
#define TRIES 4

/* UEFI 2.10, chapter 37, "EFI_MEMORY_ATTRIBUTE_PROTOCOL"; gnu-efi 3.0.15 does not have it. */
struct memory_attributes {
    void *get;
    EFI_STATUS(EFIAPI *set)
    (struct memory_attributes *self, EFI_PHYSICAL_ADDRESS base, UINT64 bytes, UINT64 attributes);
    EFI_STATUS(EFIAPI *clear)
    (struct memory_attributes *self, EFI_PHYSICAL_ADDRESS base, UINT64 bytes, UINT64 attributes);
};
#define MEMORY_ATTRIBUTE_PROTOCOL_GUID                     \
    {                                                      \
        0xf4560cf6, 0x40ec, 0x4b4a,                        \
        {                                                  \
            0xa1, 0x92, 0xbf, 0x1d, 0x57, 0xd0, 0xb1, 0x89 \
        }                                                  \
    }

#define MEMORY_READ_ONLY 0x20000ull /* EFI_MEMORY_RO */

static uint8_t map[MAP_BYTES] __attribute__((aligned(16)));
static struct plan_free free_ranges[PLAN_FREE_MAX];

/* Allocates `pages` that end below `end`; returns 0 if there are none. */
static uint64_t allocate_below(uint64_t end, uint64_t pages, EFI_MEMORY_TYPE type)
{
    EFI_PHYSICAL_ADDRESS address = end - 1;

    if (EFI_ERROR(firmware.boot->AllocatePages(AllocateMaxAddress, type, pages, &address)))
        return 0;
    return address;
}

/* The kernel is called in place; firmware that makes data non-executable must be told. */
static void make_executable(uint64_t base, uint64_t bytes)
{
    static const EFI_GUID guid = MEMORY_ATTRIBUTE_PROTOCOL_GUID;
    size_t count;
    EFI_HANDLE *handles = firmware_handles(&guid, &count);
    struct memory_attributes *attributes = count > 0 ? firmware_protocol(handles[0], &guid) : NULL;

    if (attributes != NULL)
        attributes->clear(attributes, base, bytes, EFI_MEMORY_XP | MEMORY_READ_ONLY);
    firmware_free_pool(handles);
}

/* Allocates one large page more than needed, so that an aligned part is in it; frees the rest. */
static uint64_t allocate_kernel(uint64_t bytes)
{
    uint64_t size = round_up(bytes, LARGE_PAGE_BYTES);
    uint64_t pages = (size + LARGE_PAGE_BYTES) / PAGE_BYTES;
    uint64_t base = allocate_below(KERNEL_END, pages, EfiLoaderCode), kernel, end;

    if (!base)
        return 0;
    end = base + pages * PAGE_BYTES;
    kernel = round_up(base, LARGE_PAGE_BYTES);
    if (kernel > base)
        firmware.boot->FreePages(base, (kernel - base) / PAGE_BYTES);
    if (end > kernel + size)
        firmware.boot->FreePages(kernel + size, (end - kernel - size) / PAGE_BYTES);
    make_executable(kernel, size);
    return kernel;
}

/* Pages come from the top, so the very first page is used only if there is no other. */
static uint64_t allocate_trampoline(void)
{
    return allocate_below(LOW_END, 1, EfiLoaderCode);
}

bool memory_init(struct memory *memory, uint64_t kernel_bytes, char why[MEMORY_WHY_BYTES])
{
    uint64_t info_pages = (sizeof *memory->info + PAGE_BYTES - 1) / PAGE_BYTES;

    memory->kernel = allocate_kernel(kernel_bytes);
    memory->trampoline = allocate_trampoline();
    memory->info =
        (struct boot_info *)(uintptr_t)allocate_below(KERNEL_END, info_pages, EfiLoaderData);
    memory->plan.range_count = 0;
    if (memory->kernel && memory->trampoline && memory->info != NULL)
        return true;
    format_text(why, MEMORY_WHY_BYTES,
                !memory->trampoline
                    ? "not enough memory: the firmware has no free page below 636 KiB"
                    : "not enough memory: the kernel needs %lu KiB below 4 GiB",
                kernel_bytes / 1024);
    return false;
}

static bool is_free(const EFI_MEMORY_DESCRIPTOR *d)
{
    return d->Type == EfiConventionalMemory && d->PhysicalStart >= (1 << 20) &&
           d->NumberOfPages <= UINT64_MAX / PAGE_BYTES;
}

static EFI_STATUS read_map(size_t *count)
{
    UINTN bytes = sizeof map, key, descriptor_bytes = 0;
    UINT32 version;
    EFI_STATUS status = firmware.boot->GetMemoryMap(&bytes, (EFI_MEMORY_DESCRIPTOR *)map, &key,
                                                    &descriptor_bytes, &version);

    *count = 0;
    if (EFI_ERROR(status) || descriptor_bytes < sizeof(EFI_MEMORY_DESCRIPTOR))
        return status;
    for (UINTN at = 0; at + descriptor_bytes <= bytes && *count < PLAN_FREE_MAX;
         at += descriptor_bytes) {
        const EFI_MEMORY_DESCRIPTOR *d = (const EFI_MEMORY_DESCRIPTOR *)(map + at);

        if (is_free(d))
            free_ranges[(*count)++] =
                (struct plan_free){d->PhysicalStart, d->NumberOfPages * PAGE_BYTES};
    }
    return EFI_SUCCESS;
}

/* Allocates all ranges of the plan, or none. */
static bool allocate_ranges(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->range_count; i++) {
        EFI_PHYSICAL_ADDRESS address = plan->ranges[i].base;

        if (!EFI_ERROR(firmware.boot->AllocatePages(AllocateAddress, EfiLoaderData,
                                                    plan->ranges[i].bytes / PAGE_BYTES, &address)))
            continue;
        while (i-- > 0)
            firmware_free(plan->ranges[i].base, plan->ranges[i].bytes);
        plan->range_count = 0;
        return false;
    }
    return true;
}

static const char *size_text(uint64_t bytes, char out[24])
{
    if (bytes == BOOT_CONF_ALL)
        return "all";
    if (bytes == BOOT_CONF_USUAL)
        return "as usual";
    format_text(out, 24, "%lu MiB", bytes >> 20);
    return out;
}

static void say_shortage(const struct plan *plan, const struct boot_conf *conf,
                         char why[MEMORY_WHY_BYTES])
{
    char memory[24], buffer[24];

    format_text(why, MEMORY_WHY_BYTES,
                "not enough memory: memory = %s and buffer = %s are wanted; %lu MiB are free, of "
                "which the firmware keeps %lu MiB: lower memory or buffer in microtome.conf",
                size_text(conf->memory_bytes, memory), size_text(conf->buffer_bytes, buffer),
                plan->free_bytes >> 20, plan->reserve_bytes >> 20);
}

/* The firmware's timers may take memory between map and allocation: then it tries again. */
bool memory_take(struct memory *memory, const struct boot_conf *conf, char why[MEMORY_WHY_BYTES])
{
    const struct plan_wish wish = {conf->memory_bytes, conf->buffer_bytes};
    EFI_STATUS status = EFI_SUCCESS;
    size_t count;

    for (int i = 0; i < TRIES; i++) {
        status = read_map(&count);
        if (EFI_ERROR(status))
            break;
        if (!plan_make(&memory->plan, free_ranges, count, wish)) {
            say_shortage(&memory->plan, conf, why);
            memory->plan.range_count = 0;
            return false;
        }
        if (allocate_ranges(&memory->plan))
            return true;
        status = EFI_OUT_OF_RESOURCES;
    }
    memory->plan.range_count = 0;
    format_text(why, MEMORY_WHY_BYTES, "the firmware does not give its free memory: %s",
                firmware_error(status));
    return false;
}

void memory_free(struct memory *memory, enum boot_memory_kind kind)
{
    struct boot_memory_range *ranges = memory->plan.ranges;

    for (uint32_t i = 0; i < memory->plan.range_count; i++)
        if (ranges[i].kind == (uint32_t)kind) {
            firmware_free(ranges[i].base, ranges[i].bytes);
            ranges[i].kind = 0;
        }
}
