/* Preloaded into hr, it makes one process of it that performs many commands, each in a fork of its
 * own: the start, which takes longer than most commands on a small trace, is paid once.
 * tests/many.sh is its other side.
 *
 * A line of standard input is a command: the file for its output, and its arguments, each ended by
 * a tab.  Its errors go to the file err.  The answer is a line of standard output: its exit status,
 * as a shell has it, and the most KB that it took.  The environment variable MANY_LIMIT says how
 * many seconds it may take.
 *
 * Under ASan a command looks for leaks when it ends, which reads all variables of the program,
 * thousands of pages that it never touched.  So they are in large pages, and the first process
 * looks for leaks as well: what it touched its children have.  ASan's notes about large blocks, of
 * which it writes all when a block comes and when it goes, are in large pages, too.  And a command
 * ends right after it looked for leaks: the destructors that a library or ASan has would touch many
 * pages more.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 100
#define BLOCKS ((size_t)128 << 20) /* more than the large blocks of a command are together */
#define HUGE_PAGE ((uintptr_t)2 << 20)

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *program, int argc, char **argv, void (*init)(void),
                           void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

static main_function *program;

/* These are there under ASan. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);
__attribute__((weak)) void __lsan_do_leak_check(void);
__attribute__((weak)) void __asan_get_shadow_mapping(size_t *scale, size_t *offset);

/* Puts the variables of the program, the first of the objects, in large pages. */
static int enlarge_pages(struct dl_phdr_info *object, size_t size, void *context)
{
    const uintptr_t page = (uintptr_t)getpagesize();

    (void)size;
    (void)context;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        uintptr_t first = start / page * page;

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0)
            madvise((void *)first, start + segment->p_memsz - first, MADV_HUGEPAGE);
    }
    return 1;
}

/* The notes of the addresses where large blocks will be: below what is mapped now. */
static void enlarge_shadow(void)
{
    void *block = mmap(NULL, BLOCKS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t first = (uintptr_t)block;
    size_t scale, offset;

    if (block == MAP_FAILED)
        return;
    munmap(block, BLOCKS);
    __asan_get_shadow_mapping(&scale, &offset);
    first = ((first >> scale) + offset) / HUGE_PAGE * HUGE_PAGE;
    madvise((void *)first, BLOCKS >> scale, MADV_HUGEPAGE);
}

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
    if (__lsan_do_recoverable_leak_check != NULL) {
        dl_iterate_phdr(enlarge_pages, NULL);
        if (__asan_get_shadow_mapping != NULL)
            enlarge_shadow();
        if (__lsan_do_recoverable_leak_check() != 0)
            return 1;
    }
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
