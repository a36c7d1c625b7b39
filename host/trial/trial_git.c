/* Runs git. */
#include "host/trial/trial_git.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/transfer.h"

#define OUTPUT_MAX ((off_t)256 << 20)

static void __attribute__((noreturn))
become_git(const struct trial_git *call, int input, int output, int errors)
{
    const char *all[18] = {"git"};

    for (size_t i = 0; i < 16 && call->arguments[i] != NULL; i++)
        all[i + 1] = call->arguments[i];
    if (dup2(input, 0) == 0 && dup2(output, 1) == 1 && dup2(errors, 2) == 2)
        execvp("git", (char **)all);
    _exit(127);
}

static int make_file(const char *text)
{
    int fd = memfd_create("git", MFD_CLOEXEC);

    if (fd >= 0 && text != NULL &&
        (transfer_write(fd, text, strlen(text), NULL) != 0 || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Reads a file from its start; NULL: too long, or no memory. */
static char *take_file(int fd, size_t *bytes)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = size >= 0 && size <= OUTPUT_MAX ? malloc((size_t)size + 1) : NULL;
    ssize_t count = text != NULL ? transfer_read_at(fd, text, (size_t)size, 0) : -1;

    if (count < 0) {
        free(text);
        return NULL;
    }
    *bytes = (size_t)count;
    text[count] = 0;
    return text;
}

/* Its three streams are files in memory, so none can wait for another. */
int trial_git(struct trial_git *call, struct run_failure *failure)
{
    int fds[] = {make_file(call->input), make_file(NULL), make_file(NULL)};
    char *errors = NULL;
    size_t error_bytes;
    pid_t child = -1;
    int status = 0;

    call->output = NULL;
    if (fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0) {
        fflush(NULL);
        child = fork();
    }
    if (child == 0)
        become_git(call, fds[0], fds[1], fds[2]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0) {
        call->output = take_file(fds[1], &call->output_bytes);
        errors = take_file(fds[2], &error_bytes);
    }
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    snprintf(call->error, sizeof call->error, "%.*s",
             errors != NULL ? (int)strcspn(errors, "\n") : 0, errors != NULL ? errors : "");
    free(errors);
    if (call->output == NULL)
        return run_fail(failure, "cannot run git: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return run_fail_as(failure, 2, "there is no git; install it");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int trial_git_line(struct trial_git *call, char *line, size_t room, struct run_failure *failure)
{
    int status = trial_git(call, failure);

    if (status > 0)
        run_fail_as(failure, 2, "git: %s", call->error);
    if (status == 0 && line != NULL)
        snprintf(line, room, "%.*s", (int)strcspn(call->output, "\n"), call->output);
    if (status != 0 || line != NULL) {
        free(call->output);
        call->output = NULL;
    }
    return status == 0 ? 0 : -1;
}
