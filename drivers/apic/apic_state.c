/* Keeps what the firmware had in the local APIC, and puts it back. */
#include "drivers/apic/apic_state.h"

#include "drivers/apic/apic.h"
#include "drivers/apic/apic_regs.h"
#include "drivers/platform.h"

#define MODE_BITS ((uint64_t)(APIC_BASE_ENABLE | APIC_BASE_X2APIC))

enum { /* Intel 8259A data sheet: ports of the PC's two, operation command words 2 and 3 */
       PIC_MASTER = 0x20,
       PIC_SLAVE = 0xa0,
       PIC_READ_IN_SERVICE = 0x0b,
       PIC_READ_REQUESTS = 0x0a,
       PIC_END = 0x20,
       PIC_CASCADE = 1 << 2,
};

/* The timer last: it depends on the divider and starts by its count. */
static const uint16_t lvt_offsets[APIC_LVT_ENTRIES] = {
    APIC_LVT_LINT0,   APIC_LVT_LINT1, APIC_LVT_ERROR, APIC_LVT_PMI,
    APIC_LVT_THERMAL, APIC_LVT_CMCI,  APIC_LVT_TIMER};
/* The version register's "Max LVT Entry" from which on each is there. */
static const uint8_t lvt_needs[APIC_LVT_ENTRIES] = {0, 0, 0, 4, 5, 6, 0};

static bool has_entry(uint32_t i)
{
    return (apic_read(APIC_VERSION) >> 16 & 0xff) >= lvt_needs[i];
}

static bool has_deadline(void)
{
    return (x86_cpuid(1, 0).ecx & CPUID_1_ECX_TSC_DEADLINE) != 0;
}

/* How many there are of AMD's: machine checks that are corrected, instruction-based sampling. */
static uint32_t extended_entries(void)
{
    uint32_t count;

    if (!(apic_read(APIC_VERSION) & VERSION_EXTENDED))
        return 0;
    count = apic_read(APIC_EXTENDED_FEATURES) >> 16 & 0xff;
    return count < APIC_EXTENDED_ENTRIES ? count : APIC_EXTENDED_ENTRIES;
}

static void read_registers(struct apic_saved *saved)
{
    saved->task_priority = apic_read(APIC_TPR);
    saved->spurious = apic_read(APIC_SPURIOUS);
    saved->logical_id = apic_read(APIC_LOGICAL_ID);
    if (apic.registers != NULL)
        saved->logical_format = apic_read(APIC_LOGICAL_FORMAT);
    for (uint32_t i = 0; i < APIC_LVT_ENTRIES; i++)
        saved->lvt[i] = has_entry(i) ? apic_read(lvt_offsets[i]) & ~(uint32_t)LVT_READ_ONLY : 0;
    saved->extended_count = extended_entries();
    for (uint32_t i = 0; i < saved->extended_count; i++)
        saved->extended[i] = apic_read(APIC_EXTENDED_LVT + i * 0x10) & ~(uint32_t)LVT_READ_ONLY;
    saved->divide = apic_read(APIC_TIMER_DIVIDE);
    saved->initial = apic_read(APIC_TIMER_INITIAL);
    saved->current = apic_read(APIC_TIMER_CURRENT);
    saved->deadline = has_deadline() ? x86_rdmsr(APIC_MSR_TSC_DEADLINE) : 0;
    for (uint32_t i = 0; i < APIC_VECTOR_WORDS; i++)
        saved->in_service[i] = apic_read(APIC_ISR + i * 0x10);
}

void apic_save(struct apic_saved *saved)
{
    volatile uint32_t *own = apic.registers;

    saved->base = x86_rdmsr(MSR_APIC_BASE);
    if ((saved->base & MODE_BITS) == APIC_BASE_ENABLE)
        saved->registers =
            own != NULL ? own
                        : platform_map_device(saved->base & APIC_BASE_ADDRESS, APIC_PAGE_BYTES);
    if (saved->base & APIC_BASE_ENABLE) {
        apic.registers = saved->registers;
        read_registers(saved);
        apic.registers = own;
    }
    saved->valid = true;
}

/* Returns the highest vector of those from `least` on, or -1. */
static int apic_state_highest(uint32_t offset, uint32_t least)
{
    for (uint32_t i = APIC_VECTOR_WORDS; i-- > 0;) {
        uint32_t word = apic_read(offset + i * 0x10);

        if (word) {
            int vector = (int)(i * 32 + 31) - __builtin_clz(word);
            return vector >= (int)least ? vector : -1;
        }
    }
    return -1;
}

