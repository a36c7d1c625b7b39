/* Makes worktrees of two revisions and builds in them.
 *
 * Their folders' names have the same length: a program finds its own path on its stack, so another
 * length would move everything there.
 */
#include "host/compare/compare_git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/run/run_child.h"

#define LOG_TAIL 4096

static void path_of(const struct compare_git *git, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", git->folder, name);
}

/* The first line of a file, without its end; "" if it has none. */
static void first_line(const char *path, char *line, size_t room)
{
    FILE *file = fopen(path, "re");

    line[0] = 0;
    if (file == NULL)
        return;
    if (fgets(line, (int)room, file) == NULL)
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    fclose(file);
}

/* The last line of a log that is not empty, escaped. */
static char *last_line(const char *path, char text[RUN_CHILD_REASON_BYTES])
{
    char line[RUN_CHILD_REASON_BYTES], last[RUN_CHILD_REASON_BYTES] = "it said nothing";
    FILE *file = fopen(path, "re");

    if (file != NULL) {
        if (fseek(file, -LOG_TAIL, SEEK_END) != 0)
            rewind(file);
        while (fgets(line, sizeof line, file) != NULL) {
            line[strcspn(line, "\n")] = 0;
            if (line[0] != 0)
                strcpy(last, line);
        }
        fclose(file);
    }
    return text_escape(text, RUN_CHILD_REASON_BYTES, last);
}

/* Runs a git command with the values HR_REVISION and HR_TREE, and takes its first line. */
static int git_run(const struct compare_git *git, const char *command, const char *revision,
                   const char *tree, char *line, size_t room, struct run_failure *failure)
{
    const struct run_child_place here = {0};
    char output[PATH_MAX], errors[PATH_MAX], reason[RUN_CHILD_REASON_BYTES];
    int status;

    path_of(git, "output", output);
    path_of(git, "errors", errors);
    setenv("HR_REVISION", revision, 1);
    setenv("HR_TREE", tree, 1);
    status = run_child_shell(&here, command, output, errors, failure);
    unsetenv("HR_REVISION");
    unsetenv("HR_TREE");
    if (status == 0 && line != NULL)
        first_line(output, line, room);
    if (status > 0)
        run_fail(failure, "--git %s: %s", revision, run_child_reason(errors, reason));
    unlink(output);
    unlink(errors);
    return status == 0 ? 0 : -1;
}

static int build(const struct compare_git *git, int side, struct run_failure *failure)
{
    const struct run_child_place place = {.directory = git->places[side]};
    char log[PATH_MAX], reason[RUN_CHILD_REASON_BYTES];
    int status;

    if (git->build == NULL)
        return 0;
    path_of(git, "log", log);
    status = run_child_shell(&place, git->build, NULL, log, failure);
    if (status > 0)
        run_fail(failure, "--build of %s ended with status %d: %s", git->revisions[side], status,
                 last_line(log, reason));
    unlink(log);
    return status == 0 ? 0 : -1;
}

static int make_one(struct compare_git *git, int side, const char *prefix,
                    struct run_failure *failure)
{
    char commit[128], tree[PATH_MAX];

    path_of(git, side == 0 ? "0" : "1", tree);
    if (git_run(git,
                "git rev-parse --verify --quiet --end-of-options \"$HR_REVISION^{commit}\" || "
                "{ echo 'no such revision here' >&2; exit 1; }",
                git->revisions[side], tree, commit, sizeof commit, failure) != 0)
        return -1;
    git->made[side] = true;
    if (git_run(git, "exec git worktree add --quiet --detach \"$HR_TREE\" \"$HR_REVISION\"", commit,
                tree, NULL, 0, failure) != 0)
        return -1;
    if (strlen(tree) + strlen(prefix) + 2 > PATH_MAX)
        return run_fail(failure, "--git: the name of the folder is too long");
    strcat(strcat(strcpy(git->places[side], tree), "/"), prefix);
    if (access(git->places[side], X_OK) != 0)
        return run_fail(failure, "--git %s: it has no folder '%s'; start from another one",
                        git->revisions[side], prefix);
    return build(git, side, failure);
}

int compare_git_make(struct compare_git *git, struct run_failure *failure)
{
    char prefix[PATH_MAX / 2];

    if (run_child_folder(git->folder, "compare", failure) != 0 ||
        git_run(git, "exec git rev-parse --show-prefix", git->revisions[0], "", prefix,
                sizeof prefix, failure) != 0)
        return -1;
    for (int side = 0; side < 2; side++)
        if (make_one(git, side, prefix, failure) != 0)
            return -1;
    return 0;
}

void compare_git_remove(struct compare_git *git)
{
    struct run_failure ignored = {0};
    char tree[PATH_MAX];

    for (int side = 0; side < 2; side++) {
        path_of(git, side == 0 ? "0" : "1", tree);
        if (git->made[side])
            git_run(git, "exec git worktree remove --force \"$HR_TREE\"", "", tree, NULL, 0,
                    &ignored);
        git->made[side] = false;
    }
    if (git->folder[0] != 0)
        rmdir(git->folder);
    git->folder[0] = 0;
}
