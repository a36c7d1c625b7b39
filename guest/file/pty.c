/* Pseudo terminals as open files. */
#include "guest/file/pty.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "guest/base/context.h"
#include "guest/file/poll.h"
#include "guest/file/terminal.h"
#include "guest/memory/heap.h"
#include "guest/signal/signal.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define PART 256u /* bytes that are copied at once */
#define NS_PER_TENTH 100000000ull /* of VTIME */

static struct pty *ptys[PTY_MOST]; /* by number */

struct pty *pty_at(uint32_t number)
{
    return number < PTY_MOST ? ptys[number] : NULL;
}

struct pty *pty_of_session(uint32_t session)
{
    for (uint32_t i = 0; i < PTY_MOST; i++)
        if (ptys[i] != NULL && ptys[i]->session == session)
            return ptys[i];
    return NULL;
}

void pty_changed(struct pty *pty)
{
    cross_assert_held();
    if (pty->waiting)
        wait_wake_key(WAIT_KEY(&pty->waiting), UINT32_MAX);
    for (struct file *file = pty->files; file != NULL; file = file->next_of_pipe)
        poll_changed(file, POLL_READABLE | POLL_WRITABLE | POLL_ALWAYS);
}

/* Waits for a change.  Returns 0, -EAGAIN without waiting, -ETIME or -EINTR; then look again before
 * you return that. */
static int64_t wait_change(struct thread *thread, struct pty *pty, const struct file *file,
                           uint64_t ns)
{
    enum wait_end end;

    if (file->flags & O_NONBLOCK)
        return -EAGAIN;
    end = wait_counted(thread, WAIT_KEY(&pty->waiting), ns, "a terminal", &pty->waiting);
    return end == WAIT_SIGNAL ? -EINTR : end == WAIT_TIMEOUT ? -ETIME : 0;
}

/* ---- opening and closing ---- */

static void attach(struct pty *pty, struct file *file, const struct file_type *type)
{
    file->type = type;
    file->state = pty;
    file->next_of_pipe = pty->files;
    pty->files = file;
}

static int open_master(struct thread *, struct file *file)
{
    uint32_t number = terminal_is_command(&process_first);
    struct pty *pty;

    while (number < PTY_MOST && ptys[number] != NULL)
        number++;
    if (number == PTY_MOST)
        return -ENOSPC;
    pty = heap_alloc(sizeof *pty);
    if (pty == NULL)
        return -ENOMEM;
    pty->number = number;
    pty->locked = true;
    pty_line_start(&pty->line);
    ptys[number] = pty;
    attach(pty, file, &pty_file_master);
    return 0;
}

void pty_open_slave(struct pty *pty, struct file *file)
{
    attach(pty, file, &pty_file_slave);
    pty->slaves++;
    pty->opened = true;
    pty_changed(pty);
}

bool pty_take(struct pty *pty, const struct process *process)
{
    uint32_t foreground;

    if (process->session != process->pid || pty->session || terminal_device(process, &foreground))
        return false;
    pty->session = process->session;
    pty->foreground = process->group;
    return true;
}

static int open_slave(struct thread *thread, struct file *file)
{
    struct pty *pty = pty_at((uint32_t)file->inode->context);

    if (pty == NULL || pty->locked || pty->hung_up)
        return -EIO;
    pty_open_slave(pty, file);
    if (!(file->flags & O_NOCTTY))
        (void)pty_take(pty, thread->process);
    return 0;
}

void pty_session_ends(uint32_t session, bool continues)
{
    struct pty *pty = pty_of_session(session);

    if (pty == NULL)
        return;
    signal_send_group(pty->foreground, SIGHUP);
    if (continues)
        signal_send_group(pty->foreground, SIGCONT);
    pty->session = pty->foreground = 0;
}

/* The master was closed: the terminal is gone. */
static void hang_up(struct pty *pty)
{
    const struct signal_note hangup = {.signal = SIGHUP, .code = SI_KERNEL};
    const struct signal_note again = {.signal = SIGCONT, .code = SI_KERNEL};
    struct process *leader = pty->session ? process_find(pty->session) : NULL;

    pty->hung_up = true;
    if (leader != NULL) {
        (void)signal_send_process_note(leader, &hangup);
        (void)signal_send_process_note(leader, &again);
    }
    if (leader == NULL || leader->group != pty->foreground)
        signal_send_group(pty->foreground, SIGHUP);
    pty->session = pty->foreground = 0;
}

