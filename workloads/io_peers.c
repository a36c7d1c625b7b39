/* io_peers: a process looks into another one: process_vm_readv and process_vm_writev, kcmp, and
 * what CLONE_FS shares. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/io.h"

#define PAGE 4096ul
#define NOBODY 4000000 /* no such process */

enum { FILE_OF, VM, FILES, FS, SIGHAND, IO, SYSVSEM }; /* KCMP_* */

static char *shown; /* four pages; the third cannot be reached, the fourth cannot be written */
static char own[4 * PAGE];

static long move(long number, pid_t pid, struct iovec *a, unsigned long count, struct iovec *b,
                 unsigned long others, unsigned long flags)
{
    return syscall(number, pid, a, count, b, others, flags);
}

static long get(pid_t pid, void *to, void *from, size_t bytes)
{
    struct iovec a = {to, bytes}, b = {from, bytes};

    return move(SYS_process_vm_readv, pid, &a, 1, &b, 1, 0);
}

static long put(pid_t pid, void *from, void *to, size_t bytes)
{
    struct iovec a = {from, bytes}, b = {to, bytes};

    return move(SYS_process_vm_writev, pid, &a, 1, &b, 1, 0);
}

static void memory(pid_t pid)
{
    struct iovec parts[3] = {{own, 5}, {own + 100, 0}, {own + 200, 7}};
    struct iovec others[2] = {{shown + PAGE - 6, 6}, {shown + 3, 100}};

    SAY(get(pid, own, shown, 5));
    printf("%.5s, here %.5s\n", own, shown);
    SAY(put(pid, "written", shown + PAGE - 3, 7));
    SAY(get(pid, own, shown + PAGE - 3, 7));
    printf("%.7s, here %d\n", own, shown[PAGE]);
    SAY(move(SYS_process_vm_readv, pid, parts, 3, others, 2, 0));
    SAY(get(pid, own, shown + PAGE, 2 * PAGE));
    SAY(get(pid, own, shown + 2 * PAGE, 1));
    SAY(put(pid, own, shown + 3 * PAGE, 1));
    SAY(get(pid, own, shown + 3 * PAGE, 1));
    SAY(get(pid, own, io_bad(), 1));
    SAY(get(pid, io_bad(), shown, 1));
    SAY(get(pid, io_bad(), shown, 0));
    SAY(get(NOBODY, own, shown, 1));
    SAY(get(NOBODY, own, shown, 0));
    SAY(get(getpid(), own, shown, 1));
    SAY(move(SYS_process_vm_readv, pid, parts, 3, others, 2, 1));
    SAY(move(SYS_process_vm_readv, pid, parts, 1025, others, 2, 0));
    SAY(move(SYS_process_vm_readv, pid, parts, 3, others, 1025, 0));
    SAY(move(SYS_process_vm_readv, pid, io_bad(), 3, others, 2, 0));
    SAY(move(SYS_process_vm_readv, pid, parts, 3, io_bad(), 2, 0));
    others[0].iov_len = -1ul;
    SAY(move(SYS_process_vm_readv, pid, parts, 3, others, 2, 0));
}

static long compare(pid_t pid, int kind, unsigned long a, unsigned long b)
{
    long result = syscall(SYS_kcmp, getpid(), pid, kind, a, b);

    return result > 0 ? 1 : result; /* the order differs from run to run */
}

static void kinds(pid_t pid, int fd)
{
    SAY(compare(pid, FILE_OF, (unsigned long)fd, (unsigned long)fd));
    SAY(compare(pid, FILE_OF, 0, (unsigned long)fd));
    SAY(compare(pid, FILE_OF, 900, 0));
    SAY(compare(pid, FILE_OF, 0, 900));
    SAY(compare(getpid(), FILE_OF, (unsigned long)fd, (unsigned long)dup(fd)));
    SAY(compare(pid, VM, 0, 0));
    SAY(compare(getpid(), VM, 0, 0));
    SAY(compare(pid, FILES, 0, 0));
    SAY(compare(pid, FS, 0, 0));
    SAY(compare(pid, SIGHAND, 0, 0));
    SAY(compare(pid, 99, 0, 0));
    SAY(compare(NOBODY, VM, 0, 0));
}

static int child(void *argument)
{
    (void)argument;
    pause();
    return 0;
}

/* The child changes its directory and mask, and ends. */
static int moves(void *argument)
{
    umask(0123);
    return chdir(argument);
}

static void directories(const char *what, int flags)
{
    static char stack[65536] __attribute__((aligned(16)));
    char path[64];
    int status = 0;
    pid_t pid;

    umask(022);
    if (chdir("/") != 0)
        return;
    pid = clone(moves, stack + sizeof stack, flags | SIGCHLD, "/dev");
    waitpid(pid, &status, 0);
    printf("%s: status %d, directory %s, mask %o\n", what, status, getcwd(path, sizeof path),
           (unsigned)umask(022));
}

static void sharing(const char *what, int flags)
{
    static char stack[65536] __attribute__((aligned(16)));
    pid_t pid = clone(child, stack + sizeof stack, flags | SIGCHLD, NULL);

    printf("%s\n", what);
    SAY(compare(pid, VM, 0, 0));
    SAY(compare(pid, FILES, 0, 0));
    SAY(compare(pid, FS, 0, 0));
    SAY(compare(pid, SIGHAND, 0, 0));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    int fd = open("/dev/null", O_RDONLY), pipes[2];
    char byte = 0;
    pid_t pid;

    io_quietly();
    shown = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shown == MAP_FAILED || pipe(pipes) != 0)
        return 1;
    memcpy(shown, "here!", 5);
    mprotect(shown + 2 * PAGE, PAGE, PROT_NONE);
    mprotect(shown + 3 * PAGE, PAGE, PROT_READ);
    pid = fork();
    if (pid == 0) {
        memcpy(shown, "there", 5);
        if (write(pipes[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    if (read(pipes[0], &byte, 1) != 1)
        return 1;
    memory(pid);
    kinds(pid, fd);
    kill(pid, SIGKILL);
    waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
    SAY(get(pid, own, shown, 1));
    waitpid(pid, NULL, 0);
    SAY(get(pid, own, shown, 1));
    sharing("nothing is shared", 0);
    sharing("memory is shared", CLONE_VM);
    sharing("files are shared", CLONE_FILES);
    sharing("the directory is shared", CLONE_FS);
    sharing("all is shared", CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND);
    directories("a directory of its own", 0);
    directories("the same directory", CLONE_FS);
    directories("the same directory and memory", CLONE_FS | CLONE_VM);
    return 0;
}
