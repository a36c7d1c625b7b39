/* Sets up a CPU: descriptor tables, stacks, control registers. */
#include <string.h>

#include "drivers/apic/apic_state.h"
#include "drivers/platform.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/cpu/entry.h"
#include "guest/memory/vm_kernel.h"
#include "guest/vdso/data.h"
#include "lib/array.h"
#include "lib/x86.h"

/* Model-specific registers: Intel SDM volume 4; AMD APM volume 2, "System Call" registers. */
#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_FMASK 0xc0000084
#define EFER_SCE 1u
#define RFLAGS_TF_IF_DF_IOPL_NT_AC 0x47700u

#define CR0_MP_NE 0x22u
#define CR0_EM_TS 0x0cu
#define CR4_OSFXSR_OSXMMEXCPT 0x600u
#define CR4_FSGSBASE (1u << 16)
#define CR4_OSXSAVE (1u << 18)
#define CPUID_1_ECX_XSAVE (1u << 26)
#define CPUID_7_EBX_FSGSBASE 1u
/* SDM volume 1, "Extended Control Registers (XCRs)" */
#define XCR0_X87_SSE 0x03u
#define XCR0_X87_SSE_AVX 0x07u
#define XCR0_AVX512 0xe0u /* opmask, ZMM_Hi256, Hi16_ZMM: all or none */

#define FIRST_INTERRUPT 32 /* SDM volume 3, "Exception and Interrupt Vectors" */

enum { IST_NMI = 1, IST_DOUBLE_FAULT = 2, IST_MACHINE_CHECK = 3 };

struct gate { /* SDM volume 3, "64-Bit IDT Gate Descriptors" */
    uint16_t offset_low;
    uint16_t selector;
    uint8_t ist;
    uint8_t type;
    uint16_t offset_middle;
    uint32_t offset_high;
    uint32_t reserved;
};
_Static_assert(sizeof(struct gate) == 16, "gate");

struct __attribute__((packed)) table_pointer {
    uint16_t limit;
    uint64_t base;
};

struct cpu cpus[CPUS_MAX] __attribute__((aligned(64)));
uint32_t cpu_count = 1;
bool cpu_nmi_samples;

static struct gate idt[256] __attribute__((aligned(16)));

static void set_gate(unsigned vector, const void *entry, uint8_t ist, uint8_t privilege)
{
    uint64_t address = (uint64_t)entry;

    idt[vector] = (struct gate){
        .offset_low = (uint16_t)address,
        .selector = SELECTOR_KERNEL_CODE,
        .ist = ist,
        .type = (uint8_t)(0x8e | privilege << 5), /* present interrupt gate */
        .offset_middle = (uint16_t)(address >> 16),
        .offset_high = (uint32_t)(address >> 32),
    };
}

void cpu_ignore_interrupts(void)
{
    for (unsigned i = FIRST_INTERRUPT; i < 256; i++)
        set_gate(i, entry_stray, 0, 0);
}

void cpu_stray(struct irq_frame *)
{
    apic_end_unknown();
}

void cpu_stray_in_kernel(struct irq_frame *frame)
{
    cpu_stray(frame);
}

void (*const cpu_attend[2])(void) = {entry_attend, entry_attend_saved};

static bool saves_all; /* cpu_save_all was called */
static bool empties_first; /* cpu_empty_first was called */

/* Interrupts whose entries there are of each kind. */
static void set_interrupts(void)
{
    static const struct {
        uint8_t vector;
        void (*entries[2][2])(void); /* [saves_all][empties_first] */
    } gates[] = {
        {VECTOR_ATTENTION,
         {{entry_attention, entry_attention_drained}, {entry_attention, entry_attention_drained}}},
        {VECTOR_PRECISE, {{entry_stray, entry_precise}, {entry_stray, entry_precise_saved}}},
        {VECTOR_SAMPLE,
         {{entry_sample, entry_sample_drained}, {entry_sample_saved, entry_sample_saved_drained}}},
        {VECTOR_TIMER,
         {{entry_timer, entry_timer_drained}, {entry_timer_saved, entry_timer_saved_drained}}},
        {VECTOR_DEVICE,
         {{entry_device, entry_device_drained}, {entry_device_saved, entry_device_saved_drained}}},
        {VECTOR_WAKE,
         {{entry_wake, entry_wake_drained}, {entry_wake_saved, entry_wake_saved_drained}}},
        {VECTOR_SERVICE_TIMER,
         {{entry_wake, entry_wake_drained}, {entry_wake_saved, entry_wake_saved_drained}}},
    };

    for (uint32_t i = 0; i < ARRAY_COUNT(gates); i++)
        set_gate(gates[i].vector, gates[i].entries[saves_all][empties_first], 0, 0);
}

