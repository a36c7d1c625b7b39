/* Files and sockets for a guest of libvirt. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/launch/launch_directory.h"
#include "host/launch/launch_domain.h"

#define BACKLOG 8
#define EMULATOR_USERS 3

static int fail(struct run_failure *failure, const char *path, int error)
{
    return run_fail(failure, "--libvirt: %s: %s", path, strerror(error));
}

/* The users that distributions let libvirt start QEMU as; returns how many there are. */
static size_t emulator_users(uid_t users[EMULATOR_USERS])
{
    static const char *const names[] = {"libvirt-qemu", "qemu"};
    size_t count = 0;

    users[count++] = 0; /* as root, libvirt's QEMU has no capabilities and needs the right, too */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct passwd *entry = getpwnam(names[i]);

        if (entry != NULL)
            users[count++] = entry->pw_uid;
    }
    return count;
}

/* Lets the emulator's users, and no others, reach files whose names they know.  It is an access
 * control list, because the owner must not give files away.  Files inside need no list. */
static int admit_emulator(const char *path)
{
    struct {
        struct posix_acl_xattr_header header;
        struct posix_acl_xattr_entry entries[EMULATOR_USERS + 4];
    } list = {.header = {htole32(POSIX_ACL_XATTR_VERSION)}};
    struct posix_acl_xattr_entry *entry = list.entries;
    uid_t users[EMULATOR_USERS];
    size_t count = emulator_users(users);

    *entry++ = (struct posix_acl_xattr_entry){htole16(ACL_USER_OBJ), htole16(7), 0};
    for (size_t i = 0; i < count; i++)
        *entry++ = (struct posix_acl_xattr_entry){htole16(ACL_USER), htole16(ACL_EXECUTE),
                                                  htole32(users[i])};
    *entry++ = (struct posix_acl_xattr_entry){htole16(ACL_GROUP_OBJ), 0, 0};
    *entry++ = (struct posix_acl_xattr_entry){htole16(ACL_MASK), htole16(ACL_EXECUTE), 0};
    *entry++ = (struct posix_acl_xattr_entry){htole16(ACL_OTHER), 0, 0};
    return setxattr(path, "system.posix_acl_access", &list, (size_t)((char *)entry - (char *)&list),
                    0);
}

static int copy(int from, int to)
{
    off_t offset = 0;
    ssize_t count;

    do
        count = sendfile(to, from, &offset, 1u << 30);
    while (count > 0 || (count < 0 && errno == EINTR));
    return count < 0 ? errno : 0;
}

/* The directory controls who may read it. */
static int add_file(const struct launch_directory *d, const char *name, int from,
                    struct run_failure *failure)
{
    char path[PATH_MAX + 16];
    int reason;
    int to;

    snprintf(path, sizeof path, "%s/%s", d->path, name);
    to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (to < 0)
        return fail(failure, path, errno);
    reason = copy(from, to);
    if (reason == 0 && fchmod(to, 0644) != 0) /* independent of the umask */
        reason = errno;
    if (close(to) != 0 && reason == 0)
        reason = errno;
    return reason == 0 ? 0 : fail(failure, path, reason);
}

static int add_kernel(const struct launch_directory *d, const char *kernel,
                      struct run_failure *failure)
{
    int from = open(kernel, O_RDONLY | O_CLOEXEC);
    int result;

    if (from < 0)
        return fail(failure, kernel, errno);
    result = add_file(d, LAUNCH_DOMAIN_KERNEL, from, failure);
    close(from);
    return result;
}

static int add_socket(struct launch_directory *d, enum launch_port port,
                      struct run_failure *failure)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    d->listeners[port] = fd;
    if (snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", d->path,
                 launch_domain_socket(port)) >= (int)sizeof address.sun_path)
        return fail(failure, d->path, ENAMETOOLONG);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(address.sun_path, 0666) != 0 || listen(fd, BACKLOG) != 0)
        return fail(failure, address.sun_path, errno);
    return 0;
}

