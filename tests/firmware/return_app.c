/* A UEFI application for tests: calls the kernel once for every \runN.cpio, and looks at what the
 * firmware can do afterwards: CPU state, local APIC, timer, files, other CPUs.  What it finds goes
 * to \results.txt, a line each; then it powers the machine off, or resets it if there is \reset.
 */
#include <efi.h>
#include <efilib.h>

#include "include/boot_info.h"
#include "include/kernel_layout.h"
#include "tests/firmware/cpu_state.h"
#include "tests/firmware/elf_image.h"
#include "tests/firmware/protocols.h"

#define MIB (1ull << 20)
#define RAM_PIECES 40 /* many small ranges */
#define RAM_PIECE_BYTES (2 * MIB)
#define LATE_VECTOR 0x45 /* as of a device that the firmware uses */
#define TIMEOUT_NS 4000000000ull
#define BUFFER_BYTES (24 * MIB)
#define HIGH_MEMORY (4096 * MIB)

struct file_bytes {
    UINT64 base;
    UINTN bytes;
};

static EFI_FILE_HANDLE root;
static CHAR8 results[64 << 10];
static UINTN results_bytes;
static UINTN ticks;
static volatile UINTN late; /* interrupts LATE_VECTOR */

static void say(const CHAR8 *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    results_bytes +=
        AsciiVSPrint(results + results_bytes, sizeof results - results_bytes, format, arguments);
    va_end(arguments);
}

static void check(UINTN run, const char *what, BOOLEAN good)
{
    say((const CHAR8 *)"run %d: %a: %a\n", run, what, good ? "ok" : "FAILED");
}

static UINT64 allocate(EFI_ALLOCATE_TYPE type, UINT64 limit, UINT64 bytes)
{
    EFI_PHYSICAL_ADDRESS address = limit;

    if (BS->AllocatePages(type, EfiLoaderData, EFI_SIZE_TO_PAGES(bytes), &address))
        return 0;
    return address;
}

static UINT64 allocate_low(UINT64 bytes)
{
    return allocate(AllocateMaxAddress, 0xffffffff, bytes);
}

/* Above 4 GiB, where there is memory. */
static UINT64 allocate_high(UINT64 bytes)
{
    for (UINT64 at = HIGH_MEMORY; at < 2 * HIGH_MEMORY; at += 32 * MIB) {
        UINT64 found = allocate(AllocateAddress, at, bytes);
        if (found)
            return found;
    }
    return allocate_low(bytes);
}

static BOOLEAN read_file(CHAR16 *name, struct file_bytes *out)
{
    EFI_FILE_HANDLE file;
    EFI_FILE_INFO *info;
    EFI_STATUS status;

    if (root->Open(root, &file, name, EFI_FILE_MODE_READ, 0))
        return FALSE;
    info = LibFileInfo(file);
    out->bytes = info->FileSize;
    out->base = allocate_high(out->bytes + 1);
    status = out->base ? file->Read(file, &out->bytes, (void *)out->base) : EFI_OUT_OF_RESOURCES;
    file->Close(file);
    FreePool(info);
    return status == EFI_SUCCESS;
}

static BOOLEAN write_file(CHAR16 *name, const void *bytes, UINTN count)
{
    EFI_FILE_HANDLE file;
    UINTN written = count;

    if (root->Open(root, &file, name,
                   EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0))
        return FALSE;
    EFI_STATUS status = file->Write(file, &written, (void *)bytes);
    return file->Close(file) == EFI_SUCCESS && status == EFI_SUCCESS && written == count;
}

static void EFIAPI count_tick(EFI_EVENT event, void *context)
{
    (void)event;
    ++*(volatile UINTN *)context;
}

/* The firmware's time: a one-shot event, a periodic one, and Stall. */
static void check_timer(UINTN run)
{
    EFI_EVENT once, often;
    UINTN index;

    BS->CreateEvent(EVT_TIMER, 0, NULL, NULL, &once);
    BS->CreateEvent(EVT_TIMER | EVT_NOTIFY_SIGNAL, TPL_CALLBACK, count_tick, &ticks, &often);
    BS->SetTimer(once, TimerRelative, 500000); /* 50 ms */
    check(run, "a timer event is waited for", BS->WaitForEvent(1, &once, &index) == EFI_SUCCESS);
    ticks = 0;
    BS->SetTimer(often, TimerPeriodic, 200000); /* 20 ms */
    BS->Stall(600000);
    BS->SetTimer(often, TimerCancel, 0);
    UINTN seen = *(volatile UINTN *)&ticks;
    check(run, "a periodic event comes again and again", seen >= 5 && seen <= 31);
    BS->CloseEvent(once);
    BS->CloseEvent(often);
}

