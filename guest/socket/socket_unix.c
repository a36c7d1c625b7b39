/* AF_UNIX: names, connections by name, and datagrams. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "guest/base/context.h"
#include "guest/fs/fs.h"
#include "guest/socket/socket.h"
#include "guest/thread/process.h"
#include "lib/format.h"
#include "lib/hash.h"

#define FAMILY_BYTES ((uint32_t)offsetof(struct sockaddr_un, sun_path))
#define PATH_BYTES ((uint32_t)sizeof((struct sockaddr_un *)0)->sun_path)
#define BUCKETS 64u
#define DATAGRAMS_MAX 10u /* /proc/sys/net/unix/max_dgram_qlen */
#define OWN_NAMES (1u << 20) /* of autobind: five hexadecimal digits */

static struct socket *abstract_names[BUCKETS];

/* ---- names */

static struct socket **bucket_of(const char *name, uint32_t bytes)
{
    return &abstract_names[hash_bytes32(name, bytes) % BUCKETS];
}

static struct socket *find_abstract(const char *name, uint32_t bytes, uint32_t type)
{
    struct socket *s = *bucket_of(name, bytes);

    while (s != NULL && (s->type != type || s->local.name_bytes != bytes ||
                         memcmp(s->local.name, name, bytes) != 0))
        s = s->local.next_named;
    return s;
}

static void give_name(struct socket *s, const char *name, uint32_t bytes)
{
    memcpy(s->local.name, name, bytes);
    s->local.name_bytes = (uint16_t)bytes;
}

static int bind_abstract(struct socket *s, const char *name, uint32_t bytes)
{
    struct socket **bucket = bucket_of(name, bytes);

    if (find_abstract(name, bytes, s->type) != NULL)
        return -EADDRINUSE;
    give_name(s, name, bytes);
    s->local.next_named = *bucket;
    *bucket = s;
    return 0;
}

static int bind_own(struct socket *s)
{
    static uint32_t next;

    for (uint32_t i = 0; i < OWN_NAMES; i++) {
        char name[8] = "";

        format_text(name + 1, sizeof name - 1, "%05x", next++ % OWN_NAMES);
        if (bind_abstract(s, name, 6) == 0)
            return 0;
    }
    return -ENOSPC;
}

/* Makes a name in the file system. */
static int bind_path(struct thread *thread, struct socket *s, const char *path)
{
    uint32_t mode = S_IFSOCK | (0777 & ~thread->process->place->umask);
    struct fs_found found;
    struct inode *inode;
    int error = fs_walk(thread, thread->process->place->directory, path, FS_PARENT, &found);

    if (error)
        return error;
    inode = inode_new(mode);
    if (inode == NULL) {
        error = -ENOSPC;
    } else {
        inode_hold(inode); /* the socket's */
        error = fs_make(thread, &found, inode, NULL);
        if (error) {
            inode_release(inode);
        } else {
            s->local.inode = inode;
            inode->socket = s;
        }
    }
    fs_found_release(&found);
    return error == -EEXIST ? -EADDRINUSE : error;
}

/* Copies a path and ends it.  Returns its length. */
static uint32_t copy_path(char *path, const struct sockaddr_un *name, uint32_t bytes)
{
    uint32_t length = (uint32_t)strnlen(name->sun_path, bytes - FAMILY_BYTES);

    memcpy(path, name->sun_path, length);
    path[length] = '\0';
    return length;
}

static int bind_unix(struct thread *thread, struct socket *s, const void *given, uint32_t bytes)
{
    const struct sockaddr_un *name = given;
    char path[PATH_BYTES + 1];
    uint32_t length;
    int error;

    if (bytes < FAMILY_BYTES || bytes > sizeof *name || name->sun_family != AF_UNIX)
        return -EINVAL;
    if (s->local.name_bytes)
        return bytes == FAMILY_BYTES ? 0 : -EINVAL;
    if (bytes == FAMILY_BYTES)
        return bind_own(s);
    if (!name->sun_path[0])
        return bind_abstract(s, name->sun_path, bytes - FAMILY_BYTES);
    length = copy_path(path, name, bytes);
    error = bind_path(thread, s, path);
    if (!error)
        give_name(s, path, length < PATH_BYTES ? length + 1 : PATH_BYTES);
    return error;
}

