/* test_hook for test kernels: breaks the kernel in the way that the manifest names, or tests the
 * network card, and reports how many instructions ran. */
#include <stdint.h>
#include <string.h>

#include "drivers/apic/apic.h"
#include "drivers/platform.h"
#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/base/panic.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/cpu/cross.h"
#include "guest/variants/memory_test.h"
#include "guest/variants/net_test.h"
#include "lib/array.h"

static __attribute__((noinline)) void store_to_null(void)
{
    __asm__ volatile("movl $1, 8");
}

/* The configuration is read-only once the program runs. */
static __attribute__((noinline)) void store_to_configuration(void)
{
    *(volatile uint32_t *)&run.workload_cpus = 1;
}

/* The page fault cannot be delivered on such a stack, which causes a double fault, on its own
 * stack. */
static __attribute__((noinline)) void lose_stack(void)
{
    __asm__ volatile("movq $8, %rsp; pushq $0");
}

/* The modelled PMU's own counters, which no driver can stop: instructions in ring 0, and in other
 * rings */
#define MSR_FREERUN_KERNEL 0x40000090u
#define MSR_FREERUN_USER 0x40000091u

/* The chipset raises an SMI at a write to its APM control port, if the firmware has allowed that.
 * Intel I/O Controller Hub 9 data sheet, "APM_CNT". */
#define APM_CONTROL_PORT 0xb2
#define SMIS 3 /* at a time; the firmware ignores a number that it does not know */

static void raise_smis(void)
{
    for (int i = 0; i < SMIS; i++)
        x86_out8(APM_CONTROL_PORT, 0xff);
}

/* The call arrives between STI and HLT; the NOP ends STI's shadow. */
static void halt_after_call(void)
{
    apic_send(cpu_this()->apic_id, VECTOR_WAKE);
    __asm__ volatile("sti; nop; hlt; cli" ::: "memory");
}

static void note_instructions(const char *where)
{
    uint64_t kernel, user;

    if (!platform_msr_read(MSR_FREERUN_USER, &user) &&
        !platform_msr_read(MSR_FREERUN_KERNEL, &kernel))
        log_line("free-running at the %s: %lu in ring 0, %lu in ring 3", where, kernel, user);
}

static void send_nmis(void)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        apic_send_nmi(cpus[i].apic_id); /* as a watchdog or the firmware would */
}

static void panic_plainly(void)
{
    panic("asked for by the manifest");
}

/* Boot's stack is no thread's. */
static void act_as_thread(void)
{
    context_assert_thread();
}

static void act_without_lock(void)
{
    cross_unlock();
    cross_assert_held();
}

void test_hook(const char *where)
{
    static const struct {
        const char *name; /* of "panic-test" after WHERE- */
        void (*act)(void);
    } acts[] = {
        {"-null", store_to_null},   {"-configuration", store_to_configuration},
        {"-stack", lose_stack},     {"-nmi", send_nmis},
        {"-halt", halt_after_call}, {"-net", net_test},
        {"-smi", raise_smis},       {"-panic", panic_plainly},
        {"-thread", act_as_thread}, {"-unlocked", act_without_lock},
    };
    size_t length = strlen(where);
    const char *test;

    if (strcmp(where, "boot") == 0)
        memory_test_prepare(run.boot);
    if (strcmp(where, "leave") == 0)
        memory_test_result();
    if (run.manifest.bytes == NULL) /* not read yet */
        return;
    test = manifest_text(&run.manifest, "panic-test", "");
    if (strncmp(test, where, length) != 0)
        test = "";
    else
        test += length;
    while (strcmp(test, "-hang") == 0)
        x86_halt();
    if (strcmp(where, "start") != 0 && strcmp(where, "end") != 0)
        return;
    note_instructions(where);
    for (size_t i = 0; i < ARRAY_COUNT(acts); i++)
        if (strcmp(test, acts[i].name) == 0)
            acts[i].act();
}
