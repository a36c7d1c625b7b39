/* hr ctl: steers a run from outside. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/ctl/ctl_socket.h"
#include "lib/array.h"

#define PATIENCE_SECONDS 10 /* for an answer: a run is sometimes busy with its files */

struct steered { /* a run that has not ended */
    pid_t pid;
    char what[CTL_PACKET_MAX]; /* the trace, a tab, the program */
};

struct options {
    pid_t pid; /* 0: the only one */
    char request[CTL_PACKET_MAX];
    bool list;
    struct steered *runs;
    size_t run_count;
};

static const char *const requests[] = {"start", "pause", "poll", "stop"};

static void take_request(struct options *o, const char *word, struct argp_state *state)
{
    const char *text = NULL;

    if (strcmp(word, "mark") == 0) {
        if (state->next == state->argc)
            argp_error(state, "mark needs a text, such as: hr ctl mark 'warm-up is over'");
        text = state->argv[state->next++];
        if (text[0] == 0 || strlen(text) > CTL_TEXT_MAX)
            argp_error(state, "a mark has 1 to %u bytes of text", CTL_TEXT_MAX);
        (void)snprintf(o->request, sizeof o->request, "mark %s", text);
        return;
    }
    o->list = strcmp(word, "list") == 0;
    for (size_t i = 0; i < ARRAY_COUNT(requests); i++)
        if (strcmp(word, requests[i]) == 0)
            strcpy(o->request, word);
    if (!o->list && o->request[0] == 0)
        argp_error(state, "%s: unknown; choose start, pause, poll, mark TEXT, stop or list", word);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    char *end;
    long pid;

    switch (key) {
    case 'r':
        pid = strtol(argument, &end, 10);
        if (*end != 0 || pid <= 0 || pid > INT32_MAX)
            argp_error(state, "--run %s: not a process number; 'hr ctl list' shows them", argument);
        o->pid = (pid_t)pid;
        return 0;
    case ARGP_KEY_ARG:
        if (o->list || o->request[0] != 0)
            argp_error(state, "%s: one request at a time", argument);
        take_request(o, argument, state);
        return 0;
    case ARGP_KEY_END:
        if (!o->list && o->request[0] == 0)
            argp_error(state, "say what to do: start, pause, poll, mark TEXT, stop or list");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Sends a request and receives the answer as a string.  0 or -errno; -ECONNREFUSED: the run is
 * over, and its socket was left. */
static int exchange(pid_t pid, const char *request, char answer[CTL_PACKET_MAX])
{
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    struct sockaddr_un address;
    ssize_t bytes = 0;
    int error = ctl_address(false, pid, &address), fd;

    if (error != 0)
        return error;
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 ||
        (bytes = recv(fd, answer, CTL_PACKET_MAX - 1, 0)) < 0)
        error = -errno;
    else if (bytes == 0)
        error = -EPIPE;
    answer[bytes > 0 ? bytes : 0] = 0;
    close(fd);
    if (error == -ECONNREFUSED)
        (void)unlink(address.sun_path);
    return error;
}

/* Appends the run whose socket has this name, unless it has ended.  0 or -ENOMEM. */
static int add_run(struct options *o, const char *name)
{
    char answer[CTL_PACKET_MAX], *end;
    long pid = strtol(name, &end, 10);
    struct steered *run;

    if (*end != 0 || pid <= 0 || pid > INT32_MAX || exchange((pid_t)pid, "what", answer) != 0 ||
        answer[0] != CTL_DONE)
        return 0;
    if (array_grow(&o->runs, o->run_count, sizeof *run) != 0)
        return -ENOMEM;
    run = &o->runs[o->run_count++];
    run->pid = (pid_t)pid;
    strcpy(run->what, answer + 1);
    return 0;
}

static int find_runs(struct options *o)
{
    struct sockaddr_un address;
    int error = ctl_folder(false, address.sun_path);
    const struct dirent *entry;
    DIR *folder = error == 0 ? opendir(address.sun_path) : NULL;

    if (folder == NULL)
        return error == -EPERM ? error : 0; /* no run ever made it */
    error = 0;
    while (error == 0 && (entry = readdir(folder)) != NULL)
        error = add_run(o, entry->d_name);
    closedir(folder);
    return error;
}

static void print_runs(FILE *out, const struct options *o)
{
    char safe[2][4 * CTL_PACKET_MAX];

    fprintf(out, "%10s  %-24s %s\n", "run", "trace", "program");
    for (size_t i = 0; i < o->run_count; i++) {
        char *tab = strchr(o->runs[i].what, '\t');

        if (tab != NULL)
            *tab = 0;
        fprintf(out, "%10d  %-24s %s\n", (int)o->runs[i].pid,
                text_escape(safe[0], sizeof safe[0], o->runs[i].what),
                text_escape(safe[1], sizeof safe[1], tab != NULL ? tab + 1 : ""));
    }
}

static int choose(struct options *o)
{
    if (o->run_count == 1) {
        o->pid = o->runs[0].pid;
        return HR_EXIT_OK;
    }
    if (o->run_count == 0)
        return error_exit(HR_EXIT_FAILED, "no run of yours goes on; 'hr run PROGRAM' starts one");
    print_runs(stderr, o);
    return error_exit(HR_EXIT_FAILED, "%zu runs go on; choose one with --run", o->run_count);
}

static int carry_out(const struct options *o)
{
    char answer[CTL_PACKET_MAX], safe[4 * CTL_PACKET_MAX];
    int error = exchange(o->pid, o->request, answer);

    if (error == -ENOENT || error == -ECONNREFUSED)
        return error_exit(HR_EXIT_FAILED,
                          "no run of yours has the process number %d; 'hr ctl list' "
                          "shows those that go on",
                          (int)o->pid);
    if (error != 0)
        return error_exit(HR_EXIT_FAILED, "the run %d does not answer: %s", (int)o->pid,
                          strerror(-error));
    if (answer[0] != CTL_DONE)
        return error_exit(HR_EXIT_FAILED, "%s",
                          text_escape(safe, sizeof safe, answer[0] != 0 ? answer + 1 : ""));
    return HR_EXIT_OK;
}

int ctl_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"run", 'r', "PID", 0, "Of several runs, that of this process", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .args_doc = "start|pause|poll|stop|list\nmark TEXT",
        .doc = "Steer a run that goes on."
               "\vstart and pause do what hr_start() and hr_pause() of the program would do, poll "
               "takes a sample of each CPU that runs a thread, mark records a text at this time, "
               "stop ends the program as Ctrl-C does, and list shows the runs. The command returns "
               "when the run has taken the request. A run in virtual time that is steered does not "
               "repeat.\n\n"
               "Examples:\n"
               "  hr run --paused ./server &\n"
               "  hr ctl start                      sample from now on\n"
               "  hr ctl mark 'second load'\n"
               "  hr ctl pause\n"
               "  hr ctl stop\n",
    };
    struct options o = {0};
    int error, status = HR_EXIT_OK;

    argp_parse(&argp, argc, argv, 0, NULL, &o);
    error = o.pid == 0 || o.list ? find_runs(&o) : 0;
    if (error != 0) {
        struct sockaddr_un address;

        (void)ctl_folder(false, address.sun_path);
        status = error_exit(HR_EXIT_FAILED, "cannot use the folder %s: %s%s", address.sun_path,
                            strerror(-error),
                            error == -EPERM ? "; it must be yours alone: remove it" : "");
    } else if (o.list) {
        print_runs(stdout, &o);
    } else {
        if (o.pid == 0)
            status = choose(&o);
        if (status == HR_EXIT_OK)
            status = carry_out(&o);
    }
    free(o.runs);
    return status;
}
