/* streamsink FILE: takes one run from streamclient and writes what the frames carry to FILE,
 * without looking at it: what `hr collect --listen tcp:` is compared with.  Prints its port first.
 */
#include <fcntl.h>

#include "tests/tools/streamsocket.h"

#define READ_BYTES (256u << 10)

static int listen_somewhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 1) != 0 || getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
        die("listen");
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void write_all(int fd, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);

        if (written <= 0)
            die("write");
        bytes += written;
        count -= (size_t)written;
    }
}

/* Until the end of the run; bytes of frames. */
static uint64_t take(int from, int to)
{
    static uint8_t bytes[READ_BYTES];
    struct run_parser parser = {0};
    struct run_piece piece = {0};
    uint64_t position = 0;

    while (piece.kind != RUN_PIECE_END) {
        ssize_t count = recv(from, bytes, sizeof bytes, 0);
        size_t taken = 0;

        if (count <= 0)
            die("recv");
        do {
            taken += run_parser_next(&parser, bytes + taken, (size_t)count - taken, &piece);
            if (piece.kind == RUN_PIECE_DATA)
                write_all(to, piece.bytes, piece.count);
        } while (piece.kind == RUN_PIECE_DATA);
        if (piece.kind == RUN_PIECE_BAD)
            die("no frame");
        position += taken;
    }
    return position;
}

int main(int argc, char **argv)
{
    int file = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    int fd = accept(listen_somewhere(), NULL, NULL);
    struct run_hello hello;
    struct run_welcome welcome;
    struct run_ack ack;

    if (file < 0 || fd < 0 || !receive_all(fd, &hello, sizeof hello))
        die("start");
    run_stream_welcome(&welcome, RUN_WELCOME_OK, NULL);
    if (!send_all(fd, &welcome, sizeof welcome))
        die("welcome");
    run_stream_ack(&ack, RUN_WELCOME_DONE, take(fd, file));
    if (fsync(file) != 0 || !send_all(fd, &ack, sizeof ack))
        die("end");
    return 0;
}