static void check_files(UINTN run)
{
    static UINT8 pattern[300000];
    struct file_bytes back;
    CHAR16 name[32];

    for (UINTN i = 0; i < sizeof pattern; i++)
        pattern[i] = (UINT8)(i * 7 + run);
    SPrint(name, sizeof name, L"\\back%d.bin", run);
    check(run, "a file is written", write_file(name, pattern, sizeof pattern));
    check(run, "and read back",
          read_file(name, &back) && back.bytes == sizeof pattern &&
              CompareMem((void *)back.base, pattern, sizeof pattern) == 0);
}

static void EFIAPI on_other_cpu(void *context)
{
    if (!counters_are_on())
        __atomic_add_fetch((UINTN *)context, 1, __ATOMIC_SEQ_CST);
}

static void EFIAPI on_late_interrupt(INTN vector, void *context)
{
    (void)vector;
    (void)context;
    late++;
    apic_write(0xb0, 0);
}

/* An interrupt that arrives while the kernel has the machine is the firmware's to take. */
static void prepare_late_interrupt(void)
{
    EFI_GUID guid = CPU_ARCH_GUID;
    struct cpu_arch *cpu;

    late = 0;
    if (!BS->LocateProtocol(&guid, NULL, (void **)&cpu)) {
        cpu->register_interrupt_handler(cpu, LATE_VECTOR, NULL);
        cpu->register_interrupt_handler(cpu, LATE_VECTOR, on_late_interrupt);
    }
}

/* All other CPUs answer the firmware. */
static void check_cpus(UINTN run)
{
    EFI_GUID guid = MP_SERVICES_GUID;
    struct mp_services *mp;
    UINTN all = 0, enabled = 0, answered = 0;

    if (BS->LocateProtocol(&guid, NULL, (void **)&mp) ||
        mp->get_number_of_processors(mp, &all, &enabled)) {
        say((const CHAR8 *)"run %d: no MP services\n", run);
        return;
    }
    EFI_STATUS status =
        all > 1 ? mp->startup_all_aps(mp, on_other_cpu, FALSE, NULL, 20000000, &answered, NULL)
                : EFI_SUCCESS;
    check(run, "the other CPUs answer", status == EFI_SUCCESS && answered == all - 1);
    say((const CHAR8 *)"run %d: %d CPUs\n", run, all);
}

static void check_state(UINTN run, const struct cpu_state *before)
{
    struct cpu_state after;

    cpu_state_read(&after);
    if (!before->tr)
        after.tr = 0; /* none cannot be loaded again */
    for (UINTN i = 0; i < CPU_STATE_WORDS; i++) {
        if (((const UINT64 *)&after)[i] != ((const UINT64 *)before)[i])
            say((const CHAR8 *)"run %d: state word %d is %lx, was %lx: FAILED\n", run, i,
                ((const UINT64 *)&after)[i], ((const UINT64 *)before)[i]);
    }
    check(run, "no interrupt is in service", apic_in_service() == 0);
}

static void add_range(struct boot_info *boot, UINT64 base, UINT64 bytes, UINT32 kind)
{
    if (!base)
        return;
    boot->ranges[boot->range_count++] =
        (struct boot_memory_range){.base = base, .bytes = bytes, .kind = kind};
}

/* RAM in pieces, a buffer of two, one of them above 4 GiB if there is memory. */
static struct boot_info *make_boot(UINT64 kernel)
{
    EFI_GUID acpi = ACPI_20_TABLE_GUID;
    struct boot_info *boot = (void *)allocate_low(sizeof *boot);

    SetMem(boot, sizeof *boot, 0);
    boot->entry = BOOT_ENTRY_UEFI;
    boot->output = BOOT_OUTPUT_MEMORY;
    boot->timeout_ns = TIMEOUT_NS;
    boot->kernel_physical = kernel;
    boot->trampoline = allocate(AllocateMaxAddress, 0x9efff, PAGE_BYTES);
    LibGetSystemConfigurationTable(&acpi, (void **)&boot->rsdp);
    for (UINTN i = 0; i < RAM_PIECES; i++) {
        allocate_low(PAGE_BYTES); /* a hole */
        add_range(boot, allocate_low(RAM_PIECE_BYTES), RAM_PIECE_BYTES, BOOT_MEMORY_RAM);
    }
    add_range(boot, allocate_high(BUFFER_BYTES), BUFFER_BYTES, BOOT_MEMORY_BUFFER);
    add_range(boot, allocate_low(BUFFER_BYTES), BUFFER_BYTES, BOOT_MEMORY_BUFFER);
    return boot;
}

