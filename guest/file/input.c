/* Waiting for the command's stdin. */
#include "guest/file/input.h"
#include "guest/base/context.h"
#include "guest/thread/process.h"

#include <errno.h>

#include "guest/base/run.h"
#include "guest/cpu/cross.h"
#include "guest/file/epoll.h"
#include "guest/file/poll.h"
#include "guest/service/service.h"
#include "guest/thread/wait.h"

static struct {
    enum { UNKNOWN, WATCHED, KNOWN } state; /* WATCHED: the host will report when it is ready */
    uint32_t events; /* when KNOWN */
    uint32_t readers; /* threads that wait to read */
    int watches; /* entries of epolls that watch it */
} input;

static bool is_input(const struct file *file)
{
    return file->type == &file_input || file->type == &file_terminal;
}

uint32_t input_events(void)
{
    return input.state == KNOWN ? input.events : 0;
}

void input_watched(const struct file *file, int change)
{
    if (is_input(file))
        input.watches += change;
}

bool input_awaited(void)
{
    return input.readers || (input.state == WATCHED && (poll_waits() || input.watches));
}

/* Tells the epolls that watch stdin. */
static void tell_watches_of(const struct process *process, uint32_t events)
{
    for (int64_t fd = 0; fd < FILES_MAX; fd++) {
        struct file *file = files_get(process, fd);

        if (file != NULL && file->watches != NULL && is_input(file))
            poll_changed(file, events);
    }
}

static void tell_watches(uint32_t events)
{
    struct process *process = NULL;

    while (input.watches && (process = process_after(process)) != NULL)
        if (process->files != NULL)
            tell_watches_of(process, events);
}

static void set_known(uint32_t events)
{
    input.state = KNOWN;
    input.events = events;
    if (input.readers)
        wait_wake_key(WAIT_KEY(&input), UINT32_MAX);
    poll_changed_elsewhere();
    tell_watches(events);
}

void input_arrived(uint32_t events)
{
    if (!run.shared)
        cross_lock(cpu_this());
    if (input.state == WATCHED)
        set_known(events);
    if (!run.shared)
        cross_unlock();
}

static void input_ask_host(void)
{
    while (input.state == UNKNOWN) {
        int64_t events;

        input.state = WATCHED; /* while the question is on its way, and from then on */
        events = service_ask_input(0);
        if (events > 0)
            set_known((uint32_t)events);
        else if (events < 0)
            return; /* the run is being stopped */
    }
}

void input_ask(struct thread *, const struct file *file)
{
    if (is_input(file) || (file->type == &epoll_file && input.watches))
        input_ask_host();
}

void input_ask_watched(struct thread *)
{
    if (input.watches)
        input_ask_host();
}

bool input_idle(uint64_t ns, uint64_t * /* passed_ns */)
{
    int64_t events;

    if (input.state == KNOWN)
        return true;
    events = service_ask_input(ns);
    if (events < 0)
        return true; /* the run is being stopped, or a frame came */
    if (events > 0 && input.state == WATCHED)
        set_known((uint32_t)events);
    return input.state == KNOWN;
}

/* Forgets what was known of stdin; threads that poll it or wait for an epoll ask again. */
static void input_forget(void)
{
    input.state = UNKNOWN;
    poll_changed_elsewhere();
    tell_watches(POLL_READABLE);
}

int64_t input_read(struct thread *thread, uint64_t bytes, bool blocks)
{
    context_assert_thread();
    for (;;) {
        int64_t result = service_read(bytes, run.shared && blocks ? SERVICE_PATIENCE_MS : 0);
        enum wait_end end;

        if (result >= 0)
            input_forget();
        if (result != -EAGAIN || !blocks)
            return result;
        if (input.state == KNOWN)
            input.state = UNKNOWN;
        input_ask_host();
        if (input.state != WATCHED)
            continue;
        input.readers++;
        end = wait_on(thread, WAIT_KEY(&input), WAIT_FOREVER, "a read of stdin");
        input.readers--;
        if (end == WAIT_SIGNAL && input.state != KNOWN)
            return -EINTR;
    }
}
