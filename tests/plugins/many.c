/* Preloaded into hr, it makes one process of it that performs many commands, each in a fork of its
 * own: the start, which takes longer than most commands on a small trace, is paid once.
 * tests/many.sh is its other side.
 *
 * A line of standard input is a command: the file for its output, and its arguments, each ended by
 * a tab.  Its errors go to the file err.  The answer is a line of standard output: its exit status,
 * as a shell has it, and the most KB that it took.  The environment variable MANY_LIMIT says how
 * many seconds it may take.
 *
 * Under ASan a command ends right after it looked for leaks: the destructors that a library or ASan
 * has would touch many pages for the first time.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 100

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *program, int argc, char **argv, void (*init)(void),
                           void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

static main_function *program;

__attribute__((weak)) void __lsan_do_leak_check(void); /* is there under ASan */

/* A command's last handler, since it was the first to be registered. */
static void end(int status, void *context)
{
    (void)context;
    fflush(NULL);
    __lsan_do_leak_check(); /* it ends the process if there are any */
    _exit(status);
}

static void redirect(const char *path, int flags, int to)
{
    int fd = open(path, flags, 0666);

    if (fd < 0 || dup2(fd, to) < 0)
        _exit(125);
    close(fd);
}

static void perform(char **words, int count, char **environment)
{
    const int create = O_WRONLY | O_CREAT | O_TRUNC;
    const char *limit = getenv("MANY_LIMIT");

    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(words[0], create, STDOUT_FILENO);
    redirect("err", create, STDERR_FILENO);
    alarm(limit != NULL ? (unsigned)atoi(limit) : 0);
    words[0] = program_invocation_name;
    if (__lsan_do_leak_check != NULL)
        on_exit(end, NULL);
    exit(program(count, words, environment));
}

/* Cuts the line where words end; returns their number. */
static int split(char *line, char **words)
{
    int count = 0;

    for (char *end; count < WORDS_MAX && (end = strchr(line, '\t')) != NULL; line = end + 1) {
        *end = '\0';
        words[count++] = line;
    }
    words[count] = NULL;
    return count;
}

static int serve(int argc, char **argv, char **environment)
{
    FILE *ask = fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10), "r");
    FILE *tell = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10), "w");
    char *line = NULL;
    size_t room = 0;

    (void)argc;
    (void)argv;
    unsetenv("LD_PRELOAD");
    while (ask != NULL && tell != NULL && getline(&line, &room, ask) > 0) {
        char *words[WORDS_MAX + 1];
        int count = split(line, words), status = 0;
        struct rusage usage;
        pid_t child = count > 0 ? fork() : -1;

        if (child == 0)
            perform(words, count, environment);
        if (child < 0 || wait4(child, &status, 0, &usage) != child)
            return 1;
        status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        fprintf(tell, "%d %ld\n", status, usage.ru_maxrss);
        fflush(tell);
    }
    free(line);
    return 0;
}

/* It takes the place of the C library's, which it calls. */
int __libc_start_main(main_function *given, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_function *given, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    void *start = dlsym(RTLD_NEXT, "__libc_start_main");
    start_function *next;

    memcpy(&next, &start, sizeof next);
    program = given;
    return next(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