static int guard(struct launch_directory *d, struct run_failure *failure)
{
    const char *names[LAUNCH_PORTS + 2] = {LAUNCH_DOMAIN_KERNEL, LAUNCH_DOMAIN_ARCHIVE};
    int result;

    for (int i = 0; i < LAUNCH_PORTS; i++)
        names[i + 2] = launch_domain_socket((enum launch_port)i);
    result = launch_guard_start(&d->guard, d->path, names, LAUNCH_PORTS + 2);
    if (result == 0)
        return 0;
    (void)rmdir(d->path);
    return fail(failure, d->path, -result);
}

int launch_directory_make(struct launch_directory *d, const char *kernel, int archive_fd,
                          const bool has_port[LAUNCH_PORTS], struct run_failure *failure)
{
    const char *parent = getenv("TMPDIR");

    for (int i = 0; i < LAUNCH_PORTS; i++)
        d->listeners[i] = -1;
    snprintf(d->path, sizeof d->path - 32, "%s",
             parent != NULL && parent[0] == '/' ? parent : "/tmp");
    strcat(d->path, "/microtome-XXXXXX");
    if (mkdtemp(d->path) == NULL) {
        int reason = errno;

        (void)fail(failure, d->path, reason);
        d->path[0] = 0;
        return -1;
    }
    if (guard(d, failure) != 0)
        return -1;
    if (admit_emulator(d->path) != 0)
        return run_fail(failure,
                        "--libvirt: %s: cannot let only libvirt's user in: %s; set TMPDIR to a "
                        "directory with access control lists (ext4, xfs, btrfs, tmpfs)",
                        d->path, strerror(errno));
    if (add_kernel(d, kernel, failure) != 0 ||
        add_file(d, LAUNCH_DOMAIN_ARCHIVE, archive_fd, failure) != 0)
        return -1;
    for (int i = 0; i < LAUNCH_PORTS; i++)
        if (has_port[i] && add_socket(d, (enum launch_port)i, failure) != 0)
            return -1;
    return 0;
}

static bool may_be_emulator(uid_t user)
{
    uid_t users[EMULATOR_USERS];
    size_t count = emulator_users(users);

    for (size_t i = 0; i < count; i++)
        if (users[i] == user)
            return true;
    return user == geteuid();
}

/* Accepts the emulator's first connection.  Returns a non-blocking socket, or -1. */
static int accept_port(int listener, pid_t *emulator)
{
    int fd;

    while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct ucred peer = {.pid = 0};
        socklen_t bytes = sizeof peer;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.pid > 0 &&
            (*emulator == 0 ? may_be_emulator(peer.uid) : peer.pid == *emulator)) {
            *emulator = peer.pid;
            return fd;
        }
        close(fd);
    }
    return -1;
}

int launch_directory_accept(struct launch_directory *d, int ports[LAUNCH_PORTS], pid_t *emulator,
                            struct run_failure *failure)
{
    *emulator = 0;
    for (int i = 0; i < LAUNCH_PORTS; i++) {
        if (d->listeners[i] < 0)
            continue;
        ports[i] = accept_port(d->listeners[i], emulator);
        if (ports[i] < 0)
            return run_fail(
                failure,
                "--libvirt: no emulator of libvirt's user on this machine connected to the port "
                "%s; is the libvirt daemon local, and is QEMU's user libvirt-qemu, qemu or root?",
                launch_domain_socket((enum launch_port)i));
    }
    return 0;
}

void launch_directory_remove(struct launch_directory *d)
{
    if (d->path[0] == 0)
        return;
    for (int i = 0; i < LAUNCH_PORTS; i++)
        if (d->listeners[i] >= 0) {
            close(d->listeners[i]);
            d->listeners[i] = -1;
        }
    launch_guard_end(&d->guard);
    d->path[0] = 0;
}