static UINT64 allocate_kernel(void)
{
    UINT64 base = allocate_low(4 * LARGE_PAGE_BYTES);

    return (base + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1ull);
}

/* System V's calling convention; registers that only UEFI's own preserves, or none, are back, too.
 */
static UINT64 call_kernel(UINTN run, struct boot_info *boot, UINT64 entry)
{
    static const UINT64 pattern[2] = {0x123456789abcdef0, 0x0fedcba987654321};
    UINT64 end, back[2];
    UINT32 mxcsr = 0x3f80, after; /* rounds down */
    prepare_late_interrupt();
    EFI_TPL old = BS->RaiseTPL(TPL_HIGH_LEVEL);
    apic_write(0x300, 0x44000 | LATE_VECTOR); /* to itself */

    __asm__ volatile("ldmxcsr %[mxcsr]\n\t"
                     "movups %[pattern], %%xmm9\n\t"
                     "mov %%rsp, %%rbx\n\t"
                     "and $-16, %%rsp\n\t"
                     "call *%[entry]\n\t"
                     "mov %%rbx, %%rsp\n\t"
                     "movups %%xmm9, %[back]\n\t"
                     "stmxcsr %[after]"
                     : "=a"(end), [back] "=m"(back), [after] "=m"(after), "+D"(boot)
                     : [pattern] "m"(pattern), [mxcsr] "m"(mxcsr), [entry] "r"(entry)
                     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm9", "memory",
                       "cc");
    mxcsr = 0x1f80;
    __asm__ volatile("ldmxcsr %0" ::"m"(mxcsr));
    check(run, "an interrupt waits", late == 0);
    BS->RestoreTPL(old);
    check(run, "and is taken", late == 1);
    check(run, "vector registers are the same",
          back[0] == pattern[0] && back[1] == pattern[1] && after == 0x3f80);
    return end;
}

static void run_once(UINTN run, struct boot_info *boot, const struct file_bytes *kernel,
                     const struct file_bytes *archive)
{
    struct cpu_state before;
    UINT64 entry =
        elf_image_load((const void *)kernel->base, kernel->bytes, (void *)boot->kernel_physical);

    boot->archive_base = archive->base;
    boot->archive_bytes = archive->bytes;
    SetMem(&boot->result, sizeof boot->result, 0);
    say((const CHAR8 *)"run %d: archive at %lx, buffer at %lx\n", run, boot->archive_base,
        boot->ranges[boot->range_count - 2].base);
    cpu_state_read(&before);
    UINT32 ranges = boot->range_count;
    UINT64 place = boot->kernel_physical;
    if (archive->bytes == 0)
        boot->range_count = 0; /* a kernel without memory */
    if (archive->bytes == 1)
        boot->kernel_physical += LARGE_PAGE_BYTES; /* a loader that is wrong */
    UINT64 end = entry ? call_kernel(run, boot, entry) : 99;
    boot->range_count = ranges;
    boot->kernel_physical = place;
    check_state(run, &before);
    say((const CHAR8 *)"run %d: end %ld, %d, exit kind %d, code %d, %ld bytes\n", run, end,
        boot->result.end, boot->result.exit_kind, boot->result.exit_code, boot->result.sent_bytes);
    if (boot->result.report_bytes)
        say((const CHAR8 *)"run %d: report: %a\n", run, boot->result.report);
    check_timer(run);
    check_files(run);
    check_cpus(run);
    write_file(L"\\results.txt", results, results_bytes);
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table); /* gnu-efi calls it */

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    EFI_LOADED_IMAGE *self;
    struct file_bytes kernel, archive;
    CHAR16 name[32];

    InitializeLib(image, table);
    BS->SetWatchdogTimer(0, 0, 0, NULL);
    BS->HandleProtocol(image, &LoadedImageProtocol, (void **)&self);
    root = LibOpenRoot(self->DeviceHandle);
    if (!read_file(L"\\guest.elf", &kernel))
        return EFI_NOT_FOUND;
    struct boot_info *boot = make_boot(allocate_kernel());
    check_cpus(0);
    for (UINTN run = 1;; run++) {
        SPrint(name, sizeof name, L"\\run%d.cpio", run);
        if (!read_file(name, &archive))
            break;
        run_once(run, boot, &kernel, &archive);
    }
    say((const CHAR8 *)"all done\n");
    write_file(L"\\results.txt", results, results_bytes);
    RT->ResetSystem(read_file(L"\\reset", &archive) ? EfiResetCold : EfiResetShutdown, EFI_SUCCESS,
                    0, NULL);
    return EFI_DEVICE_ERROR;
}
