/* Flushes the emulator's translations: see guest/thread/translations.h. */
#include "guest/thread/translations.h"

#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "lib/x86.h"

#define OFTEN 24u /* flushes, each of which may double the table */
#define OFTEN_NS 100000u
#define RARELY_NS 100000000u

static uint32_t flushes;

void translations_start(struct cpu *cpu)
{
    if (run.clock.virtual_time && run.shared)
        cpu->schedule.flush_due = run_ns_to_ticks(OFTEN_NS);
}

void translations_attend(struct cpu *cpu, uint64_t now)
{
    if (now < cpu->schedule.flush_due)
        return;
    x86_write_cr3(x86_read_cr3());
    cpu->activity.interruptions--; /* trap_attention() counted it, but the program's clock stood */
    flushes++;
    cpu->schedule.flush_due = now + run_ns_to_ticks(flushes < OFTEN ? OFTEN_NS : RARELY_NS);
}
