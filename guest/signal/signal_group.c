/* Signals to process groups. */
#include <signal.h>

#include "guest/base/context.h"
#include "guest/signal/signal.h"

void signal_send_group(uint32_t group, uint32_t signal)
{
    const struct signal_note note = {.signal = signal, .code = SI_KERNEL};

    cross_assert_held();
    for (struct process *p = process_after(NULL); group && p != NULL; p = process_after(p))
        if (p->group == group)
            (void)signal_send_process_note(p, &note);
}
