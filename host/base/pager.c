/* Starts and ends a pager. */
#include "host/base/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/terminal.h"

#define COLUMNS_UNKNOWN 80u

/* Returns a command line for the shell; NULL: none. */
static const char *command(void)
{
    const char *pager = getenv("PAGER");

    if (pager == NULL)
        return "command -v less >/dev/null 2>&1 && exec less || exec cat";
    return pager[0] == 0 || strcmp(pager, "cat") == 0 ? NULL : pager;
}

static void become(const char *line, const int ends[2])
{
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("LESS", "FRX", 0); /* quit at once if it fits the screen; show colours */
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static void start(struct pager *pager, const char *line)
{
    int ends[2];

    if (pipe(ends) != 0)
        return;
    fflush(NULL);
    pager->pid = fork();
    if (pager->pid == 0)
        become(line, ends);
    close(ends[0]);
    if (pager->pid > 0 && dup2(ends[1], STDOUT_FILENO) < 0) {
        close(ends[1]); /* the pager sees an empty file, the terminal gets the rest */
        waitpid(pager->pid, NULL, 0);
        pager->pid = 0;
        return;
    }
    close(ends[1]);
    if (pager->pid < 0)
        pager->pid = 0;
    else
        signal(SIGPIPE, SIG_IGN); /* the user may leave the pager early */
}

void pager_begin(struct pager *pager, bool wanted)
{
    bool terminal = isatty(STDOUT_FILENO);
    const char *line = command();

    *pager = (struct pager){.columns = PAGER_NO_TERMINAL};
    if (!terminal)
        return;
    pager->colours = terminal_colours(STDOUT_FILENO);
    pager->columns = terminal_columns(STDOUT_FILENO, COLUMNS_UNKNOWN);
    if (wanted && line != NULL)
        start(pager, line);
}

void pager_end(struct pager *pager)
{
    if (pager->pid == 0)
        return;
    if (fflush(stdout) != 0 && errno == EPIPE) {
        __fpurge(stdout);
        clearerr(stdout);
    }
    close(STDOUT_FILENO);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) /* the pager shows stderr, too */
        return;
    while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    pager->pid = 0;
}
