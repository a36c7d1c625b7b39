/* Starts sfdisk, mkfs.fat and mtools. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/usb/usb_tool.h"

#define PIECE_BYTES (256u << 10)
#define WORDS_BYTES 512 /* of a program's standard error in a message */
#define CPU_S 300u /* the largest stick needs a tenth of it */
#define MEMORY_BYTES (1ull << 30)

static const struct {
    const char *tool;
    const char *package;
} packages[] = {{"sfdisk", "fdisk"}, {"mkfs.fat", "dosfstools"}, {"", "mtools"}};

static const char *package_of(const char *tool)
{
    size_t i = 0;

    while (packages[i].tool[0] != 0 && strcmp(packages[i].tool, tool) != 0)
        i++;
    return packages[i].package;
}

static int find(const char *tool, char found[PATH_MAX], struct run_failure *failure)
{
    const char *path = getenv("PATH");
    char places[PATH_MAX];

    snprintf(places, sizeof places, "%s:/usr/sbin:/sbin:/usr/bin:/bin", path != NULL ? path : "");
    for (const char *p = places; p != NULL;) {
        size_t bytes = strcspn(p, ":");

        if (bytes != 0 && snprintf(found, PATH_MAX, "%.*s/%s", (int)bytes, p, tool) < PATH_MAX &&
            access(found, X_OK) == 0)
            return 0;
        p = p[bytes] == ':' ? p + bytes + 1 : NULL;
    }
    return run_fail(failure, "%s is not installed; apt-get install %s", tool, package_of(tool));
}

struct tool {
    pid_t pid;
    int output; /* the reading end of a pipe, or -1 */
    int errors; /* a file in memory with its standard error */
};

static int text_file(const char *text)
{
    int fd = memfd_create("tool", MFD_CLOEXEC);
    size_t count = text != NULL ? strlen(text) : 0;

    if (fd >= 0 && (write(fd, text != NULL ? text : "", count) != (ssize_t)count ||
                    lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* mtools must ignore the user's configuration, and messages must be in one language. */
static char **make_environment(void)
{
    static char rc[] = "MTOOLSRC=/dev/null", language[] = "LC_ALL=C.UTF-8";
    static char *own[] = {rc, language};
    size_t count = 0, used = 0;
    char **environment;

    while (environ[count] != NULL)
        count++;
    environment = malloc((count + sizeof own / sizeof own[0] + 1) * sizeof *environment);
    if (environment == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "MTOOLS", 6) != 0 && strncmp(environ[i], "LC_ALL=", 7) != 0)
            environment[used++] = environ[i];
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        environment[used++] = own[i];
    environment[used] = NULL;
    return environment;
}

static int spawn(struct tool *tool, const char *path, const char *const argv[], int input,
                 int output)
{
    posix_spawn_file_actions_t actions;
    char **environment = make_environment();
    int result = ENOMEM;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, tool->errors, 2);
    if (environment != NULL)
        result = posix_spawn(&tool->pid, path, &actions, NULL, (char *const *)(uintptr_t)argv,
                             environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return result;
}

/* A damaged file system must not take more resources than a valid one. */
static void bound(pid_t pid)
{
    const struct rlimit seconds = {CPU_S, CPU_S}, bytes = {MEMORY_BYTES, MEMORY_BYTES};

    (void)prlimit(pid, RLIMIT_CPU, &seconds, NULL);
    (void)prlimit(pid, RLIMIT_AS, &bytes, NULL);
}

/* Starts a program.  Its standard output is tool->output if `piped`, else it joins its standard
 * error. */
static int start(struct tool *tool, const char *const argv[], const char *input, bool piped,
                 struct run_failure *failure)
{
    char path[PATH_MAX];
    int ends[2] = {-1, -1};
    int standard = -1;
    int result;

    *tool = (struct tool){.pid = -1, .output = -1, .errors = -1};
    if (find(argv[0], path, failure) != 0)
        return -1;
    tool->errors = memfd_create("errors", MFD_CLOEXEC);
    standard = text_file(input);
    if (tool->errors < 0 || standard < 0 || (piped && pipe2(ends, O_CLOEXEC) != 0))
        result = errno;
    else
        result = spawn(tool, path, argv, standard, piped ? ends[1] : tool->errors);
    if (standard >= 0)
        close(standard);
    if (ends[1] >= 0)
        close(ends[1]);
    tool->output = ends[0];
    if (result == 0) {
        bound(tool->pid);
        return 0;
    }
    if (tool->output >= 0)
        close(tool->output);
    if (tool->errors >= 0)
        close(tool->errors);
    return run_fail(failure, "%s: %s", argv[0], strerror(result));
}

/* Copies the last non-empty line of the program's messages. */
static void last_words(int errors, char words[WORDS_BYTES])
{
    char text[4096];
    off_t bytes = lseek(errors, 0, SEEK_END);
    off_t from = bytes > (off_t)sizeof text - 1 ? bytes - ((off_t)sizeof text - 1) : 0;
    ssize_t count = pread(errors, text, sizeof text - 1, from);
    char *line;

    text[count > 0 ? count : 0] = 0;
    while (count > 0 && text[count - 1] == '\n')
        text[--count] = 0;
    line = strrchr(text, '\n');
    snprintf(words, WORDS_BYTES, "%.*s", WORDS_BYTES - 1, line != NULL ? line + 1 : text);
}

/* Waits for the program and reports how it ended. */
static int end(struct tool *tool, const char *name, struct run_failure *failure)
{
    char words[WORDS_BYTES];
    int status = 0;
    int result = 0;

    while (waitpid(tool->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    last_words(tool->errors, words);
    close(tool->errors);
    if (tool->output >= 0)
        close(tool->output);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        result = run_fail(
            failure, "%s was killed or did not end within %u s; the file system may be damaged",
            name, CPU_S);
    else if (WIFSIGNALED(status))
        result = run_fail(failure, "%s was ended by signal %d", name, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0 && words[0] != 0)
        result = run_fail(failure, "%s%s%s", strncmp(words, name, strlen(name)) == 0 ? "" : name,
                          strncmp(words, name, strlen(name)) == 0 ? "" : ": ", words);
    else if (WEXITSTATUS(status) != 0)
        result = run_fail(failure, "%s failed with exit status %d", name, WEXITSTATUS(status));
    return result;
}

int usb_tool_run(const char *const argv[], const char *input, struct run_failure *failure)
{
    struct tool tool;

    if (start(&tool, argv, input, false, failure) != 0)
        return -1;
    return end(&tool, argv[0], failure);
}

enum usb_tool_end usb_tool_read(const char *const argv[], usb_tool_sink *sink, void *context,
                                struct run_failure *failure)
{
    struct run_failure unasked = {0};
    uint8_t *piece = malloc(PIECE_BYTES);
    bool stopped = false;
    struct tool tool;
    ssize_t count;

    if (piece == NULL || start(&tool, argv, NULL, true, failure) != 0) {
        if (piece == NULL)
            run_fail(failure, "out of memory; end other programs");
        free(piece);
        return USB_TOOL_ABSENT;
    }
    do {
        count = read(tool.output, piece, PIECE_BYTES);
        stopped = count > 0 && sink(context, piece, (size_t)count) != 0;
    } while (!stopped && (count > 0 || (count < 0 && errno == EINTR)));
    free(piece);
    if (stopped)
        kill(tool.pid, SIGKILL);
    return end(&tool, argv[0], stopped ? &unasked : failure) == 0 ? USB_TOOL_DONE
           : stopped                                              ? USB_TOOL_STOPPED
                                                                  : USB_TOOL_FAILED;
}