static int find_path(struct thread *thread, const char *path, struct socket **s)
{
    struct fs_found found;
    int error = fs_walk(thread, thread->process->place->directory, path, FS_FOLLOW, &found);
    struct inode *inode;

    if (error)
        return error;
    inode = found.entry != NULL ? found.entry->inode : NULL;
    error = inode != NULL ? fs_permission(inode, W_OK) : 0;
    *s = inode != NULL && S_ISSOCK(inode->mode) ? inode->socket : NULL;
    fs_found_release(&found);
    return error ? error : *s == NULL ? -ECONNREFUSED : 0;
}

/* Finds the socket of a name; it is not held. */
static int find_unix(struct thread *thread, const struct socket *from, const void *given,
                     uint32_t bytes, struct socket **s)
{
    const struct sockaddr_un *name = given;
    char path[PATH_BYTES + 1];

    if (bytes <= FAMILY_BYTES || bytes > sizeof *name || name->sun_family != AF_UNIX)
        return -EINVAL;
    if (name->sun_path[0]) {
        int error;

        copy_path(path, name, bytes);
        error = find_path(thread, path, s);
        if (error)
            return error;
    } else {
        *s = find_abstract(name->sun_path, bytes - FAMILY_BYTES, from->type);
        if (*s == NULL)
            return -ECONNREFUSED;
    }
    return (*s)->type == from->type ? 0 : -EPROTOTYPE;
}

static void leave_unix(struct socket *s)
{
    struct socket **at;

    if (s->local.inode != NULL) {
        s->local.inode->socket = NULL;
        inode_release(s->local.inode);
        s->local.inode = NULL;
        return;
    }
    if (!s->local.name_bytes || s->local.name[0])
        return;
    at = bucket_of(s->local.name, s->local.name_bytes);
    while (*at != NULL && *at != s)
        at = &(*at)->local.next_named;
    if (*at == s) /* not one that was accepted: that only shows the name */
        *at = s->local.next_named;
}

static uint32_t name_unix(const struct socket *s, enum socket_whose whose, void *out)
{
    const uint16_t family = AF_UNIX;
    const struct socket *of = whose == SOCKET_OWN ? s : s->peer;

    if (of == NULL)
        return 0;
    memcpy(out, &family, sizeof family);
    memcpy((uint8_t *)out + FAMILY_BYTES, of->local.name, of->local.name_bytes);
    return FAMILY_BYTES + of->local.name_bytes;
}

/* ---- connections */

static int listen_unix(struct thread *, struct socket *s)
{
    return s->local.name_bytes ? 0 : -EINVAL;
}

static int64_t connect_stream(struct thread *thread, struct socket *s, const void *name,
                              uint32_t bytes, uint64_t deadline)
{
    struct socket *listener;
    int error = find_unix(thread, s, name, bytes, &listener);

    if (error)
        return error;
    if (s->options.pass_credentials && !s->local.name_bytes)
        error = bind_own(s);
    if (error)
        return error;
    if (listener->state != SOCKET_LISTENS)
        return -ECONNREFUSED;
    if (s->state != SOCKET_NEW)
        return s->state == SOCKET_CONNECTED ? -EISCONN : -EINVAL;
    return socket_stream_connect(thread, s, listener, deadline);
}

const struct socket_kind socket_unix_stream = {.bind = bind_unix,
                                               .connect = connect_stream,
                                               .listen = listen_unix,
                                               .send = socket_stream_send,
                                               .receive = socket_stream_receive,
                                               .poll = socket_stream_poll,
                                               .name = name_unix,
                                               .leave = leave_unix};

/* ---- datagrams */

static bool may_send(const struct socket *s, const struct socket *to)
{
    return to->peer == NULL || to->peer == s;
}

static void forget_peer(struct socket *s)
{
    if (s->peer != NULL)
        socket_release(s->peer);
    s->peer = NULL;
    s->state = SOCKET_NEW;
}

