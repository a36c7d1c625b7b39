/* Starts and ends the emulator process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/launch/launch.h"
#include "host/launch/launch_fixed.h"
#include "host/launch/launch_libvirt.h"

#define SOCKET_BYTES (4 << 20)

/* At its start the emulator allocates 5 MB in small pieces. With huge pages, and an arena that does
 * not grow by calls of mprotect, half as many pages are faulted in. Another C library than glibc
 * does not look at it. */
#define TUNABLES "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=4194304"

struct child_ends {
    int archive;
    int ports[LAUNCH_PORTS];
    int errors;
    int qmp;
    int exact;
    int status; /* exec's failure is reported here, as an errno */
};

/* SO_*BUFFORCE needs a privilege; without it the system's limit applies. */
static void enlarge(int fd)
{
    const int bytes = SOCKET_BYTES;

    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

static int move_to_spare(int fd)
{
    return fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, LAUNCH_FD_SPARE) : -1;
}

static int place(int fd, int number)
{
    return fd >= 0 && dup2(fd, number) == number ? 0 : -1;
}

/* A descriptor that has an unused number may belong to hr's caller. */
static int place_or_close(bool used, int fd, int number)
{
    if (used)
        return place(fd, number);
    close(number);
    return 0;
}

/* The numbers above exceed the default limit of a careful system. */
static void allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= LAUNCH_FD_LIMIT)
        return;
    limit.rlim_cur = limit.rlim_max < LAUNCH_FD_LIMIT ? limit.rlim_max : LAUNCH_FD_LIMIT;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int place_descriptors(struct child_ends *ends, const struct launch_command *command)
{
    int status, null;

    allow_descriptors();
    status = move_to_spare(ends->status);
    null = move_to_spare(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (status < 0 || null < 0) {
        errno = EMFILE; /* a number beyond the limit gives EINVAL */
        return -1;
    }
    ends->status = status;

    ends->archive = move_to_spare(ends->archive);
    ends->errors = move_to_spare(ends->errors);
    for (int i = 0; i < LAUNCH_PORTS; i++)
        ends->ports[i] = move_to_spare(ends->ports[i]);
    ends->qmp = move_to_spare(ends->qmp);
    ends->exact = move_to_spare(ends->exact);
    for (int i = 0; i < LAUNCH_PORTS; i++)
        if (place_or_close(command->has_port[i], ends->ports[i], LAUNCH_FD_PORTS + i) != 0)
            return -1;
    if (place_or_close(command->controlled, ends->qmp, LAUNCH_FD_QMP) != 0 ||
        place_or_close(command->exact >= 0, ends->exact, LAUNCH_FD_EXACT) != 0 ||
        place(ends->archive, LAUNCH_FD_ARCHIVE) != 0 || place(null, 0) != 0 ||
        place(ends->errors, 1) != 0 || place(ends->errors, 2) != 0)
        return -1;
    /* The emulator does not inherit descriptors that our own caller left open, either. */
    return close_range(3, LAUNCH_FD_ARCHIVE - 1, CLOSE_RANGE_CLOEXEC) != 0 ||
                   close_range(LAUNCH_FD_EXACT + 1, ~0u, CLOSE_RANGE_CLOEXEC) != 0
               ? -1
               : 0;
}

/* A session of its own keeps the terminal's signals away from the emulator: they are for hr, which
 * stops the program and keeps the trace.  The emulator dies with hr, however hr ends. */
__attribute__((noreturn)) static void run_child(const struct launch_command *command,
                                                struct child_ends *ends, pid_t parent)
{
    sigset_t none;
    int reason;

    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    (void)setenv("GLIBC_TUNABLES", TUNABLES, 0); /* the user's own stay */
    if (place_descriptors(ends, command) == 0)
        execv(command->qemu, command->argv);
    reason = errno;
    if (write(ends->status, &reason, sizeof reason) < 0)
        _exit(2);
    _exit(1);
}

static int open_pairs(const struct launch_command *command, struct launch *launch,
                      struct child_ends *ends)
{
    int *ours[LAUNCH_PORTS + 2] = {&launch->errors, &launch->qmp};
    int *theirs[LAUNCH_PORTS + 2] = {&ends->errors, &ends->qmp};

    for (int i = 0; i < LAUNCH_PORTS; i++) {
        ours[i + 2] = &launch->ports[i];
        theirs[i + 2] = &ends->ports[i];
    }
    for (int i = 0; i < LAUNCH_PORTS + 2; i++) {
        int pair[2];

        if (i >= 2 && !command->has_port[i - 2])
            continue;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            return -1;
        enlarge(pair[0]);
        enlarge(pair[1]);
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        *ours[i] = pair[0];
        *theirs[i] = pair[1];
    }
    return 0;
}

static void close_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_ports(int ports[LAUNCH_PORTS], int *errors, int *qmp)
{
    for (int i = 0; i < LAUNCH_PORTS; i++)
        close_open(&ports[i]);
    close_open(errors);
    close_open(qmp);
}

/* Waits until the child has executed the emulator.  Returns 0 or the errno of its failure. */
static int wait_for_exec(int status_fd)
{
    int reason = 0;
    ssize_t bytes;

    do
        bytes = read(status_fd, &reason, sizeof reason);
    while (bytes < 0 && errno == EINTR);
    return bytes == sizeof reason ? reason : 0;
}

static int fork_emulator(const struct launch_command *command, struct launch *launch,
                         struct child_ends *ends)
{
    int status[2];
    pid_t parent = getpid();
    int reason;

    if (pipe2(status, O_CLOEXEC) != 0)
        return errno;
    ends->status = status[1];
    launch->pid = fork();
    if (launch->pid == 0)
        run_child(command, ends, parent);
    reason = launch->pid < 0 ? errno : 0;
    launch->emulator = reason == 0 ? launch->pid : 0;
    close(status[1]);
    if (reason == 0)
        reason = wait_for_exec(status[0]);
    close(status[0]);
    if (reason == 0) {
        launch->pidfd = (int)syscall(SYS_pidfd_open, launch->pid, 0);
        reason = launch->pidfd < 0 ? errno : 0;
    }
    return reason;
}

int launch_start(const struct launch_command *command, int archive_fd, struct launch *launch,
                 struct run_failure *failure)
{
    struct child_ends ends = {
        .archive = archive_fd, .errors = -1, .qmp = -1, .exact = command->exact, .status = -1};
    int reason;

    *launch = (struct launch){.pid = -1, .pidfd = -1, .errors = -1, .qmp = -1};
    for (int i = 0; i < LAUNCH_PORTS; i++)
        launch->ports[i] = ends.ports[i] = -1;
    reason =
        open_pairs(command, launch, &ends) == 0 ? fork_emulator(command, launch, &ends) : errno;
    close_ports(ends.ports, &ends.errors, &ends.qmp);
    if (reason == 0)
        return 0;
    launch_end(launch, true);
    return run_fail(failure, "cannot start %s: %s", command->qemu, strerror(reason));
}

/* Kills the process group of its session, because a script given as --qemu may have started
 * processes. */
void launch_kill(const struct launch *launch)
{
    if (launch->libvirt != NULL) {
        launch_libvirt_kill(launch->libvirt);
        return;
    }
    if (kill(-launch->pid, SIGKILL) != 0)
        kill(launch->pid, SIGKILL);
}

int launch_end(struct launch *launch, bool kill_first)
{
    int status = 0;

    if (launch->libvirt != NULL)
        launch_libvirt_end(launch->libvirt);
    launch->libvirt = NULL;
    if (launch->pid > 0) {
        if (kill_first)
            launch_kill(launch);
        while (waitpid(launch->pid, &status, 0) < 0 && errno == EINTR)
            continue;
        launch->pid = -1;
    }
    close_open(&launch->pidfd);
    close_ports(launch->ports, &launch->errors, &launch->qmp);
    return status;
}