static void fill_idt(void)
{
    for (unsigned i = 0; i < ENTRY_EXCEPTIONS; i++) {
        uint8_t ist = i == 2    ? IST_NMI
                      : i == 8  ? IST_DOUBLE_FAULT
                      : i == 18 ? IST_MACHINE_CHECK
                                : 0;
        set_gate(i, entry_exceptions[i], ist, i == 3 || i == 4 ? 3 : 0);
    }
    cpu_ignore_interrupts();
    set_interrupts();
    set_gate(VECTOR_SPURIOUS, entry_spurious, 0, 0);
}

void cpu_save_all(bool framed)
{
    saves_all = true;
    set_interrupts();
    set_gate(2, framed ? entry_nmi_framed : entry_nmi_saved, IST_NMI, 0);
    if (framed && !empties_first)
        set_gate(VECTOR_TIMER, entry_timer_framed, 0, 0);
}

void cpu_sample_briefly(bool stacks)
{
    set_gate(2, stacks ? entry_nmi_brief_stack : entry_nmi_brief, IST_NMI, 0);
}

static void set_exceptions(const void *const entries[ENTRY_EXCEPTIONS])
{
    for (unsigned i = 0; i < ENTRY_EXCEPTIONS; i++)
        if (i != 2 && i != 8 && i != 18)
            set_gate(i, entries[i], 0, i == 3 || i == 4 ? 3 : 0);
}

void cpu_watch_exceptions(void)
{
    set_exceptions(empties_first ? entry_exceptions_watched_drained : entry_exceptions_watched);
    set_gate(3, empties_first ? entry_breakpoint_drained : entry_breakpoint, 0, 3);
}

void cpu_empty_first(void)
{
    empties_first = true;
    set_exceptions(entry_exceptions_drained);
    set_interrupts();
}

void cpu_empty_at_calls(void)
{
    x86_wrmsr(MSR_LSTAR, (uint64_t)entry_syscall_drained);
}

uint32_t platform_cpu(void)
{
    uint32_t number;

    __asm__ volatile("lsl %1, %0" : "=r"(number) : "r"(VDSO_CPU_SELECTOR) : "cc");
    return number;
}

static void tss_set(struct cpu *cpu, unsigned byte_offset, uint64_t value)
{
    memcpy((uint8_t *)cpu->tss + byte_offset, &value, sizeof value);
}

void cpu_set_kernel_stack(struct cpu *cpu, uint64_t top)
{
    cpu->kernel_stack_top = top;
    tss_set(cpu, 4, top); /* RSP0: SDM volume 3, "64-Bit TSS Format" */
}

static void load_tables(struct cpu *cpu)
{
    uint64_t tss = (uint64_t)cpu->tss;
    const uint64_t gdt[8] = {
        [1] = 0x00af9b000000ffff, /* kernel code */
        [2] = 0x00cf93000000ffff, /* kernel data */
        [3] = 0x00cff3000000ffff, /* user data */
        [4] = 0x00affb000000ffff, /* user code */
        [5] = 0x0000890000000067 | (tss & 0xffffff) << 16 | (tss >> 24 & 0xff) << 56,
        [6] = tss >> 32,
        /* user data whose limit is the program's number of this CPU, for the vDSO */
        [7] = 0x0040f10000000000 | (cpu->index ? cpu->index - 1 : 0),
    };
    struct table_pointer gdtr = {sizeof cpu->gdt - 1, (uint64_t)cpu->gdt};
    struct table_pointer idtr = {sizeof idt - 1, (uint64_t)idt};

    memcpy(cpu->gdt, gdt, sizeof gdt);
    for (unsigned i = IST_NMI; i <= IST_MACHINE_CHECK; i++) {
        uint8_t *stack = platform_allocate(IST_BYTES);
        if (stack == NULL)
            panic("no memory for the interrupt stacks of CPU %u", cpu->index);
        memcpy(stack, &cpu, sizeof cpu); /* for entry_paranoid */
        tss_set(cpu, 0x24 + (i - 1) * 8, (uint64_t)stack + IST_BYTES);
    }
    cpu->tss[0x64 / 4] = 104u << 16; /* no I/O permission bitmap */

    __asm__ volatile(
        "lgdt %0; lidt %1; ltr %w2; lldt %w4; mov %w3, %%ds; mov %w3, %%es; mov %w3, %%ss" ::"m"(
            gdtr),
        "m"(idtr), "r"(SELECTOR_TSS), "r"(SELECTOR_KERNEL_DATA),
        "r"(0) /* no LDT: reset leaves one at 0 */
        : "memory");
}