static int64_t connect_datagram(struct thread *thread, struct socket *s, const void *name,
                                uint32_t bytes, uint64_t /* deadline */)
{
    const struct sockaddr *any = name;
    struct socket *to;
    int error;

    if (bytes >= sizeof any->sa_family && any->sa_family == AF_UNSPEC) {
        forget_peer(s);
        return 0;
    }
    error = find_unix(thread, s, name, bytes, &to);
    if (error)
        return error;
    if (!may_send(s, to))
        return -EPERM;
    socket_hold(to);
    forget_peer(s);
    s->peer = to;
    s->state = SOCKET_CONNECTED;
    return 0;
}

/* Returns true if a datagram of `bytes` bytes must wait.  Two that are connected to each other have
 * the sender's limit of bytes, others the receiver's of datagrams. */
static bool is_full(const struct socket *s, const struct socket *to, uint64_t bytes)
{
    if (to == s || to->peer == s)
        return to->in.packets && to->in.bytes + to->in.packets * SOCKET_DATAGRAM_COST + bytes >
                                     (uint64_t)s->options.send_bytes;
    return to->in.packets > DATAGRAMS_MAX;
}

/* Waits until a socket takes a datagram.  Returns 0 or -errno. */
static int64_t wait_taker(struct thread *thread, struct socket *s, struct socket *to,
                          const struct socket_message *m)
{
    uint64_t deadline = UINT64_MAX - 1;
    int64_t error = 0;

    for (;;) {
        if (to->closed) {
            if (s->peer == to)
                forget_peer(s);
            return -ECONNREFUSED;
        }
        if (!may_send(s, to))
            return -EPERM;
        if (to->shut & SOCKET_SHUT_READ || s->shut & SOCKET_SHUT_WRITE)
            return -EPIPE;
        if (!is_full(s, to, m->bytes.left))
            return 0;
        if (error)
            return error;
        if (deadline == UINT64_MAX - 1)
            deadline = socket_deadline(s, m->flags, true);
        error = socket_wait(thread, &to->writers, deadline, "room for a datagram");
    }
}

static int64_t send_to(struct thread *thread, struct socket *s, struct socket *to,
                       struct socket_message *m)
{
    uint8_t name[SOCKET_NAME_MAX];
    uint32_t name_bytes = s->local.name_bytes ? name_unix(s, SOCKET_OWN, name) : 0;
    int64_t result = (int64_t)m->bytes.left, status;
    struct socket_packet *packet;
    int error;

    status = wait_taker(thread, s, to, m);
    if (status)
        return status;
    packet = socket_datagram_make(s, m, name, name_bytes, &error);
    if (packet == NULL)
        return error;
    socket_datagram_put(to, packet);
    return result;
}

static int64_t send_datagram(struct thread *thread, struct socket *s, struct socket_message *m)
{
    struct socket *to = s->peer;
    int64_t result = 0;

    context_assert_thread();
    if (m->flags & MSG_OOB)
        return -EOPNOTSUPP;
    if (m->name_bytes)
        result = find_unix(thread, s, m->name, m->name_bytes, &to);
    if (result)
        return result;
    if (to == NULL)
        return -ENOTCONN;
    if (s->error)
        return socket_take_error(s);
    if (m->bytes.left > (uint64_t)s->options.send_bytes - 32)
        return -EMSGSIZE;
    if (s->options.pass_credentials && !s->local.name_bytes)
        result = bind_own(s);
    if (result)
        return result;
    socket_hold(to);
    result = send_to(thread, s, to, m);
    socket_release(to);
    return result;
}

static uint32_t poll_datagram(const struct socket *s)
{
    bool full = s->peer != NULL && !s->peer->closed && is_full(s, s->peer, 1);

    return socket_datagram_poll(s, !full);
}

const struct socket_kind socket_unix_datagram = {.bind = bind_unix,
                                                 .connect = connect_datagram,
                                                 .send = send_datagram,
                                                 .receive = socket_datagram_receive,
                                                 .poll = poll_datagram,
                                                 .name = name_unix,
                                                 .leave = leave_unix};
