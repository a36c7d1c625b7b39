/* Flushes the emulator's translations: see guest/thread/translations.h. */
#include "guest/thread/translations.h"

#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "lib/x86.h"

/* Between flushes: an eighth of the program's time so far, within these limits. */
#define SHORTEST_NS 100000u
#define LONGEST_NS 100000000u
#define PARTS 8

void translations_start(struct cpu *cpu)
{
    if (run.clock.virtual_time && run.shared)
        cpu->schedule.flush_due = run_ns_to_ticks(SHORTEST_NS);
}

void translations_attend(struct cpu *cpu, uint64_t now)
{
    uint64_t shortest, longest, wait = now / PARTS;

    if (now < cpu->schedule.flush_due)
        return;
    shortest = run_ns_to_ticks(SHORTEST_NS);
    longest = run_ns_to_ticks(LONGEST_NS);
    x86_write_cr3(x86_read_cr3());
    cpu->activity.interruptions--; /* trap_attention() counted it, but the program's clock stood */
    cpu->schedule.flush_due = now + (wait < shortest ? shortest : wait < longest ? wait : longest);
}
