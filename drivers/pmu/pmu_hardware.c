/* RDPMC reading and the test that a counter counts. */
#include "drivers/pmu/pmu_hardware.h"

#include <errno.h>

#include "drivers/platform.h"
#include "drivers/pmu/pmu_regs.h"
#include "lib/x86.h"

#define INSTRUCTIONS_RETIRED 0xc0u
#define CHECK_VALUE 0x1234567u

/* RDPMC's ECX, by event: the same on every CPU. */
static __attribute__((used)) uint32_t rdpmc_indexes[HR_EVENTS_MAX];

/* Their registers. */
static uint32_t counter_msrs[HR_EVENTS_MAX];

/* What turns the session's counters on and off: one register for all, or one each. */
static struct {
    uint32_t msr;
    uint64_t on;
} switches[HR_EVENTS_MAX];
static uint32_t switch_count;

struct pmu_refusal pmu_start_refusal;
static uint32_t writing_for; /* which event */
static bool faulted; /* since pmu_hardware_start */

void pmu_hardware_add_switch(uint32_t msr, uint64_t on)
{
    switches[switch_count].msr = msr;
    switches[switch_count++].on = on;
}

void pmu_hardware_pause(const struct pmu_session *)
{
    for (uint32_t i = 0; i < switch_count; i++)
        x86_wrmsr(switches[i].msr, 0);
}

void pmu_hardware_resume(const struct pmu_session *)
{
    for (uint32_t i = 0; i < switch_count; i++)
        x86_wrmsr(switches[i].msr, switches[i].on);
}

void pmu_hardware_start(const struct pmu_session *session)
{
    switch_count = 0;
    writing_for = PMU_NO_EVENT;
    faulted = false;
    for (uint32_t i = 0; i < session->event_count; i++)
        rdpmc_indexes[i] = session->events[i].counter;
}

uint32_t pmu_first_counter_msr(void)
{
    return counter_msrs[0];
}

void pmu_hardware_read(const struct pmu_session *session, uint64_t /* user_instructions */,
                       uint64_t *values)
{
#define READ(i) pmu_store(&values[i], x86_rdpmc(rdpmc_indexes[i]))
    PMU_READ_UNROLLED(session->event_count, READ)
#undef READ
}

void pmu_hardware_read_others(const struct pmu_session *session, uint64_t /* user_instructions */,
                              uint64_t *values)
{
#define READ(i) \
    if (i > 0)  \
    pmu_store(&values[i], x86_rdpmc(rdpmc_indexes[i]))
    PMU_READ_UNROLLED(session->event_count, READ)
#undef READ
}

/* Readings of all events from the last one on, down to the first and to the second: four
 * instructions each, and no loop.  The tables say where a reading of so many events begins. */
__asm__(".pushsection .text\n"
        ".macro READINGS name, events:vararg\n"
        ".irp n, \\events\n"
        "\\name\\()_\\n: movl rdpmc_indexes + 4 * \\n - 4(%rip), %ecx\n"
        "rdpmc\n"
        "movnti %eax, 8 * \\n - 8(%rdi)\n"
        "movnti %edx, 8 * \\n - 4(%rdi)\n"
        ".endr\n"
        "\\name\\()_end: ret\n"
        ".endm\n"
        "READINGS pmu_reading, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1\n"
        "READINGS pmu_reading_others, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2\n"
        ".section .rodata\n"
        ".balign 4\n"
        "pmu_readings: .long pmu_reading_end - pmu_reading_13\n"
        ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n"
        ".long pmu_reading_\\n - pmu_reading_13\n"
        ".endr\n"
        "pmu_readings_others: .long pmu_reading_others_end - pmu_reading_13\n"
        ".long pmu_reading_others_end - pmu_reading_13\n"
        ".irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n"
        ".long pmu_reading_others_\\n - pmu_reading_13\n"
        ".endr\n"
        ".popsection");
_Static_assert(HR_EVENTS_MAX == 13, "READINGS");

extern pmu_reader pmu_reading_13;
extern const int32_t pmu_readings[HR_EVENTS_MAX + 1], pmu_readings_others[HR_EVENTS_MAX + 1];

pmu_reader *pmu_hardware_reader(uint32_t event_count, bool others)
{
    int32_t offset = (others ? pmu_readings_others : pmu_readings)[event_count];

    return (pmu_reader *)((uintptr_t)pmu_reading_13 + (uintptr_t)(intptr_t)offset);
}

static void read_registers(const struct pmu_session *session, uint64_t /* user_instructions */,
                           uint64_t *values)
{
    for (uint32_t i = 0; i < session->event_count; i++)
        pmu_store(&values[i], x86_rdmsr(counter_msrs[i]));
}

