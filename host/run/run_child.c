/* A child that is hr itself, with its output in files. */
#include "host/run/run_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/base/text.h"
#include "lib/array.h"

static volatile pid_t child;
static volatile sig_atomic_t child_leads; /* a group of processes */
static volatile sig_atomic_t stopped_by;

static void pass_on(int number)
{
    stopped_by = number;
    if (child > 0)
        kill(child_leads ? -child : child, number);
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void handle_signals(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler};

    for (size_t i = 0; i < ARRAY_COUNT(signals); i++)
        sigaction(signals[i], &action, NULL);
}

static void block_signals(sigset_t *before)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_COUNT(signals); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

static bool redirect(const char *path, int to)
{
    int fd = open(path != NULL ? path : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    return fd >= 0 && dup2(fd, to) == to;
}

static bool enter(const struct run_child_place *place)
{
    const char *input = place->input != NULL ? place->input : "/dev/null";
    int fd;

    if (place->directory != NULL && chdir(place->directory) != 0) {
        error_print("cannot enter '%s': %s", place->directory, strerror(errno));
        return false;
    }
    fd = open(input, O_RDONLY);
    if (fd < 0)
        error_print("cannot read '%s': %s", input, strerror(errno));
    return fd >= 0 && dup2(fd, 0) == 0;
}

struct command { /* what a child becomes */
    const char *program;
    char **arguments;
    bool group; /* it starts processes that end with it: a group of their own */
};

static void __attribute__((noreturn))
become_child(const struct run_child_place *place, const struct command *command, const char *output,
             const char *errors, const sigset_t *unblocked)
{
    if (command->group)
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    handle_signals(SIG_DFL);
    sigprocmask(SIG_SETMASK, unblocked, NULL);
    if (redirect(output, 1) && redirect(errors, 2) && enter(place))
        execv(command->program, command->arguments);
    _exit(RUN_EXIT_FAILED);
}

int run_child(char **arguments, const char *output, const char *errors, struct run_failure *failure)
{
    return run_child_in(&(const struct run_child_place){0}, arguments, output, errors, failure);
}

/* A signal is told once, so that the caller can clean up by other children. */
static int told(struct run_failure *failure)
{
    int number = (int)stopped_by;

    stopped_by = 0;
    return run_fail_as(failure, RUN_EXIT_SIGNAL_BASE + number, "ended by %s", strsignal(number));
}

/* Starts the child.  A signal waits until there is one to pass it on to.  Returns 0, or -1 with the
 * failure filled. */
static int start(const struct run_child_place *place, const struct command *command,
                 const char *output, const char *errors, struct run_failure *failure)
{
    sigset_t before;
    int error;

    handle_signals(pass_on);
    fflush(NULL);
    block_signals(&before);
    child = stopped_by == 0 ? fork() : 0;
    error = errno;
    if (child == 0 && stopped_by == 0)
        become_child(place, command, output, errors, &before);
    child_leads = command->group;
    if (child > 0 && command->group)
        setpgid(child, child); /* it may not have come so far itself */
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child > 0)
        return 0;
    return child == 0 ? told(failure)
                      : run_fail(failure, "cannot start a process: %s", strerror(error));
}

/* Returns 0, with how the child ended, or -1 with the failure filled. */
static int perform(const struct run_child_place *place, const struct command *command,
                   const char *output, const char *errors, int *status, struct run_failure *failure)
{
    if (start(place, command, output, errors, failure) != 0)
        return -1;
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    return stopped_by != 0 ? told(failure) : 0;
}

int run_child_in(const struct run_child_place *place, char **arguments, const char *output,
                 const char *errors, struct run_failure *failure)
{
    const struct command command = {"/proc/self/exe", arguments, false};
    int status = 0;

    if (perform(place, &command, output, errors, &status, failure) != 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : RUN_EXIT_FAILED;
}

int run_child_shell(const struct run_child_place *place, const char *text, const char *output,
                    const char *errors, struct run_failure *failure)
{
    char *arguments[] = {(char *)"sh", (char *)"-c", (char *)text, NULL};
    const struct command command = {"/bin/sh", arguments, true};
    int status = 0;

    if (perform(place, &command, output, errors, &status, failure) != 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : RUN_EXIT_SIGNAL_BASE + WTERMSIG(status);
}

void run_child_option(char **arguments, size_t *count, const char *option, const char *value)
{
    if (value == NULL)
        return;
    arguments[(*count)++] = (char *)option;
    arguments[(*count)++] = (char *)value;
}

int run_child_folder(char path[RUN_CHILD_FOLDER_BYTES], const char *name,
                     struct run_failure *failure)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(path, RUN_CHILD_FOLDER_BYTES, "%.200s/microtome-%.30s.XXXXXX",
                   base != NULL && base[0] == '/' ? base : "/tmp", name);
    if (mkdtemp(path) != NULL)
        return 0;
    run_fail(failure, "%s: %s", path, strerror(errno));
    path[0] = 0;
    return -1;
}

/* What a child says is lost where there is no room for it. */
static const char *say_nothing(const char *errors)
{
    struct statvfs disk;

    if (statvfs(errors, &disk) == 0 && disk.f_bavail == 0)
        return "its disk is full; free some space";
    return "it said nothing";
}

const char *run_child_reason(const char *errors, char reason[RUN_CHILD_REASON_BYTES])
{
    char line[RUN_CHILD_REASON_BYTES] = "";
    FILE *file = fopen(errors, "re");
    const char *text = line;

    if (file != NULL) {
        if (fgets(line, sizeof line, file) == NULL)
            line[0] = 0;
        fclose(file);
    }
    line[strcspn(line, "\n")] = 0;
    if (strncmp(text, "hr: ", 4) == 0)
        text += 4;
    return text_escape(reason, RUN_CHILD_REASON_BYTES, text[0] != 0 ? text : say_nothing(errors));
}