static void release_file(struct file *file)
{
    struct pty *pty = file->state;
    struct file **at;

    if (pty == NULL)
        return;
    at = &pty->files;
    while (*at != file)
        at = &(*at)->next_of_pipe;
    *at = file->next_of_pipe;
    if (file->type == &pty_file_master)
        hang_up(pty);
    else
        pty->slaves--;
    pty_changed(pty);
    if (pty->files != NULL)
        return;
    ptys[pty->number] = NULL;
    heap_free(pty, sizeof *pty);
}

/* ---- the master ---- */

static bool is_left(const struct pty *pty) /* no slave is open any longer */
{
    return pty->opened && !pty->slaves;
}

static int64_t read_master(struct thread *thread, struct file *file, uint64_t /* offset */,
                           uint64_t user, uint64_t bytes)
{
    struct pty *pty = file->state;
    uint64_t done = 0;
    int64_t error = 0;

    while (bytes && !pty->line.out.used) {
        if (is_left(pty))
            return -EIO;
        if (error)
            return error;
        error = wait_change(thread, pty, file, WAIT_FOREVER);
    }
    while (done < bytes && pty->line.out.used) {
        uint8_t part[PART];
        uint32_t most = bytes - done < PART ? (uint32_t)(bytes - done) : PART;
        uint32_t count = pty_line_output(&pty->line, part, most);

        if (copy_to_user(user + done, part, count) != 0)
            return -EFAULT;
        done += count;
    }
    pty_changed(pty);
    return (int64_t)done;
}

/* Types one byte.  Returns 0 or -errno. */
static int64_t type_byte(struct thread *thread, struct file *file, uint8_t byte)
{
    struct pty *pty = file->state;
    int64_t error = 0;
    uint32_t signal;

    while (!pty_line_accepts(&pty->line)) {
        if (error)
            return error;
        pty_changed(pty);
        error = wait_change(thread, pty, file, WAIT_FOREVER);
    }
    signal = pty_line_type(&pty->line, byte);
    if (signal)
        signal_send_group(pty->foreground, signal);
    return 0;
}

static int64_t write_master(struct thread *thread, struct file *file, uint64_t /* offset */,
                            uint64_t user, uint64_t bytes)
{
    struct pty *pty = file->state;
    uint8_t part[PART];
    uint64_t done = 0;
    int64_t error = 0;

    while (done < bytes && !error) {
        uint32_t count = bytes - done < PART ? (uint32_t)(bytes - done) : PART;

        error = copy_from_user(part, user + done, count);
        for (uint32_t i = 0; i < count && !error; i++) {
            error = type_byte(thread, file, part[i]);
            done += !error;
        }
    }
    pty_changed(pty);
    return done ? (int64_t)done : error;
}

/* ---- a slave ---- */

/* Checks a process of the background; `signal` is SIGTTIN or SIGTTOU. */
static int64_t check_group(const struct thread *thread, const struct pty *pty, uint32_t signal)
{
    if (pty->session != thread->process->session ||
        (signal == SIGTTOU && !(pty->line.settings.c_lflag & TOSTOP)))
        return 0;
    return terminal_check(thread, pty->foreground, signal);
}

/* Waits until a read can take something, as VMIN and VTIME say.  Returns 1, 0 at the end, or
 * -errno. */
