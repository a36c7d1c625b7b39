/* execs: executes itself again and again, and says what the new program finds; equal natively. */
#include <immintrin.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "workloads/execs.h"

static char self[PATH_MAX];
static char **given;

/* Executes itself for the step, which it finds in its environment. */
static void go(int step, const char *path, char *const *arguments)
{
    char text[32], *environment[] = {text, (char[]){"A=b c"}, NULL};

    snprintf(text, sizeof text, "STEP=%d", step);
    fflush(stdout);
    execve(path, arguments, environment);
    printf("execve of %s: %s\n", path, strerror(errno));
    exit(1);
}

static void go_plain(int step)
{
    char *arguments[] = {self, NULL};

    go(step, self, arguments);
}

/* Reads a small file of /proc; returns its bytes. */
static size_t content(const char *path, char *to, size_t room)
{
    int file = open(path, O_RDONLY);
    size_t bytes = 0;
    ssize_t part;

    while (file >= 0 && bytes < room - 1 && (part = read(file, to + bytes, room - 1 - bytes)) > 0)
        bytes += (size_t)part;
    close(file);
    to[bytes] = '\0';
    return bytes;
}

/* ---- what is kept and what is reset ---- */

static void handler(int)
{
}

static void set_signals(void)
{
    static char stack[65536];
    struct itimerval far = {.it_value.tv_sec = 100000};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};
    struct itimerspec now = {.it_value.tv_nsec = 1};
    timer_t timer;
    sigset_t set;

    signal(SIGUSR1, handler);
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGTERM);
    kill(getpid(), SIGUSR1);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    setitimer(ITIMER_REAL, &far, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &now, NULL);
    do
        sigpending(&set);
    while (!sigismember(&set, SIGRTMIN + 1));
}

static void begin(void)
{
    struct rlimit limit = {200, 200};

    mkdir("execs.d", 0755);
    set_signals();
    dup2(open("/dev/null", O_RDONLY), 20);
    fcntl(20, F_SETFD, FD_CLOEXEC);
    dup2(20, 21);
    umask(027);
    execs_check("chdir", chdir("execs.d") == 0);
    setrlimit(RLIMIT_NOFILE, &limit);
    prctl(PR_SET_NAME, "renamed");
    _mm_setcsr(0x5f80); /* rounds up */
    execs_check("malloc", malloc(1 << 20) != NULL);
    go_plain(1);
}

static void check_signals(void)
{
    struct sigaction action;
    struct itimerval left;
    sigset_t set;
    stack_t stack;

    sigaction(SIGUSR1, NULL, &action);
    execs_check("a handler is gone", action.sa_handler == SIG_DFL && action.sa_flags == 0);
    sigaction(SIGUSR2, NULL, &action);
    execs_check("what was ignored is", action.sa_handler == SIG_IGN);
    sigprocmask(SIG_BLOCK, NULL, &set);
    execs_check("the mask", sigismember(&set, SIGTERM) && sigismember(&set, SIGUSR1) &&
                                !sigismember(&set, SIGUSR2));
    sigpending(&set);
    execs_check("pending signals", sigismember(&set, SIGTERM) && sigismember(&set, SIGUSR1));
    execs_check("a timer's signal is gone", !sigismember(&set, SIGRTMIN + 1));
    sigaltstack(NULL, &stack);
    execs_check("no alternate stack", stack.ss_flags == SS_DISABLE);
    getitimer(ITIMER_REAL, &left);
    execs_check("an interval timer", left.it_value.tv_sec > 1000);
    execs_check("no other timer", syscall(SYS_timer_delete, 0) < 0);
}

