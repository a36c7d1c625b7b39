/* Waits for what is written to a trace. */
#include "host/scan/growth.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/base/monotonic.h"
#include "host/base/transfer.h"
#include "host/trace/trace_stdin.h"

#define MS 1000000u
#define HEADER_BYTES 4096u /* more than a file header needs */

static int catch_signals(struct growth *g)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &signals, &g->before) != 0)
        return -errno;
    g->signals = signalfd(-1, &signals, SFD_CLOEXEC);
    return g->signals >= 0 ? 0 : -errno;
}

/* Else it would come when it is no longer blocked. */
static int take_signal(struct growth *g)
{
    struct signalfd_siginfo signal;

    return read(g->signals, &signal, sizeof signal) == (ssize_t)sizeof signal ? 1 : 0;
}

/* Waits until `until_ns`, and takes what comes through the pipe.  Returns 0 or -errno; 1 if a
 * signal came. */
static int pass_time(struct growth *g, uint64_t until_ns)
{
    uint64_t now;
    int result = 0;

    while (result == 0 && !g->ended && (now = monotonic_ns()) < until_ns) {
        struct pollfd fds[] = {{.fd = g->signals, .events = POLLIN},
                               {.fd = g->pipe ? STDIN_FILENO : -1, .events = POLLIN}};

        if (poll(fds, 2, (int)((until_ns - now) / MS) + 1) < 0 && errno != EINTR)
            return -errno;
        if (fds[0].revents != 0)
            return take_signal(g);
        if (fds[1].revents == 0)
            continue;
        result = trace_stdin_take();
        g->ended = result == 0;
        result = result < 0 ? result : 0;
    }
    return result;
}

static int pause_once(struct growth *g)
{
    return pass_time(g, monotonic_ns() + (uint64_t)GROWTH_LOOK_MS * MS);
}

bool growth_is_locked(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}

static bool is_written(const struct growth *g, int fd)
{
    return g->pipe ? !g->ended : growth_is_locked(fd);
}

/* Whether the file header is there, or will not come. */
static bool has_begun(const struct growth *g, int fd)
{
    uint8_t bytes[HEADER_BYTES];
    bool written = is_written(g, fd);
    ssize_t got = transfer_read_at(fd, bytes, sizeof bytes, 0);
    uint32_t first_chunk;

    return !written || got < 0 || trace_check_file(bytes, (size_t)got, &first_chunk) != TRACE_SHORT;
}

/* Returns whether there is something to open; a failure is found again by opening it. */
static bool is_there(const struct growth *g, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? trace_stdin_file() : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool there = fd >= 0 ? has_begun(g, fd) : standard || errno != ENOENT;

    if (fd >= 0 && !standard)
        close(fd);
    return there;
}

/* Opening "-" would wait for all of it. */
static int open_now(struct trace_scan *scan, struct reader *reader)
{
    const char *path = reader->path;
    char file[32];
    int error;

    if (strcmp(path, "-") == 0) {
        snprintf(file, sizeof file, "/proc/self/fd/%d", trace_stdin_file());
        reader->path = file;
    }
    error = reader_open(scan, reader);
    reader->path = path;
    return error;
}

int growth_begin(struct growth *g, struct trace_scan *scan, struct reader *reader)
{
    const char *path = reader->path;
    bool said = false;
    int error;

    *g = (struct growth){.pipe = strcmp(path, "-") == 0 && trace_stdin_file() != STDIN_FILENO,
                         .signals = -1};
    error = catch_signals(g);
    while (error == 0 && !is_there(g, path)) {
        if (!said && !g->pipe)
            error_print("%s: not there yet; waiting for a run to write it", path);
        said = true;
        error = pause_once(g);
    }
    if (error == 0)
        error = open_now(scan, reader);
    if (error == 0)
        scan->file.growing = true;
    return error;
}

void growth_end(struct growth *g)
{
    if (g->signals < 0)
        return;
    close(g->signals);
    sigprocmask(SIG_SETMASK, &g->before, NULL);
}

/* Waits, but not the first time, and looks at the file.  Returns an enum growth_step or -errno, as
 * trace_file_grow. */
static int growth_wait(struct growth *g, struct trace_file *file)
{
    int error = g->looked ? pause_once(g) : 0;
    bool written;

    if (error != 0)
        return error > 0 ? GROWTH_STOPPED : error;
    g->looked = true;
    written = is_written(g, file->fd); /* before the last look at the file */
    error = trace_file_grow(file);
    if (error != 0)
        return error;
    file->growing = written;
    return written ? GROWTH_MORE : GROWTH_OVER;
}

int growth_follow(struct growth *g, struct trace_scan *scan, struct live *live,
                  const struct growth_work *work)
{
    int step, error = 0;

    scan->progress.line.enabled = false; /* it would spoil what is shown */
    do {
        FILE *out = NULL;

        step = growth_wait(g, &scan->file);
        if (step < 0)
            error = step;
        else if (step != GROWTH_STOPPED)
            error = work->read(work->context);
        if (error == 0 && step == GROWTH_MORE)
            out = live_begin(live);
        if (out != NULL) {
            work->show(work->context, out);
            live_end(live);
        }
    } while (error == 0 && step == GROWTH_MORE);
    live_erase(live);
    if (error == 0 && step == GROWTH_STOPPED)
        trace_audit_finish(&scan->audit, &scan->info);
    trace_names_release(scan->info.names); /* they know the file as it was at first */
    scan->info.names = trace_names_new(&scan->file);
    return error;
}
