/* timerfd: a timer that is read.  As in Linux a periodic one is set again when its expirations are
 * read, so that an unread one costs nothing. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/time.h>
#include <linux/timerfd.h>
#include <poll.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/cpu/clock.h"
#include "guest/file/files.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/signal/program_timer.h"
#include "guest/signal/program_timer_math.h"
#include "guest/thread/timer.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

struct timer_file {
    struct timer timer; /* first member: timerfd_expire() gets it */
    struct file *file;
    uint64_t next_ns; /* monotonic; 0: disarmed */
    uint64_t interval_ns;
    uint64_t expirations;
    bool expired; /* it expired, and was neither read nor set since */
    bool realtime;
    uint32_t waiting;
};

static void timerfd_expire(struct timer *timer)
{
    struct timer_file *t = (struct timer_file *)timer;

    t->expired = true;
    t->expirations++;
    if (t->waiting)
        wait_wake_key(WAIT_KEY(t), UINT32_MAX);
    poll_changed(t->file, POLLIN);
}

static void timerfd_start(struct timer_file *t)
{
    t->expired = false;
    if (t->next_ns && t->next_ns < PROGRAM_TIMER_NS_MAX)
        timer_set(&t->timer, run.start_ticks + run_ns_to_ticks(t->next_ns));
}

/* Counts the periods since it expired, and sets it for the next one. */
static void catch_up(struct timer_file *t)
{
    if (!t->expired || !t->interval_ns)
        return;
    t->expirations += program_timer_forward(&t->next_ns, t->interval_ns, clock_monotonic_ns()) - 1;
    timerfd_start(t);
}

static int64_t read_timer(struct thread *thread, struct file *file, uint64_t /* offset */,
                          uint64_t user, uint64_t bytes)
{
    struct timer_file *t = file->state;
    uint64_t count;

    if (bytes < sizeof count)
        return -EINVAL;
    while (!t->expirations) {
        if (file->flags & O_NONBLOCK)
            return -EAGAIN;
        if (wait_counted(thread, WAIT_KEY(t), WAIT_FOREVER, "a timerfd", &t->waiting) ==
                WAIT_SIGNAL &&
            !t->expirations)
            return -EINTR;
    }
    catch_up(t);
    count = t->expirations;
    t->expirations = 0;
    return copy_to_user(user, &count, sizeof count) ? -EFAULT : (int64_t)sizeof count;
}

static uint32_t poll_timer(struct thread *, struct file *file)
{
    const struct timer_file *t = file->state;

    return t->expirations ? POLLIN : 0;
}

static void release_timer(struct file *file)
{
    struct timer_file *t = file->state;

    timer_cancel(&t->timer);
    heap_free(t, sizeof *t);
}

static const struct file_type file_timer = {.mode = 0600,
                                            .ignores_seeks = true,
                                            .read = read_timer,
                                            .poll = poll_timer,
                                            .release = release_timer};

int64_t syscall_timerfd_create(struct thread *thread, struct trap_frame *frame)
{
    uint32_t clock = (uint32_t)frame->rdi, flags = (uint32_t)frame->rsi;
    struct timer_file *t;
    struct file *file;

    if (flags & ~(uint32_t)(TFD_CLOEXEC | TFD_NONBLOCK))
        return -EINVAL;
    if (clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM)
        return -EPERM;
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
        return -EINVAL;
    t = heap_alloc(sizeof *t);
    if (t == NULL)
        return -ENOMEM;
    t->timer.expire = timerfd_expire;
    t->realtime = clock == CLOCK_REALTIME;
    file = files_new(thread->process, &file_timer, O_RDWR | (flags & TFD_NONBLOCK));
    if (file == NULL) {
        heap_free(t, sizeof *t);
        return -ENFILE;
    }
    file->state = t;
    t->file = file;
    return files_add_new(thread->process, file, flags & TFD_CLOEXEC);
}

static int64_t timer_argument(const struct thread *thread, uint64_t fd, struct timer_file **t)
{
    const struct file *file = files_get(thread->process, (int32_t)fd);

    if (file == NULL || (file->flags & O_PATH))
        return -EBADF;
    if (file->type != &file_timer)
        return -EINVAL;
    *t = file->state;
    return 0;
}

static struct program_timer_setting current(struct timer_file *t)
{
    uint64_t now = clock_monotonic_ns();

    catch_up(t);
    return (struct program_timer_setting){
        .interval = t->interval_ns,
        .value = t->next_ns > now && !t->expired ? t->next_ns - now : 0};
}

static void arm(struct timer_file *t, const struct program_timer_setting *setting, bool absolute)
{
    uint64_t base = t->realtime ? run.start_unix_ns : 0, value = setting->value;

    timer_cancel(&t->timer);
    t->expirations = 0;
    t->expired = false;
    t->interval_ns = setting->interval;
    t->next_ns = 0;
    if (!value)
        return;
    if (absolute)
        t->next_ns = value > base ? value - base : 1; /* in the past */
    else
        t->next_ns = clock_monotonic_ns() + value;
    timerfd_start(t);
}

int64_t syscall_timerfd_settime(struct thread *thread, struct trap_frame *frame)
{
    struct program_timer_setting new, old;
    struct timer_file *t;
    int64_t error;

    if ((uint32_t)frame->rsi & ~(uint32_t)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
        return -EINVAL;
    error = program_timer_read(frame->rdx, 1, &new);
    if (!error)
        error = timer_argument(thread, frame->rdi, &t);
    if (error)
        return error;
    old = current(t);
    arm(t, &new, frame->rsi & TFD_TIMER_ABSTIME);
    return frame->r10 ? program_timer_write(frame->r10, 1, &old) : 0;
}

int64_t syscall_timerfd_gettime(struct thread *thread, struct trap_frame *frame)
{
    struct program_timer_setting setting;
    struct timer_file *t;
    int64_t error = timer_argument(thread, frame->rdi, &t);

    if (error)
        return error;
    setting = current(t);
    return program_timer_write(frame->rsi, 1, &setting);
}
