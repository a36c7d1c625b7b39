/* Who may reach the files of a guest of libvirt: its owner and the emulator's users. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/launch/launch_directory.h"
#include "host/launch/launch_domain.h"

#define SKIPPED 77

static struct launch_directory directory;

static void make(void)
{
    bool has_port[LAUNCH_PORTS];
    struct run_failure failure = {0};
    int archive = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    assert_true(archive >= 0);
    unsetenv("TMPDIR");
    memset(has_port, true, sizeof has_port);
    if (launch_directory_make(&directory, "/proc/self/exe", archive, has_port, &failure) != 0)
        fail_msg("%s", failure.text);
    close(archive);
}

/* How opening a file of the directory ends for this user: 0, an errno, or SKIPPED. */
static int open_as(uid_t user, const char *name)
{
    char path[PATH_MAX + 32];
    pid_t child;
    int status;

    snprintf(path, sizeof path, "%s/%s", directory.path, name);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)
            _exit(SKIPPED);
        _exit(open(path, O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void has_no_rights_for_all(void **state)
{
    struct stat status;

    (void)state;
    make();
    assert_int_equal(stat(directory.path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0710); /* the group's bits are the list's mask */
    assert_int_equal(open_as(geteuid(), LAUNCH_DOMAIN_ARCHIVE), 0);
    launch_directory_remove(&directory);
    assert_int_not_equal(stat(directory.path, &status), 0);
}

static void admits_the_emulator_alone(void **state)
{
    static const char *const names[] = {"libvirt-qemu", "qemu"};

    (void)state;
    if (geteuid() != 0)
        skip();
    make();
    assert_int_equal(open_as(65533, LAUNCH_DOMAIN_ARCHIVE), EACCES);
    assert_int_equal(open_as(65533, LAUNCH_DOMAIN_KERNEL), EACCES);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct passwd *entry = getpwnam(names[i]);

        if (entry == NULL)
            continue;
        assert_int_equal(open_as(entry->pw_uid, LAUNCH_DOMAIN_ARCHIVE), 0);
        assert_int_equal(open_as(entry->pw_uid, LAUNCH_DOMAIN_KERNEL), 0);
    }
    launch_directory_remove(&directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_no_rights_for_all),
        cmocka_unit_test(admits_the_emulator_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
