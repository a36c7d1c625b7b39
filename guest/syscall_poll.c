/* poll and select: files are always ready, or wait forever. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "guest/files.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"
#include "guest/wait.h"

#define READ_EVENTS (POLLIN | 0x40 /* POLLRDNORM */)
#define WRITE_EVENTS (POLLOUT | 0x100 /* POLLWRNORM */)
#define SETS 3 /* read, write, exceptional */
#define WORDS_MAX (FILES_MAX / 64)
#define NS_PER_MS 1000000ull
#define FOREVER WAIT_FOREVER

/* What can be done with a descriptor without waiting. A read of stdin may wait, for the host. */
static int16_t ready_events(const struct thread *thread, int64_t fd)
{
    const struct file *file = files_get(thread->process, fd);

    if (!file)
        return POLLNVAL;
    return (int16_t)((file->type->read ? READ_EVENTS : 0) | (file->type->write ? WRITE_EVENTS : 0));
}

/* Nothing is ready and nothing will become so: time passes. */
static int64_t wait_for_nothing(struct thread *thread, uint64_t ns, const char *what)
{
    if (!ns)
        return 0;
    return wait_for(thread, ns, what) == WAIT_SIGNAL ? -EINTR : 0;
}

static int64_t poll_all(struct thread *thread, uint64_t user, uint32_t count, uint64_t ns)
{
    int64_t ready = 0;

    if (count > FILES_MAX)
        return -EINVAL;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = user + i * sizeof(struct pollfd);
        struct pollfd entry;

        if (copy_from_user(&entry, address, sizeof entry) != 0)
            return -EFAULT;
        entry.revents = 0;
        if (entry.fd >= 0)
            entry.revents = (int16_t)(ready_events(thread, entry.fd) & (entry.events | POLLNVAL));
        if (copy_to_user(address, &entry, sizeof entry) != 0)
            return -EFAULT;
        ready += entry.revents != 0;
    }
    return ready ? ready : wait_for_nothing(thread, ns, "poll");
}

int64_t syscall_poll(struct thread *thread, struct trap_frame *frame)
{
    int32_t ms = (int32_t)frame->rdx;

    return poll_all(thread, frame->rdi, (uint32_t)frame->rsi,
                    ms < 0 ? FOREVER : (uint64_t)ms * NS_PER_MS);
}

int64_t syscall_ppoll(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns = FOREVER;

    if (frame->rdx) {
        int error = syscall_read_time(frame->rdx, &ns);

        if (error)
            return error;
    }
    return poll_all(thread, frame->rdi, (uint32_t)frame->rsi, ns);
}

struct selection {
    uint64_t asked[SETS][WORDS_MAX];
    uint64_t ready[SETS][WORDS_MAX];
};

static int64_t select_one(const struct thread *thread, struct selection *s, uint32_t fd)
{
    static const int16_t events[SETS] = {READ_EVENTS, WRITE_EVENTS, 0};
    int64_t count = 0;

    for (int set = 0; set < SETS; set++) {
        int16_t ready;

        if (!(s->asked[set][fd / 64] >> fd % 64 & 1))
            continue;
        ready = ready_events(thread, fd);
        if (ready == POLLNVAL)
            return -EBADF;
        if (ready & events[set]) {
            s->ready[set][fd / 64] |= 1ull << fd % 64;
            count++;
        }
    }
    return count;
}

static int64_t select_all(struct thread *thread, const struct trap_frame *frame, uint64_t ns)
{
    const uint64_t users[SETS] = {frame->rsi, frame->rdx, frame->r10};
    int32_t count = (int32_t)frame->rdi;
    struct selection s;
    int64_t total = 0;
    uint64_t bytes;

    if (count < 0)
        return -EINVAL;
    if (count > FILES_MAX)
        count = FILES_MAX;
    bytes = ((uint64_t)count + 63) / 64 * 8;
    memset(&s, 0, sizeof s);
    for (int set = 0; set < SETS; set++)
        if (users[set] && copy_from_user(s.asked[set], users[set], bytes) != 0)
            return -EFAULT;
    for (uint32_t fd = 0; fd < (uint32_t)count; fd++) {
        int64_t ready = select_one(thread, &s, fd);

        if (ready < 0)
            return ready;
        total += ready;
    }
    if (!total && wait_for_nothing(thread, ns, "select") != 0)
        return -EINTR;
    for (int set = 0; set < SETS; set++)
        if (users[set] && copy_to_user(users[set], s.ready[set], bytes) != 0)
            return -EFAULT;
    return total;
}

int64_t syscall_select(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns = FOREVER;

    if (frame->r8) {
        int64_t time[2]; /* seconds, microseconds */

        if (copy_from_user(time, frame->r8, sizeof time) != 0)
            return -EFAULT;
        if (time[0] < 0 || time[1] < 0)
            return -EINVAL;
        if (__builtin_mul_overflow((uint64_t)time[0], 1000000000ull, &ns) ||
            __builtin_add_overflow(ns, (uint64_t)time[1] * 1000, &ns) || ns == FOREVER)
            ns = FOREVER - 1;
    }
    return select_all(thread, frame, ns);
}

int64_t syscall_pselect6(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns = FOREVER;

    if (frame->r8) {
        int error = syscall_read_time(frame->r8, &ns);

        if (error)
            return error;
    }
    return select_all(thread, frame, ns);
}
