/* syscalls: makes the system calls that single-threaded programs use and checks what they return.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int failures;
static const char *self; /* argv[0]: the one file that surely exists */

static void check(const char *name, int good)
{
    printf("%s %s\n", good ? "ok" : "FAILED", name);
    failures += !good;
}

/* True when `result` is -1 and errno is as expected; clears errno. */
static int fails(long result, int expected)
{
    int good = result == -1 && errno == expected;
    errno = 0;
    return good;
}

static void check_output(void)
{
    struct iovec parts[3] = {{"ok wri", 6}, {"", 0}, {"tev in parts\n", 13}};
    fflush(stdout);
    check("write: stdout", write(1, "ok write in one piece\n", 22) == 22);
    fflush(stdout);
    check("writev: stdout", writev(1, parts, 3) == 19);
    check("write: nothing", write(1, "", 0) == 0);
    check("write: bad descriptor", fails(write(77, "x", 1), EBADF));
    check("write: bad address", fails(syscall(SYS_write, 1, (void *)16, 1), EFAULT));
    check("write: kernel address",
          fails(syscall(SYS_write, 1, (void *)0xffffffff80100000, 64), EFAULT));
}

static void check_descriptors(void)
{
    int copy = dup(1);
    check("dup: lowest free descriptor", copy >= 3);
    check("dup2: chosen descriptor", dup2(1, 30) == 30 && write(30, "", 0) == 0);
    check("fcntl: F_GETFD", fcntl(30, F_GETFD) == 0);
    check("fcntl: F_SETFD",
          fcntl(30, F_SETFD, FD_CLOEXEC) == 0 && fcntl(30, F_GETFD) == FD_CLOEXEC);
    check("fcntl: F_GETFL of stdout", (fcntl(1, F_GETFL) & O_ACCMODE) != O_RDONLY);
    check("fcntl: F_DUPFD", fcntl(1, F_DUPFD, 40) == 40 && close(40) == 0);
    check("dup3: flags", dup3(1, 31, O_CLOEXEC) == 31 && fcntl(31, F_GETFD) == FD_CLOEXEC);
    check("close", close(copy) == 0 && close(30) == 0 && close(31) == 0);
    check("close: twice", fails(close(copy), EBADF));
    check("lseek: no file", fails(lseek(77, 0, SEEK_SET), EBADF));
}

static void check_files(void)
{
    char head[4] = "", again[4] = "";
    struct stat by_path, by_fd;
    int fd = open(self, O_RDONLY | O_CLOEXEC);
    check("open: the program itself", fd >= 3);
    check("read: its first bytes", read(fd, head, 4) == 4 && memcmp(head,
                                                                    "\x7f"
                                                                    "ELF",
                                                                    4) == 0);
    check("pread: does not move", pread(fd, again, 3, 1) == 3 && memcmp(again, "ELF", 3) == 0 &&
                                      lseek(fd, 0, SEEK_CUR) == 4);
    check("fstat", fstat(fd, &by_fd) == 0 && S_ISREG(by_fd.st_mode));
    check("stat: agrees with fstat", stat(self, &by_path) == 0 &&
                                         by_path.st_size == by_fd.st_size &&
                                         by_path.st_ino == by_fd.st_ino);
    check("lseek: end", lseek(fd, 0, SEEK_END) == by_fd.st_size);
    check("read: at the end", read(fd, head, 4) == 0);
    check("lseek: before the start", fails(lseek(fd, -1, SEEK_SET), EINVAL));
    check("read: bad address",
          lseek(fd, 0, SEEK_SET) == 0 && fails(syscall(SYS_read, fd, (void *)16, 4), EFAULT));
    check("close: file", close(fd) == 0);
    check("open: missing file", fails(open("/no/such/file", O_RDONLY), ENOENT));
    check("open: empty name", fails(open("", O_RDONLY), ENOENT));
    check("open: bad address", fails(syscall(SYS_open, (void *)16, O_RDONLY), EFAULT));
    check("access: readable", access(self, R_OK) == 0);
    check("access: missing", fails(access("/no/such/file", F_OK), ENOENT));
}

static void check_directories(void)
{
    char cwd[4096], link[4096];
    struct stat status;
    DIR *root = opendir("/");
    int entries = 0;
    while (root && readdir(root))
        entries++;
    check("getdents64: the root has entries", entries > 0);
    check("closedir", root && closedir(root) == 0);
    check("stat: / is a directory", stat("/", &status) == 0 && S_ISDIR(status.st_mode));
    check("getcwd: absolute", getcwd(cwd, sizeof(cwd)) && cwd[0] == '/');
    check("getcwd: too small", !getcwd(cwd, 1) && errno == ERANGE);
    check("chdir: /", chdir("/") == 0 && getcwd(cwd, sizeof(cwd)) && strcmp(cwd, "/") == 0);
    ssize_t length = readlink("/proc/self/exe", link, sizeof(link) - 1);
    check("readlink: /proc/self/exe", length > 0 && link[0] == '/');
}