/* An EOI ends the highest one. */
static void end_own(const struct apic_saved *saved)
{
    int vector;

    while ((vector = apic_state_highest(APIC_ISR, 0)) >= 0) {
        if (saved->in_service[vector / 32] >> vector % 32 & 1)
            return;
        apic_eoi();
    }
}

/* SDM volume 3, "x2APIC State Transitions": from x2APIC to xAPIC mode the way goes through the
 * disabled state, in which the APIC forgets everything.  Returns true if it did. */
static bool change_mode(uint64_t base)
{
    uint64_t now = x86_rdmsr(MSR_APIC_BASE);

    if (now == base)
        return false;
    x86_wrmsr(MSR_APIC_BASE, base & ~MODE_BITS);
    if (base & APIC_BASE_ENABLE)
        x86_wrmsr(MSR_APIC_BASE, (base & ~MODE_BITS) | APIC_BASE_ENABLE);
    if (base & APIC_BASE_X2APIC)
        x86_wrmsr(MSR_APIC_BASE, base);
    return true;
}

static void restore_timer(const struct apic_saved *saved)
{
    uint32_t entry = saved->lvt[APIC_LVT_ENTRIES - 1], mode = entry & LVT_MODE;

    apic_write(APIC_TIMER_DIVIDE, saved->divide);
    apic_write(APIC_LVT_TIMER, entry);
    if (mode == LVT_TSC_DEADLINE) {
        if (saved->deadline) {
            apic_order(); /* SDM volume 3, "TSC-Deadline Mode" */
            x86_wrmsr(APIC_MSR_TSC_DEADLINE, saved->deadline);
        }
    } else if (mode == LVT_PERIODIC) {
        apic_write(APIC_TIMER_INITIAL, saved->initial);
    } else {
        apic_write(APIC_TIMER_INITIAL, saved->current);
    }
}

/* The spurious-interrupt register first: while the APIC is off by it, vectors cannot be unmasked.
 */
static void write_registers(const struct apic_saved *saved)
{
    apic_write(APIC_SPURIOUS, saved->spurious);
    if (apic.registers != NULL) {
        apic_write(APIC_LOGICAL_FORMAT, saved->logical_format);
        apic_write(APIC_LOGICAL_ID, saved->logical_id);
    }
    apic_write(APIC_ERROR_STATUS, 0);
    for (uint32_t i = 0; i < APIC_LVT_ENTRIES - 1; i++) {
        if (has_entry(i))
            apic_write(lvt_offsets[i], saved->lvt[i]);
    }
    for (uint32_t i = 0; i < saved->extended_count; i++)
        apic_write(APIC_EXTENDED_LVT + i * 0x10, saved->extended[i]);
    restore_timer(saved);
    apic_write(APIC_TPR, saved->task_priority);
}

static void send_again(const uint32_t pending[APIC_VECTOR_WORDS], uint8_t own)
{
    for (uint32_t vector = 16; vector < own; vector++) {
        if (pending[vector / 32] >> vector % 32 & 1)
            apic_send_self((uint8_t)vector);
    }
}

void apic_restore(const struct apic_saved *saved, uint8_t own)
{
    uint32_t pending[APIC_VECTOR_WORDS];
    bool forgot;

    if (!saved->valid)
        return;
    apic_timer_stop();
    apic_mask_all();
    end_own(saved);
    for (uint32_t i = 0; i < APIC_VECTOR_WORDS; i++)
        pending[i] = apic_read(APIC_IRR + i * 0x10);
    forgot = change_mode(saved->base);
    if (!(saved->base & APIC_BASE_ENABLE))
        return;
    apic.registers = saved->registers;
    write_registers(saved);
    if (forgot)
        send_again(pending, own);
}

uint64_t apic_mode(void)
{
    return x86_rdmsr(MSR_APIC_BASE);
}

void apic_mode_restore(uint64_t base)
{
    apic_timer_stop();
    apic_mask_all();
    change_mode(base);
}

bool apic_pending_from(uint8_t own)
{
    return apic_state_highest(APIC_IRR, own) >= 0;
}

static uint8_t pic_in_service(uint16_t port)
{
    uint8_t bits;

    x86_out8(port, PIC_READ_IN_SERVICE);
    bits = x86_in8(port);
    x86_out8(port, PIC_READ_REQUESTS); /* what reads give after a reset */
    return bits;
}

void apic_end_unknown(void)
{
    uint8_t bits;

    if (apic_state_highest(APIC_ISR, 0) >= 0) {
        apic_eoi();
        return;
    }
    bits = pic_in_service(PIC_MASTER);
    if (bits & PIC_CASCADE && pic_in_service(PIC_SLAVE))
        x86_out8(PIC_SLAVE, PIC_END);
    if (bits)
        x86_out8(PIC_MASTER, PIC_END);
}
