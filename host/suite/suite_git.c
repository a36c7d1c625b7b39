/* Keeps baselines by git's plumbing. */
#include "host/suite/suite_git.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/transfer.h"
#include "host/suite/suite_baseline.h"

#define HASH_BYTES 80
#define REF_BYTES 200
#define ERROR_BYTES 300

struct call { /* of git */
    const char *arguments[16]; /* after "git", NULL-terminated */
    const char *input; /* NULL: none */
    char *output; /* without the last line end; owned */
    size_t output_bytes;
    char error[ERROR_BYTES]; /* its first line */
};

static void __attribute__((noreturn))
become_git(const struct call *call, int input, int output, int errors)
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
    char *text =
        size >= 0 && size <= (off_t)SUITE_RESULTS_BYTES_MAX ? malloc((size_t)size + 1) : NULL;
    ssize_t count = text != NULL ? transfer_read_at(fd, text, (size_t)size, 0) : -1;

    if (count < 0) {
        free(text);
        return NULL;
    }
    *bytes = (size_t)count;
    text[count] = 0;
    return text;
}

/* Its three streams are files in memory, so none can wait for another.  Returns git's exit status,
 * or -1 with the failure filled. */
static int run_git(struct call *call, struct run_failure *failure)
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
        return run_fail_as(failure, 2, "there is no git; install it, or keep baselines as files");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* As run_git; a status other than 0 is a failure.  `line`: its only line is kept there. */
static int must_git(struct call *call, char line[HASH_BYTES], struct run_failure *failure)
{
    int status = run_git(call, failure);

    if (status > 0)
        run_fail_as(failure, 2, "git: %s", call->error);
    if (status == 0 && line != NULL)
        snprintf(line, HASH_BYTES, "%.*s", (int)strcspn(call->output, "\n"), call->output);
    if (status != 0 || line != NULL) {
        free(call->output);
        call->output = NULL;
    }
    return status == 0 ? 0 : -1;
}

static char *set_ref(char ref[REF_BYTES], const char *name, const char *ending)
{
    snprintf(ref, REF_BYTES, SUITE_BASELINE_REF "%.90s%s", name, ending);
    return ref;
}

bool suite_git_has(const char *name)
{
    struct run_failure failure = {0};
    char ref[REF_BYTES];
    struct call call = {
        .arguments = {"rev-parse", "-q", "--verify", set_ref(ref, name, "^{commit}")}};
    int status = run_git(&call, &failure);

    free(call.output);
    return status == 0;
}

/* The blob and the tree. */
static int save_tree(const struct suite_results *results, char tree[HASH_BYTES],
                     struct run_failure *failure)
{
    char blob[HASH_BYTES], list[HASH_BYTES + 60];
    struct call put = {.arguments = {"hash-object", "-w", "--stdin"}};
    struct call make = {.arguments = {"mktree"}, .input = list};
    char *text = suite_results_text(results);
    int result;

    if (text == NULL)
        return run_fail(failure, "out of memory; end other programs");
    put.input = text;
    result = must_git(&put, blob, failure);
    free(text);
    if (result != 0)
        return -1;
    snprintf(list, sizeof list, "100644 blob %s\t" SUITE_RESULTS_NAME "\n", blob);
    return must_git(&make, tree, failure);
}

int suite_git_save(const char *name, const struct suite_results *results,
                   struct run_failure *failure)
{
    char ref[REF_BYTES], commit_ref[REF_BYTES], tree[HASH_BYTES], commit[HASH_BYTES];
    char parent[HASH_BYTES] = "", message[REF_BYTES];
    struct call find = {.arguments = {"rev-parse", set_ref(commit_ref, name, "^{commit}")}};
    /* A container of CI has no user who could be named as the author. */
    struct call make = {.arguments = {"-c", "user.name=Microtome", "-c",
                                      "user.email=microtome@localhost", "commit-tree", tree, "-m",
                                      message}};
    struct call set = {.arguments = {"update-ref", set_ref(ref, name, ""), commit, parent}};

    if (save_tree(results, tree, failure) != 0)
        return -1;
    snprintf(message, sizeof message, "Results of the suite, baseline %.90s", name);
    if (suite_git_has(name)) {
        if (must_git(&find, parent, failure) != 0)
            return -1;
        make.arguments[8] = "-p";
        make.arguments[9] = parent;
    }
    if (must_git(&make, commit, failure) != 0)
        return -1;
    return must_git(&set, tree, failure); /* an empty parent: it must not be there yet */
}

int suite_git_read(const char *name, struct suite_results *results, struct run_failure *failure)
{
    char object[REF_BYTES];
    struct call call = {
        .arguments = {"cat-file", "blob", set_ref(object, name, ":" SUITE_RESULTS_NAME)}};
    int result = must_git(&call, NULL, failure);

    if (result == 0)
        result = suite_results_parse(results, object, call.output, call.output_bytes, failure);
    free(call.output);
    return result;
}

int suite_git_prune(const char *name, struct run_failure *failure)
{
    char ref[REF_BYTES], line[HASH_BYTES];
    struct call call = {.arguments = {"update-ref", "-d", set_ref(ref, name, "")}};

    return must_git(&call, line, failure);
}

int suite_git_list(struct suite_texts *names, struct run_failure *failure)
{
    struct call call = {
        .arguments = {"for-each-ref", "--format=%(refname:lstrip=3)", SUITE_BASELINE_REF}};
    int result = must_git(&call, NULL, failure);
    char *save = NULL;

    for (char *line = result == 0 ? strtok_r(call.output, "\n", &save) : NULL;
         line != NULL && result == 0; line = strtok_r(NULL, "\n", &save))
        if (suite_is_name(line) && array_append_text(&names->list, &names->count, line) != 0)
            result = run_fail(failure, "out of memory; end other programs");
    free(call.output);
    return result;
}