static void check_identity(void)
{
    struct utsname name;
    check("getpid: positive", getpid() > 0);
    check("gettid: equals getpid", syscall(SYS_gettid) == getpid());
    check("getppid", getppid() >= 0);
    check("getuid and geteuid agree", getuid() == geteuid());
    check("getgid and getegid agree", getgid() == getegid());
    check("uname: Linux on x86_64", uname(&name) == 0 && strcmp(name.sysname, "Linux") == 0 &&
                                        strcmp(name.machine, "x86_64") == 0);
    check("uname: release", strchr(name.release, '.') != NULL);
    check("umask: returns the previous", umask(027) != 027 && umask(022) == 027);
    check("getauxval: page size", getauxval(AT_PAGESZ) == 4096);
    check("getauxval: AT_RANDOM", getauxval(AT_RANDOM) != 0);
}

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec t = {-1, -1};
    return clock_gettime(clock, &t) == 0 ? t.tv_sec * 1000000000ll + t.tv_nsec : -1;
}

static void check_time(void)
{
    struct timespec resolution, nap = {.tv_nsec = 2000000};
    struct timeval day;
    struct tms usage;
    int64_t before = nanoseconds(CLOCK_MONOTONIC);
    check("clock_gettime: monotonic", before >= 0 && nanoseconds(CLOCK_MONOTONIC) >= before);
    check("clock_gettime: realtime after 2020",
          nanoseconds(CLOCK_REALTIME) > 1577836800000000000ll);
    check("clock_gettime: process CPU time", nanoseconds(CLOCK_PROCESS_CPUTIME_ID) >= 0);
    check("clock_gettime: unknown clock", fails(clock_gettime(99, &resolution), EINVAL));
    check("clock_getres",
          clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_sec == 0);
    check("gettimeofday", gettimeofday(&day, NULL) == 0 && day.tv_sec > 1577836800);
    check("time: agrees with gettimeofday", time(NULL) - day.tv_sec <= 1);
    before = nanoseconds(CLOCK_MONOTONIC);
    check("nanosleep", nanosleep(&nap, NULL) == 0);
    check("nanosleep: time has passed", nanoseconds(CLOCK_MONOTONIC) - before >= 2000000);
    check("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL) == 0);
    nap.tv_nsec = 1000000000;
    check("nanosleep: bad time", fails(nanosleep(&nap, NULL), EINVAL));
    check("times", times(&usage) != (clock_t)-1);
}

static void check_limits(void)
{
    struct rlimit stack;
    struct rusage usage;
    struct sysinfo info;
    cpu_set_t cpus;
    check("getrlimit: stack", getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur >= 65536);
    check("getrusage", getrusage(RUSAGE_SELF, &usage) == 0);
    check("sysinfo: memory", sysinfo(&info) == 0 && info.totalram > 0);
    CPU_ZERO(&cpus);
    check("sched_getaffinity",
          sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 0);
    check("sched_yield", sched_yield() == 0);
}

static void check_misc(void)
{
    uint8_t random[32] = {0};
    uint8_t any = 0;
    struct winsize size;
    struct pollfd out = {.fd = 1, .events = POLLOUT};
    check("getrandom: length", getrandom(random, sizeof(random), 0) == (ssize_t)sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++)
        any |= random[i];
    check("getrandom: not all zero", any != 0);
    check("poll: stdout is ready", poll(&out, 1, 1000) == 1 && (out.revents & POLLOUT));
    check("poll: timeout", poll(NULL, 0, 1) == 0);
    check("ioctl: no terminal", isatty(1) || fails(ioctl(1, TIOCGWINSZ, &size), ENOTTY));
    check("unknown number", fails(syscall(4000), ENOSYS));
    check("futex: wake nobody",
          syscall(SYS_futex, &any, 1 | 128, 1, NULL, NULL, 0) == 0 || errno == EINVAL);
}

static volatile sig_atomic_t caught;

static void on_signal(int signal)
{
    caught = signal;
}

static void check_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigset_t set, old;
    check("sigaction: install", sigaction(SIGUSR1, &action, NULL) == 0);
    check("sigaction: read back",
          sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler == on_signal);
    check("sigaction: SIGKILL", fails(sigaction(SIGKILL, &action, NULL), EINVAL));
    check("raise: handler runs", raise(SIGUSR1) == 0 && caught == SIGUSR1);
    caught = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    check("sigprocmask: block", sigprocmask(SIG_BLOCK, &set, &old) == 0);
    check("kill: blocked", kill(getpid(), SIGUSR1) == 0 && caught == 0);
    check("sigprocmask: unblock delivers",
          sigprocmask(SIG_SETMASK, &old, NULL) == 0 && caught == SIGUSR1);
    check("kill: signal 0", kill(getpid(), 0) == 0);
    check("sigaction: ignore", signal(SIGUSR1, SIG_IGN) == on_signal && raise(SIGUSR1) == 0);
}

int main(int /* argc */, char **argv)
{
    char *absolute = realpath("/proc/self/exe", NULL);
    self = absolute ? absolute : argv[0];
    check_output();
    check_descriptors();
    check_files();
    check_directories();
    check_identity();
    check_time();
    check_limits();
    check_misc();
    check_signals();
    printf("syscalls: %d failed\n", failures);
    free(absolute);
    return failures ? 1 : 0;
}
