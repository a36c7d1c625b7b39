/* The run's private directory goes when the process that made it does, however that ends. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/launch/launch_guard.h"

static const char *const names[] = {"kernel", "archive", "socket"};

#define NAMES (sizeof names / sizeof names[0])

static void make_directory(char path[32])
{
    strcpy(path, "/tmp/hr-guard-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static void make_file(const char *directory, const char *name)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void removes_when_asked(void **state)
{
    struct launch_guard guard;
    char path[32];

    (void)state;
    make_directory(path);
    assert_int_equal(launch_guard_start(&guard, path, names, NAMES), 0);
    make_file(path, "kernel"); /* the others were not made */
    make_file(path, "socket");
    assert_true(exists(path));
    launch_guard_end(&guard);
    assert_false(exists(path));
    launch_guard_end(&guard); /* does nothing */
}

static void removes_when_its_process_is_killed(void **state)
{
    char path[32];
    pid_t child;
    int status;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* so that the guard can be waited for */
    make_directory(path);
    child = fork();
    if (child == 0) {
        struct launch_guard guard;

        if (launch_guard_start(&guard, path, names, NAMES) == 0) {
            make_file(path, "archive");
            raise(SIGKILL);
        }
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(waitpid(-1, &status, 0) > 0); /* the guard */
    assert_false(exists(path));
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static void leaves_what_it_does_not_know(void **state)
{
    struct launch_guard guard;
    char path[32], kept[64];

    (void)state;
    make_directory(path);
    make_file(path, "other");
    assert_int_equal(launch_guard_start(&guard, path, names, NAMES), 0);
    launch_guard_end(&guard);
    snprintf(kept, sizeof kept, "%s/other", path);
    assert_true(exists(kept));
    assert_int_equal(unlink(kept), 0);
    assert_int_equal(rmdir(path), 0);
}

static void says_that_there_is_no_directory(void **state)
{
    struct launch_guard guard;

    (void)state;
    assert_int_equal(launch_guard_start(&guard, "/tmp/hr-guard-none", names, NAMES), -ENOENT);
    launch_guard_end(&guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removes_when_asked),
        cmocka_unit_test(removes_when_its_process_is_killed),
        cmocka_unit_test(leaves_what_it_does_not_know),
        cmocka_unit_test(says_that_there_is_no_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
