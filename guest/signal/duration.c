/* The end of a program after a given time. */
#include "guest/signal/duration.h"

#include <signal.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/service/service_cpu.h"
#include "guest/signal/signal.h"
#include "guest/thread/process.h"
#include "guest/thread/timer.h"

static void duration_kill(struct timer * /* timer */)
{
    log_notice("--duration: the program did not end within %llu s of SIGTERM; it is killed",
               DURATION_GRACE_NS / 1000000000);
    service_cpu_stop(SIGKILL, false);
}

static void duration_terminate(struct timer *timer)
{
    signal_send_process_note(&process_first,
                             &(struct signal_note){.signal = SIGTERM, .code = SI_KERNEL});
    timer->expire = duration_kill;
    timer->background = true;
    timer_set(timer, timer->due + run_ns_to_ticks(DURATION_GRACE_NS));
}

void duration_start(uint64_t ns)
{
    static struct timer timer = {.expire = duration_terminate};
    uint64_t ticks = run_ns_to_ticks(ns);

    if (ns != 0 && ticks < CPU_NEVER - run.start_ticks)
        timer_set(&timer, run.start_ticks + ticks);
}
