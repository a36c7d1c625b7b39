/* Owners of files. */
#include "guest/file/file_owner.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <signal.h>

#include "guest/base/context.h"
#include "guest/signal/signal.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"

static bool owner_exists(uint32_t type, uint32_t id)
{
    switch (type) {
    case F_OWNER_TID:
        return threads_find(id) != NULL;
    case F_OWNER_PID:
        return process_find(id) != NULL;
    default:
        return process_uses_id(id);
    }
}

/* Sets an owner that is there as anything: a thread may be named where a process is meant, which
 * then gets nothing. */
static int set_owner(struct file *file, const struct f_owner_ex *owner)
{
    uint32_t id = (uint32_t)owner->pid;

    if (id && process_find(id) == NULL && threads_find(id) == NULL && !process_uses_id(id))
        return -ESRCH;
    file->owner = id;
    file->owner_type = (uint8_t)owner->type;
    return 0;
}

static struct f_owner_ex owner_of(const struct file *file)
{
    struct f_owner_ex owner = {.type = file->owner_type};

    if (owner_exists(file->owner_type, file->owner))
        owner.pid = (int32_t)file->owner;
    return owner;
}

int64_t file_owner_set(struct file *file, int32_t who)
{
    struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = who};

    cross_assert_held();
    if (who == INT32_MIN)
        return -EINVAL;
    if (who < 0)
        owner = (struct f_owner_ex){.type = F_OWNER_PGRP, .pid = -who};
    return set_owner(file, &owner);
}

int32_t file_owner_get(const struct file *file)
{
    const struct f_owner_ex owner = owner_of(file);

    return owner.type == F_OWNER_PGRP ? -owner.pid : owner.pid;
}

static int64_t set_given(struct file *file, uint64_t user)
{
    struct f_owner_ex owner;

    if (copy_from_user(&owner, user, sizeof owner) != 0)
        return -EFAULT;
    if (owner.type != F_OWNER_TID && owner.type != F_OWNER_PID && owner.type != F_OWNER_PGRP)
        return -EINVAL;
    return set_owner(file, &owner);
}

int64_t file_owner_control(struct file *file, uint32_t command, uint64_t argument)
{
    const struct f_owner_ex owner = owner_of(file);

    switch (command) {
    case F_SETOWN:
        return file_owner_set(file, (int32_t)argument);
    case F_GETOWN:
        return file_owner_get(file);
    case F_SETOWN_EX:
        return set_given(file, argument);
    case F_GETOWN_EX:
        return copy_to_user(argument, &owner, sizeof owner);
    default: /* F_SETSIG, F_GETSIG: of SIGIO, which is not sent */
        return 0;
    }
}

void file_owner_signal(const struct file *file, uint32_t signal)
{
    const struct signal_note note = {.signal = signal, .code = SI_KERNEL};
    struct process *process;
    struct thread *thread;

    cross_assert_held();
    if (!file->owner)
        return;
    if (file->owner_type == F_OWNER_PGRP) {
        signal_send_group(file->owner, signal);
    } else if (file->owner_type == F_OWNER_TID) {
        thread = threads_find(file->owner);
        if (thread != NULL)
            (void)signal_send_note(thread, &note);
    } else {
        process = process_find(file->owner);
        if (process != NULL)
            (void)signal_send_process_note(process, &note);
    }
}
