/* poll and select. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/file/input.h"
#include "guest/file/poll.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define SETS 3 /* read, write, exceptional */
#define WORDS_MAX (FILES_MAX / 64)
#define BATCH 32u /* entries read at once */
#define NS_PER_MS 1000000ull

/* Calls `look` until it finds something, and returns that; 0 after the deadline, or -EINTR. */
static int64_t until_ready(struct thread *thread, uint64_t ns, const char *what,
                           int64_t (*look)(struct thread *thread, void *context), void *context)
{
    uint64_t deadline = ns ? poll_deadline(ns) : 0;

    for (;;) {
        uint64_t changes = poll_changes();
        int64_t result = look(thread, context);
        enum wait_end end;

        if (result || !poll_left(deadline))
            return result;
        if (poll_changes() != changes)
            continue;
        end = poll_wait(thread, deadline, what);
        if (end == WAIT_WOKEN)
            continue;
        result = look(thread, context);
        if (result)
            return result;
        return end == WAIT_SIGNAL ? -EINTR : 0;
    }
}

/* ---- poll ---- */

struct poll_list {
    uint64_t user;
    uint32_t count;
};

static int16_t ready_events(struct thread *thread, const struct pollfd *entry)
{
    struct file *file;

    if (entry->fd < 0)
        return 0;
    file = files_get(thread->process, entry->fd);
    if (file == NULL)
        return POLLNVAL;
    return (int16_t)(poll_events(thread, file) & ((uint16_t)entry->events | POLL_ALWAYS));
}

static void ask_for(struct thread *thread, const struct pollfd *entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct file *file = files_get(thread->process, entries[i].fd);

        if (file != NULL && entries[i].events & POLL_READABLE)
            input_ask(thread, file);
    }
}

static int64_t look_at_list(struct thread *thread, void *context)
{
    const struct poll_list *list = context;
    int64_t ready = 0;

    for (uint32_t from = 0; from < list->count; from += BATCH) {
        uint32_t part = list->count - from < BATCH ? list->count - from : BATCH;
        uint64_t address = list->user + from * sizeof(struct pollfd);
        struct pollfd entries[BATCH];

        if (copy_from_user(entries, address, part * sizeof *entries) != 0)
            return -EFAULT;
        ask_for(thread, entries, part);
        for (uint32_t i = 0; i < part; i++) {
            entries[i].revents = ready_events(thread, &entries[i]);
            ready += entries[i].revents != 0;
        }
        for (uint32_t i = 0; i < part; i++)
            if (copy_to_user(address + i * sizeof *entries + offsetof(struct pollfd, revents),
                             &entries[i].revents, sizeof entries[i].revents) != 0)
                return -EFAULT;
    }
    return ready;
}

static int64_t poll_list(struct thread *thread, const struct trap_frame *frame, uint64_t ns)
{
    struct poll_list list = {.user = frame->rdi, .count = (uint32_t)frame->rsi};

    if (list.count > FILES_MAX)
        return -EINVAL;
    return until_ready(thread, ns, "poll", look_at_list, &list);
}

int64_t syscall_poll(struct thread *thread, struct trap_frame *frame)
{
    int32_t ms = (int32_t)frame->rdx;

    return poll_list(thread, frame, ms < 0 ? WAIT_FOREVER : (uint64_t)ms * NS_PER_MS);
}

/* Stores how much of the time is left, as Linux does; a bad address is not an error. */
static void put_left(uint64_t user, uint64_t deadline, uint64_t ns_per_part)
{
    uint64_t left = poll_left(deadline);
    const uint64_t time[2] = {left / NS_PER_SECOND, left % NS_PER_SECOND / ns_per_part};

    if (user)
        (void)copy_to_user(user, time, sizeof time);
}

static int64_t read_timeout(uint64_t user, uint64_t *ns)
{
    *ns = WAIT_FOREVER;
    return user ? uaccess_time(user, ns) : 0;
}

int64_t syscall_ppoll(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns, deadline;
    bool changed;
    int64_t result = read_timeout(frame->rdx, &ns);

    if (!result)
        result = poll_begin_mask(thread, frame->r10, frame->r8, &changed);
    if (result)
        return result;
    deadline = poll_deadline(ns);
    result = poll_list(thread, frame, ns);
    poll_end_mask(thread, changed, result);
    put_left(frame->rdx, deadline, 1);
    return result;
}

/* ---- select ---- */