static void read_other_registers(const struct pmu_session *session,
                                 uint64_t /* user_instructions */, uint64_t *values)
{
    for (uint32_t i = 1; i < session->event_count; i++)
        pmu_store(&values[i], x86_rdmsr(counter_msrs[i]));
}

const struct pmu_driver *pmu_by_msr(const struct pmu_driver *under)
{
    static struct pmu_driver driver;

    if (under->read != pmu_hardware_read)
        return under;
    driver = *under;
    driver.read = read_registers;
    driver.read_others = read_other_registers;
    driver.reader = NULL;
    return &driver;
}

uint32_t pmu_hardware_rings(uint64_t encoding)
{
    uint32_t flags = (encoding & PMU_SELECT_USER ? HR_EVENT_USER : 0u) |
                     (encoding & PMU_SELECT_KERNEL ? HR_EVENT_KERNEL : 0u);

    return flags ? flags : HR_EVENT_USER;
}

uint64_t pmu_hardware_first(uint8_t width_bits)
{
    return (0ull - PMU_START_BEFORE_END) & ~0ull >> (64 - width_bits);
}

uint64_t pmu_hardware_select(const struct pmu_event *event)
{
    uint64_t rings = (event->flags & HR_EVENT_USER ? PMU_SELECT_USER : 0) |
                     (event->flags & HR_EVENT_KERNEL ? PMU_SELECT_KERNEL : 0);

    return (event->encoding & ~(PMU_SELECT_USER | PMU_SELECT_KERNEL | PMU_SELECT_INTERRUPT)) |
           rings | PMU_SELECT_ENABLE;
}

void pmu_hardware_reads(uint32_t event, uint32_t msr)
{
    counter_msrs[event] = msr;
}

void pmu_hardware_preset(uint32_t msr, uint64_t value)
{
    counter_msrs[writing_for] = msr;
    pmu_hardware_write(msr, value);
}

bool pmu_hardware_counts_kernel(const struct pmu_session *session)
{
    for (uint32_t i = 0; i < session->event_count; i++) {
        if (session->events[i].flags & HR_EVENT_KERNEL)
            return true;
    }
    return false;
}

void pmu_hardware_of_event(uint32_t event)
{
    writing_for = event;
}

int pmu_hardware_started(void)
{
    return faulted ? -EIO : 0;
}

void pmu_hardware_write(uint32_t msr, uint64_t value)
{
    if (!platform_msr_write(msr, value))
        return;
    platform_log("PMU: a write of %lx to MSR %x faults", value, msr);
    if (!faulted)
        pmu_start_refusal = (struct pmu_refusal){.event = writing_for, .msr = msr, .value = value};
    faulted = true;
}

uint32_t pmu_hardware_enabled(uint32_t select, uint32_t stride, uint32_t mask)
{
    uint32_t enabled = 0;
    uint64_t value;

    for (uint32_t n = 0; n < 32; n++) {
        if (mask & 1u << n && !platform_msr_read(select + n * stride, &value) &&
            value & PMU_SELECT_ENABLE)
            enabled |= 1u << n;
    }
    return enabled;
}

uint64_t pmu_hardware_instructions(void)
{
    return INSTRUCTIONS_RETIRED | PMU_SELECT_USER | PMU_SELECT_KERNEL | PMU_SELECT_ENABLE;
}

static bool keeps_value(uint32_t counter)
{
    uint64_t value;

    return platform_msr_write(counter, CHECK_VALUE) == 0 &&
           platform_msr_read(counter, &value) == 0 && value == CHECK_VALUE &&
           platform_msr_write(counter, 0) == 0;
}

uint64_t pmu_hardware_check(const struct pmu_check *checks, uint32_t count,
                            const struct pmu_caps *caps,
                            int (*enable)(const struct pmu_caps *caps, bool on))
{
    uint64_t good = 0, value;

    for (uint32_t i = 0; i < count; i++)
        good |= (uint64_t)keeps_value(checks[i].counter) << i;
    if (enable(caps, true))
        return 0;
    for (uint32_t i = 0; i < PMU_CHECK_INSTRUCTIONS; i++)
        __asm__ volatile("" ::: "memory");
    if (enable(caps, false))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (platform_msr_read(checks[i].counter, &value) || value < checks[i].least ||
            platform_msr_write(checks[i].counter, 0))
            good &= ~(1ull << i);
    }
    return good;
}

uint8_t pmu_hardware_count(uint32_t mask)
{
    uint8_t count = 0;

    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

uint32_t pmu_hardware_allowed(const struct pmu_caps *caps, const struct pmu_event *event)
{
    uint32_t allowed = event->allowed_counters ? event->allowed_counters : ~0u;

    return caps->general_mask & allowed;
}