static void check_proc(void)
{
    char text[65536], path[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);

    path[bytes > 0 ? bytes : 0] = '\0';
    execs_check("/proc/self/exe", strcmp(path, self) == 0);
    content("/proc/self/comm", text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    execs_check("/proc/self/comm", strncmp(text, strrchr(self, '/') + 1, 15) == 0);
    execs_check("/proc/self/cmdline",
                content("/proc/self/cmdline", text, sizeof text) == strlen(self) + 1 &&
                    strcmp(text, self) == 0);
    execs_check("/proc/self/environ", content("/proc/self/environ", text, sizeof text) == 13 &&
                                          memcmp(text, "STEP=1\0A=b c", 13) == 0);
    bytes = (ssize_t)content("/proc/self/auxv", text, sizeof text);
    execs_check("/proc/self/auxv", bytes > 0 && bytes % 16 == 0);
    for (ssize_t i = 0; i + 16 <= bytes; i += 16) {
        unsigned long pair[2];

        memcpy(pair, text + i, sizeof pair);
        if (pair[0] == AT_RANDOM || pair[0] == AT_ENTRY)
            execs_check("... as getauxval has it", pair[1] == getauxval(pair[0]));
    }
    content("/proc/self/maps", text, sizeof text);
    execs_check("/proc/self/maps",
                strstr(text, self) && strstr(text, "[stack]") && strstr(text, "[vdso]"));
}

/* The longest string, and many of them: 1.5 MiB in all. */
static void go_large(void)
{
    enum { STRING_BYTES = 131072, COUNT = 12 };
    char *arguments[COUNT + 2] = {self}, *text = malloc(STRING_BYTES);

    memset(text, 'x', STRING_BYTES - 1);
    text[STRING_BYTES - 1] = '\0';
    for (int i = 1; i <= COUNT - 1; i++)
        arguments[i] = text;
    arguments[COUNT] = "";
    go(2, self, arguments);
}

static void check_kept(void)
{
    struct rlimit limit;
    char path[PATH_MAX];
    mode_t mask = umask(022);

    execs_check("a descriptor closes", fcntl(20, F_GETFD) < 0 && errno == EBADF);
    execs_check("another does not", fcntl(21, F_GETFD) == 0);
    execs_check("umask", mask == 027);
    execs_check("directory",
                getcwd(path, sizeof path) && strcmp(strrchr(path, '/'), "/execs.d") == 0);
    getrlimit(RLIMIT_NOFILE, &limit);
    execs_check("limit", limit.rlim_cur == 200);
    execs_check("rounding", _mm_getcsr() == 0x1f80);
    execs_check("AT_EXECFN", strcmp((char *)getauxval(AT_EXECFN), self) == 0);
    execs_check("break", (char *)sbrk(0) >= (char *)&given);
    check_signals();
    check_proc();
    go_large();
}

static void check_large(void)
{
    size_t bytes = 0;
    int count = 0;

    for (; given[count] != NULL; count++)
        bytes += strlen(given[count]) + 1;
    printf("%d arguments, %zu bytes\n", count, bytes);
    go(3, self, (char *[]){NULL});
}

/* ---- scripts ---- */

static void check_empty(void)
{
    execs_check("an empty argument", given[0] != NULL && given[0][0] == '\0' && given[1] == NULL);
    execs_script("one", self, " one  arg ");
    go(4, "./one", (char *[]){(char[]){"x"}, (char[]){"a"}, (char[]){"b"}, NULL});
}

static void print_given(const char *what)
{
    printf("%s:", what);
    for (int i = 1; given[i] != NULL; i++)
        printf(" (%s)", given[i]);
    printf(" name %s\n", (char *)getauxval(AT_EXECFN));
}

static void check_script(void)
{
    char interpreter[32] = "./one";

    print_given("a script");
    execs_check("its interpreter", strcmp(given[0], self) == 0);
    for (char name[] = "./n0"; name[3] < '4'; name[3]++) {
        execs_script(name, interpreter, name[3] == '1' ? "" : " -x");
        strcpy(interpreter, name);
    }
    go(5, interpreter, (char *[]){NULL});
}

static void check_nested(void)
{
    int file = open(self, O_RDONLY | O_CLOEXEC);

    print_given("nested scripts");
    dup2(file, 30);
    fcntl(30, F_SETFD, FD_CLOEXEC);
    fflush(stdout);
    setenv("STEP", "6", 1);
    fexecve(30, (char *[]){self, NULL}, environ);
    execs_check("fexecve", false);
}

static void check_descriptor(void)
{
    int file = open("./one", O_RDONLY);

    print_given("a descriptor");
    execs_check("is closed", fcntl(30, F_GETFD) < 0);
    dup2(file, 31);
    close(file);
    setenv("STEP", "7", 1);
    fflush(stdout);
    syscall(SYS_execveat, 31, "", (char *[]){(char[]){"zero"}, NULL}, environ, AT_EMPTY_PATH);
    execs_check("execveat", false);
}

static void check_descriptor_script(void)
{
    int directory;

    print_given("a descriptor of a script");
    directory = open(".", O_RDONLY | O_DIRECTORY);
    dup2(directory, 32);
    close(directory);
    setenv("STEP", "8", 1);
    fflush(stdout);
    syscall(SYS_execveat, 32, "one", (char *[]){(char[]){"zero"}, NULL}, environ, 0);
    execs_check("execveat", false);
}

static void check_relative(void)
{
    int file = memfd_create("program", MFD_CLOEXEC), from = open(self, O_RDONLY);
    char buffer[65536];
    ssize_t bytes;

    print_given("a path from a descriptor");
    while ((bytes = read(from, buffer, sizeof buffer)) > 0)
        execs_check("write", write(file, buffer, (size_t)bytes) == bytes);
    setenv("STEP", "9", 1);
    fflush(stdout);
    syscall(SYS_execveat, file, "", (char *[]){self, NULL}, environ, AT_EMPTY_PATH);
    execs_check("execveat", false);
}

static void check_memory(void)
{
    printf("a file in memory: %s\n", self);
}

/* Executes itself until the count in the environment is 0; says how much memory is free. */
static void loop(void)
{
    int left = atoi(getenv("LOOP"));
    char text[4096], number[32];
    const char *free;

    if (left == 0 || left == 900) {
        content("/proc/meminfo", text, sizeof text);
        free = strstr(text, "MemFree:");
        printf("%.*s\n", free != NULL ? (int)strcspn(free, "\n") : 0, free);
        fflush(stdout);
    }
    if (left == 0)
        exit(0);
    snprintf(number, sizeof number, "LOOP=%d", left - 1);
    execve(self, (char *[]){self, NULL}, (char *[]){number, NULL});
    exit(1);
}

static void run_child(void)
{
    int status = 0;
    pid_t child = vfork();

    if (child == 0) {
        execve(self, (char *[]){self, NULL}, (char *[]){"QUIT=", NULL});
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        exit(1);
}

/* Prints what a child costs that executes this program and ends: nanoseconds, of which the program
 * itself takes few. */
static void cost(void)
{
    enum { ROUNDS = 10 };
    struct timespec start, end;

    run_child(); /* reads the file */
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < ROUNDS; i++)
        run_child();
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%ld\n",
           ((end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec) / ROUNDS);
}

int main(int, char **argv)
{
    static void (*const steps[])(void) = {
        begin,          check_kept,   check_large,      check_empty,
        check_script,   check_nested, check_descriptor, check_descriptor_script,
        check_relative, check_memory,
    };
    const char *step = getenv("STEP");

    given = argv;
    execs_self(self);
    if (getenv("QUIT") != NULL)
        return 0;
    if (getenv("LOOP") != NULL)
        loop();
    if (getenv("COST") != NULL) {
        cost();
        return 0;
    }
    steps[step != NULL ? atoi(step) : 0]();
    return 0;
}
