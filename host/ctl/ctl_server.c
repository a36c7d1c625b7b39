/* Answers those who steer a run. */
#include "host/ctl/ctl_server.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define WAITING 8 /* clients that may wait */

int ctl_server_open(struct ctl_server *server)
{
    int error = ctl_address(true, getpid(), &server->address);
    int fd = -1;

    server->listener = server->client = -1;
    if (error == 0) {
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        error = fd >= 0 ? 0 : -errno;
    }
    if (error == 0) {
        (void)unlink(server->address.sun_path); /* of an earlier process of this number */
        if (bind(fd, (struct sockaddr *)&server->address, sizeof server->address) != 0 ||
            listen(fd, WAITING) != 0)
            error = -errno;
    }
    if (error == 0)
        server->listener = fd;
    else if (fd >= 0)
        close(fd);
    return error;
}

void ctl_server_close(struct ctl_server *server)
{
    if (server->client >= 0)
        close(server->client);
    if (server->listener >= 0) {
        (void)unlink(server->address.sun_path);
        close(server->listener);
    }
    server->listener = server->client = -1;
}

void ctl_server_serve(struct ctl_server *server, ctl_perform *perform, void *context)
{
    char request[CTL_PACKET_MAX + 1];
    struct ctl_answer answer = {0};
    ssize_t bytes = recv(server->client, request, sizeof request - 1, MSG_DONTWAIT);
    char first;

    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (bytes > 0) {
        struct iovec parts[] = {{&first, 1}, {answer.text, 0}};

        request[bytes] = 0;
        if (strlen(request) == (size_t)bytes)
            perform(context, request, &answer);
        first = answer.done ? CTL_DONE : CTL_REFUSED;
        parts[1].iov_len = strlen(answer.text);
        (void)sendmsg(server->client, &(struct msghdr){.msg_iov = parts, .msg_iovlen = 2},
                      MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    close(server->client);
    server->client = -1;
}

void ctl_server_accept(struct ctl_server *server, ctl_perform *perform, void *context)
{
    if (server->client >= 0) /* its request may have come just now */
        ctl_server_serve(server, perform, context);
    if (server->client >= 0) /* it has none, and others wait */
        close(server->client);
    server->client = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