static int64_t wait_typed(struct thread *thread, struct file *file, uint64_t bytes)
{
    struct pty *pty = file->state;
    const struct termios *t = &pty->line.settings;
    uint64_t due = WAIT_FOREVER, asked = WAIT_FOREVER;
    uint32_t seen = UINT32_MAX;
    int64_t error = 0;

    for (;;) {
        bool raw = !(t->c_lflag & ICANON);
        uint32_t ready = pty->line.in.used, least = raw ? t->c_cc[VMIN] : 1;
        uint64_t ns = raw && t->c_cc[VTIME] && (!least || ready) ? t->c_cc[VTIME] * NS_PER_TENTH
                                                                 : WAIT_FOREVER;

        if (least > bytes)
            least = (uint32_t)bytes;
        if (raw ? ready >= least && ready : pty_line_readable(&pty->line))
            return 1;
        if (pty->hung_up || (raw && !t->c_cc[VMIN] && !t->c_cc[VTIME]))
            return 0;
        if (error && ready == seen)
            return raw && ready ? 1 : error == -ETIME ? 0 : error;
        if (ready != seen || ns != asked) /* what else changes does not put it off */
            due = poll_deadline(ns);
        seen = ready;
        asked = ns;
        error = check_group(thread, pty, SIGTTIN);
        if (!error)
            error = wait_change(thread, pty, file, poll_left(due));
    }
}

static int64_t read_slave(struct thread *thread, struct file *file, uint64_t /* offset */,
                          uint64_t user, uint64_t bytes)
{
    struct pty *pty = file->state;
    uint64_t done = 0;
    int64_t status = check_group(thread, pty, SIGTTIN);

    if (!status && bytes)
        status = wait_typed(thread, file, bytes);
    if (status <= 0)
        return status;
    for (;;) {
        uint8_t part[PART];
        uint32_t ready = pty_line_ready(&pty->line);
        uint32_t most = bytes - done < PART ? (uint32_t)(bytes - done) : PART;
        uint32_t count = pty_line_take(&pty->line, part, most);

        if (count && copy_to_user(user + done, part, count) != 0)
            return -EFAULT;
        done += count;
        if (!count || count == ready || done == bytes)
            break;
    }
    pty_changed(pty);
    return (int64_t)done;
}

static int64_t write_slave(struct thread *thread, struct file *file, uint64_t /* offset */,
                           uint64_t user, uint64_t bytes)
{
    struct pty *pty = file->state;
    int64_t error = check_group(thread, pty, SIGTTOU);
    uint64_t done = 0;

    while (done < bytes && !error) {
        uint8_t part[PART];
        uint32_t count = bytes - done < PART ? (uint32_t)(bytes - done) : PART, put = 0;

        if (pty->hung_up)
            return done ? (int64_t)done : -EIO;
        error = copy_from_user(part, user + done, count);
        while (!error && put < count && pty_line_put(&pty->line, part[put]))
            put++;
        done += put;
        pty_changed(pty);
        if (!error && put < count)
            error = wait_change(thread, pty, file, WAIT_FOREVER);
    }
    return done ? (int64_t)done : error;
}

/* ---- readiness ---- */

static uint32_t poll_master(struct thread *, struct file *file)
{
    const struct pty *pty = file->state;

    return (pty->line.out.used ? POLL_READABLE : 0) | (is_left(pty) ? POLLHUP : 0) |
           (pty_line_accepts(&pty->line) ? POLL_WRITABLE : 0);
}

static uint32_t poll_slave(struct thread *, struct file *file)
{
    const struct pty *pty = file->state;
    const struct termios *t = &pty->line.settings;
    uint32_t least = !(t->c_lflag & ICANON) && !t->c_cc[VTIME] && t->c_cc[VMIN] ? t->c_cc[VMIN] : 1;
    bool readable = pty_line_readable(&pty->line) && pty->line.in.used >= least;

    if (pty->hung_up)
        return POLL_READABLE | POLL_WRITABLE | POLL_ALWAYS;
    return (readable ? POLL_READABLE : 0) |
           (!pty->line.stopped && pty->line.out.used < PTY_LINE_BYTES / 2 ? POLL_WRITABLE : 0);
}

const struct file_type pty_file_master = {.mode = S_IFCHR | 0666,
                                          .device = 5 << 8 | 2,
                                          .open = open_master,
                                          .read = read_master,
                                          .write = write_master,
                                          .poll = poll_master,
                                          .ioctl = pty_control,
                                          .release = release_file};
const struct file_type pty_file_slave = {.mode = S_IFCHR | 0620,
                                         .device = 136 << 8,
                                         .open = open_slave,
                                         .read = read_slave,
                                         .write = write_slave,
                                         .poll = poll_slave,
                                         .ioctl = pty_control,
                                         .release = release_file};