/* After a firmware that may have used them, or an earlier run: INIT leaves them as they are, too.
 */
static void clear_wide_registers(void)
{
    /* XSAVE area, standard form: all is in its initial state (SDM volume 1, "XSAVE Area") */
    static const uint8_t none[576] __attribute__((aligned(64)));

    __asm__ volatile("xrstor64 %0" ::"m"(none), "a"(~XCR0_X87_SSE), "d"(~0u));
}

/* Vector state: everything that CPUID offers is enabled for programs, and the kernel leaves it
 * alone. x87 and SSE get their initial state here; under a hypervisor wider registers still have it
 * from reset.
 * FXRSTOR, not XRSTOR: KVM's instruction emulator, which some hosts run whole guests on, has no
 * XRSTOR.
 */
static void setup_vector_state(void)
{
    /* FXSAVE image (SDM volume 1, "FXSAVE Area"): FCW at 0, MXCSR at 24 */
    static const uint32_t initial[128] __attribute__((aligned(16))) = {[0] = 0x37f, [6] = 0x1f80};
    uint64_t cr4 = x86_read_cr4() | CR4_OSFXSR_OSXMMEXCPT;
    uint32_t features;

    x86_write_cr0((x86_read_cr0() | CR0_MP_NE) & ~(uint64_t)CR0_EM_TS);
    if (!(x86_cpuid(1, 0).ecx & CPUID_1_ECX_XSAVE))
        panic("this CPU has no XSAVE; Microtome needs x86-64-v2 with XSAVE or newer");
    if (x86_cpuid(7, 0).ebx & CPUID_7_EBX_FSGSBASE)
        cr4 |= CR4_FSGSBASE;
    x86_write_cr4(cr4 | CR4_OSXSAVE);
    features = x86_cpuid(13, 0).eax & (XCR0_X87_SSE_AVX | XCR0_AVX512);
    if ((features & XCR0_AVX512) != XCR0_AVX512)
        features &= XCR0_X87_SSE_AVX;
    __asm__ volatile("xsetbv" ::"c"(0), "a"(features), "d"(0));
    if (run.boot->entry == BOOT_ENTRY_UEFI)
        clear_wide_registers();
    __asm__ volatile("fxrstor64 %0" ::"m"(initial));
}

void cpu_setup(uint32_t index)
{
    struct cpu *cpu = &cpus[index];

    cpu->self = cpu;
    cpu->clock.offset = &cpu->clock.no_offset;
    cpu->index = index;
    cpu->frames.floor = CPU_NO_PAGE;
    if (index == 0)
        fill_idt();
    load_tables(cpu);
    x86_wrmsr(X86_MSR_GS_BASE, (uint64_t)cpu);
    x86_wrmsr(X86_MSR_KERNEL_GS_BASE, 0);
    x86_wrmsr(X86_MSR_FS_BASE, 0);
    x86_wrmsr(X86_MSR_EFER, x86_rdmsr(X86_MSR_EFER) | EFER_SCE);
    x86_wrmsr(MSR_STAR,
              (uint64_t)(SELECTOR_KERNEL_DATA | 3) << 48 | (uint64_t)SELECTOR_KERNEL_CODE << 32);
    x86_wrmsr(MSR_LSTAR, (uint64_t)entry_syscall);
    x86_wrmsr(MSR_FMASK, RFLAGS_TF_IF_DF_IOPL_NT_AC);
    setup_vector_state();
    vm_enable_protection();
}