struct selection {
    uint32_t count; /* descriptors */
    uint64_t asked[SETS][WORDS_MAX];
    uint64_t ready[SETS][WORDS_MAX];
};

static int64_t select_one(struct thread *thread, struct selection *s, uint32_t fd, uint32_t word)
{
    static const uint32_t wanted[SETS] = {POLL_READABLE | 0x80 /* POLLRDBAND */ | POLL_ALWAYS,
                                          POLL_WRITABLE | 0x200 /* POLLWRBAND */ | POLLERR,
                                          POLLPRI};
    struct file *file = files_get(thread->process, fd);
    uint64_t bit = 1ull << fd % 64;
    uint32_t events;
    int64_t count = 0;

    if (file == NULL)
        return -EBADF;
    if (s->asked[0][word] & bit) {
        input_ask(thread, file);
        file = files_get(thread->process, fd);
        if (file == NULL)
            return -EBADF;
    }
    events = poll_events(thread, file);
    for (int set = 0; set < SETS; set++) {
        if (!(s->asked[set][word] & bit) || !(events & wanted[set]))
            continue;
        s->ready[set][word] |= bit;
        count++;
    }
    return count;
}

static int64_t look_at_sets(struct thread *thread, void *context)
{
    struct selection *s = context;
    int64_t total = 0;

    memset(s->ready, 0, sizeof s->ready);
    for (uint32_t word = 0; word * 64 < s->count; word++) {
        uint64_t asked = s->asked[0][word] | s->asked[1][word] | s->asked[2][word];

        for (; asked; asked &= asked - 1) {
            uint32_t fd = word * 64 + (uint32_t)__builtin_ctzll(asked);
            int64_t ready = fd < s->count ? select_one(thread, s, fd, word) : 0;

            if (ready < 0)
                return ready;
            total += ready;
        }
    }
    return total;
}

static int64_t select_sets(struct thread *thread, const struct trap_frame *frame, uint64_t ns)
{
    const uint64_t users[SETS] = {frame->rsi, frame->rdx, frame->r10};
    int32_t count = (int32_t)frame->rdi;
    struct selection s;
    int64_t total;
    uint64_t bytes;

    if (count < 0)
        return -EINVAL;
    s.count = count > FILES_MAX ? FILES_MAX : (uint32_t)count;
    bytes = ((uint64_t)s.count + 63) / 64 * 8;
    memset(s.asked, 0, sizeof s.asked);
    for (int set = 0; set < SETS; set++)
        if (users[set] && copy_from_user(s.asked[set], users[set], bytes) != 0)
            return -EFAULT;
    total = until_ready(thread, ns, "select", look_at_sets, &s);
    for (int set = 0; set < SETS && total >= 0; set++)
        if (users[set] && copy_to_user(users[set], s.ready[set], bytes) != 0)
            return -EFAULT;
    return total;
}

int64_t syscall_select(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns = WAIT_FOREVER, deadline;
    int64_t result;

    if (frame->r8) {
        int64_t time[2]; /* seconds, microseconds */

        if (copy_from_user(time, frame->r8, sizeof time) != 0)
            return -EFAULT;
        if (time[0] < 0 || time[1] < 0)
            return -EINVAL;
        if (__builtin_mul_overflow((uint64_t)time[0], NS_PER_SECOND, &ns) ||
            (uint64_t)time[1] > WAIT_FOREVER / 1000 ||
            __builtin_add_overflow(ns, (uint64_t)time[1] * 1000, &ns) || ns == WAIT_FOREVER)
            ns = WAIT_FOREVER - 1;
    }
    deadline = poll_deadline(ns);
    result = select_sets(thread, frame, ns);
    put_left(frame->r8, deadline, 1000);
    return result;
}

/* Reads the mask's address and size from memory, because the call has no seventh argument. */
static int64_t begin_packed_mask(struct thread *thread, uint64_t user, bool *changed)
{
    uint64_t mask[2] = {0, 0};

    if (user && copy_from_user(mask, user, sizeof mask) != 0)
        return -EFAULT;
    return poll_begin_mask(thread, mask[0], mask[1], changed);
}

int64_t syscall_pselect6(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns, deadline;
    bool changed;
    int64_t result = read_timeout(frame->r8, &ns);

    if (!result)
        result = begin_packed_mask(thread, frame->r9, &changed);
    if (result)
        return result;
    deadline = poll_deadline(ns);
    result = select_sets(thread, frame, ns);
    poll_end_mask(thread, changed, result);
    put_left(frame->r8, deadline, 1);
    return result;
}
