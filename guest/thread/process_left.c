/* What is said of processes that the end of the first one ends. */

#include "guest/base/log.h"
#include "guest/thread/threads.h"

#define NAMED 4u

void process_log_left(void)
{
    uint32_t left = 0, used = 0;
    char text[NAMED * 32] = "", name[16];

    for (const struct process *p = process_first.next; p != NULL; p = p->next) {
        if (p->oldest == NULL || p->ending)
            continue;
        threads_name(p->oldest, name);
        if (left++ < NAMED)
            used += (uint32_t)format_text(text + used, sizeof text - used, "%s%u (%s)",
                                          used ? ", " : "", p->pid, name);
    }
    if (left)
        log_notice("%u process%s left when the program ended, and ended with it: %s%s", left,
                   left == 1 ? " was" : "es were", text, left > NAMED ? ", ..." : "");
}
