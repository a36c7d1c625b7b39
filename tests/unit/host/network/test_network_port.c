/* The network of a run: what the guest sends over its port, and what clients and servers of the
 * host see of it.  The test is the guest, and lets the network take its turns. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/network/network.h"
#include "tests/unit/test.h"

#define GUESTS RUN_NETWORK_CONNECTIONS /* the guest's first number */
#define TURNS 50 /* more than anything here takes */

static struct network network = NETWORK_CLOSED;
static int guest; /* its end of the port */
static struct { /* what came last */
    struct run_network_frame frame;
    uint8_t data[RUN_NETWORK_BYTES_MAX];
} got;

static void open_with(bool user, const char *const *published)
{
    static struct options o;
    struct run_failure failure = {0};
    int pair[2];

    o = (struct options){.network = user};
    for (; *published != NULL; published++) {
        o.published[o.published_count] = (struct options_published){
            .udp = strcmp(*published, "udp") == 0, .address = "127.0.0.1", .guest_port = 80};
        o.published_count++;
    }
    assert_int_equal(network_open(&network, &o, &failure), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    network_port_init(&network.port, pair[0]);
    guest = pair[1];
}

static void close_all(void)
{
    int port = network.port.fd;

    network_close(&network);
    if (port >= 0)
        close(port);
    close(guest);
}

static void turns(void)
{
    for (int i = 0; i < TURNS; i++)
        if (!network_turn(&network, 1))
            return;
}

static void put(uint32_t type, uint32_t number, uint32_t value, const void *data, uint32_t bytes)
{
    const struct run_network_frame frame = {
        .type = type, .connection = number, .value = value, .bytes = bytes, .guest_port = 80};

    assert_int_equal(send(guest, &frame, sizeof frame, MSG_NOSIGNAL), sizeof frame);
    if (bytes != 0)
        assert_int_equal(send(guest, data, bytes, MSG_NOSIGNAL), bytes);
}

/* OPEN, or a datagram, to an address of IPv4 and a port. */
static void put_to(uint32_t type, uint32_t address, uint16_t port, const void *data, uint32_t bytes)
{
    struct run_network_frame frame = {.type = type,
                                      .bytes = bytes,
                                      .port = port,
                                      .guest_port = 4000,
                                      .address = {[10] = 255, 255}};

    if (type == RUN_NETWORK_OPEN)
        frame.connection = GUESTS;
    address = htonl(address);
    memcpy(frame.address + 12, &address, sizeof address);
    assert_int_equal(send(guest, &frame, sizeof frame, MSG_NOSIGNAL), sizeof frame);
    if (bytes != 0)
        assert_int_equal(send(guest, data, bytes, MSG_NOSIGNAL), bytes);
}

/* Lets the network work until a frame comes, of this type. */
static void expect(uint32_t type)
{
    struct pollfd p = {.fd = guest, .events = POLLIN};

    for (int i = 0; i < TURNS && poll(&p, 1, 0) == 0; i++)
        assert_true(network_turn(&network, 10));
    assert_int_equal(recv(guest, &got.frame, sizeof got.frame, MSG_WAITALL | MSG_DONTWAIT),
                     sizeof got.frame);
    assert_int_equal(got.frame.type, type);
    assert_true(got.frame.bytes <= sizeof got.data);
    if (got.frame.bytes != 0)
        assert_int_equal(recv(guest, got.data, got.frame.bytes, MSG_WAITALL), got.frame.bytes);
}

static void expect_nothing(void)
{
    struct pollfd p = {.fd = guest, .events = POLLIN};

    turns();
    assert_int_equal(poll(&p, 1, 0), 0);
}

static int connect_client(int type, size_t published)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(network.published[published].port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* A network with a client, whom the guest has been told of. */
static int open_with_client(void)
{
    int client;

    open_with(false, (const char *[]){"tcp", NULL});
    client = connect_client(SOCK_STREAM, 0);
    expect(RUN_NETWORK_OPEN);
    return client;
}

/* The same, and a server of the guest has accepted it. */
static int open_with_served_client(void)
{
    int client = open_with_client();

    put(RUN_NETWORK_OPENED, 0, 0, NULL, 0);
    return client;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in name;
    socklen_t bytes = sizeof name;

    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &bytes), 0);
    return ntohs(name.sin_port);
}

/* A socket of the host's, bound to a free port of its loopback. */
static int bound(int type)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

static void a_client_sends_and_receives(void **state)
{
    const uint8_t host[16] = {[10] = 255, 255, 10, 0, 2, 2};
    char text[16];
    int client;

    (void)state;
    client = open_with_client();
    assert_int_equal(got.frame.connection, 0);
    assert_int_equal(got.frame.guest_port, 80);
    assert_int_equal(got.frame.port, port_of(client));
    assert_memory_equal(got.frame.address, host, sizeof host);
    put(RUN_NETWORK_OPENED, 0, 0, NULL, 0);
    assert_int_equal(send(client, "question", 8, 0), 8);
    expect(RUN_NETWORK_DATA);
    assert_int_equal(got.frame.bytes, 8);
    assert_memory_equal(got.data, "question", 8);
    put(RUN_NETWORK_DATA, 0, 0, "answer", 6);
    put(RUN_NETWORK_SHUT, 0, 0, NULL, 0);
    turns();
    assert_int_equal(recv(client, text, sizeof text, 0), 6);
    assert_int_equal(recv(client, text, sizeof text, 0), 0);
    shutdown(client, SHUT_WR);
    expect(RUN_NETWORK_SHUT);
    put(RUN_NETWORK_CLOSE, 0, 0, NULL, 0);
    expect(RUN_NETWORK_CLOSE);
    assert_int_equal(network.connections[0].state, NETWORK_FREE);
    close(client);
    close_all();
}

static void nobody_listens(void **state)
{
    char text[16];
    int client;

    (void)state;
    client = open_with_client();
    put(RUN_NETWORK_REFUSED, 0, ECONNREFUSED, NULL, 0);
    turns();
    assert_int_equal(recv(client, text, sizeof text, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(network.connections[0].state, NETWORK_FREE);
    close(client);
    close_all();
}

static void neither_side_buffers_without_bound(void **state)
{
    static uint8_t data[RUN_NETWORK_WINDOW];
    uint32_t taken = 0, sent = 0;
    int client;

    (void)state;
    client = open_with_served_client();
    for (int i = 0; i < 200; i++) { /* the guest gives no credit */
        (void)!send(client, data, sizeof data, MSG_DONTWAIT);
        network_turn(&network, 0);
    }
    while (taken < RUN_NETWORK_WINDOW) {
        expect(RUN_NETWORK_DATA);
        taken += got.frame.bytes;
    }
    assert_int_equal(taken, RUN_NETWORK_WINDOW);
    expect_nothing();
    put(RUN_NETWORK_CREDIT, 0, 1000, NULL, 0);
    expect(RUN_NETWORK_DATA);
    assert_int_equal(got.frame.bytes, 1000);
    /* and the client does not read: what the guest may send has an end, too */
    while (network.connections[0].count == 0 || network.connections[0].allowed != 0) {
        uint32_t part = network.connections[0].allowed;

        part = part < RUN_NETWORK_BYTES_MAX ? part : RUN_NETWORK_BYTES_MAX;
        if (part != 0)
            put(RUN_NETWORK_DATA, 0, 0, data, part);
        sent += part;
        network_turn(&network, 1);
        while (recv(guest, &got.frame, sizeof got.frame, MSG_DONTWAIT) == sizeof got.frame)
            assert_int_equal(got.frame.type, RUN_NETWORK_CREDIT);
        assert_true(sent < 1u << 30);
    }
    assert_true(network.connections[0].count <= RUN_NETWORK_WINDOW);
    put(RUN_NETWORK_DATA, 0, 0, data, 1);
    turns();
    assert_non_null(network.bad);
    close(client);
    close_all();
}

static void a_client_that_vanishes(void **state)
{
    const struct linger at_once = {.l_onoff = 1};
    int client;

    (void)state;
    client = open_with_served_client();
    turns();
    setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(client);
    expect(RUN_NETWORK_RESET);
    put(RUN_NETWORK_DATA, 0, 0, "on its way", 10); /* was sent before RESET came */
    put(RUN_NETWORK_RESET, 0, 0, NULL, 0);
    turns();
    assert_null(network.bad);
    assert_int_equal(network.connections[0].state, NETWORK_FREE);
    close_all();
}

static void the_guest_connects(void **state)
{
    char text[16];
    int server = bound(SOCK_STREAM), peer;

    (void)state;
    open_with(true, (const char *[]){NULL});
    put_to(RUN_NETWORK_OPEN, RUN_NETWORK_HOST, port_of(server), NULL, 0);
    expect(RUN_NETWORK_REFUSED);
    assert_int_equal(got.frame.value, ECONNREFUSED);
    assert_int_equal(listen(server, 1), 0);
    put_to(RUN_NETWORK_OPEN, RUN_NETWORK_HOST, port_of(server), NULL, 0);
    expect(RUN_NETWORK_OPENED);
    peer = accept(server, NULL, NULL);
    put(RUN_NETWORK_DATA, GUESTS, 0, "hello", 5);
    put(RUN_NETWORK_CLOSE, GUESTS, 0, NULL, 0);
    expect(RUN_NETWORK_CLOSE);
    assert_int_equal(recv(peer, text, sizeof text, MSG_WAITALL), 5);
    put_to(RUN_NETWORK_OPEN, 0xffffffff, 80, NULL, 0);
    expect(RUN_NETWORK_REFUSED);
    assert_int_equal(got.frame.value, EACCES);
    close(peer);
    close(server);
    close_all();
}

static void without_leave_nothing_goes_out(void **state)
{
    int server = bound(SOCK_STREAM), receiver = bound(SOCK_DGRAM);
    struct pollfd p[2] = {{.fd = server, .events = POLLIN}, {.fd = receiver, .events = POLLIN}};

    (void)state;
    assert_int_equal(listen(server, 1), 0);
    open_with(false, (const char *[]){"tcp", "udp", NULL});
    put_to(RUN_NETWORK_OPEN, RUN_NETWORK_HOST, port_of(server), NULL, 0);
    expect(RUN_NETWORK_REFUSED);
    assert_int_equal(got.frame.value, ENETUNREACH);
    put_to(RUN_NETWORK_DATAGRAM, RUN_NETWORK_HOST, port_of(receiver), "x", 1);
    expect_nothing();
    assert_int_equal(poll(p, 2, 0), 0);
    close(server);
    close(receiver);
    close_all();
}

static void datagrams_of_clients_are_answered(void **state)
{
    char text[16];
    int clients[2];

    (void)state;
    open_with(false, (const char *[]){"udp", NULL});
    for (int i = 0; i < 2; i++) {
        clients[i] = connect_client(SOCK_DGRAM, 0);
        assert_int_equal(send(clients[i], "ping", 4, 0), 4);
        expect(RUN_NETWORK_DATAGRAM);
        assert_int_equal(got.frame.port, port_of(clients[i]));
        got.frame.bytes = 4;
        assert_int_equal(send(guest, &got, sizeof got.frame + 4, 0), sizeof got.frame + 4);
    }
    turns();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(recv(clients[i], text, sizeof text, MSG_DONTWAIT), 4);
        close(clients[i]);
    }
    close_all();
}

static void datagrams_of_the_guest_are_answered(void **state)
{
    struct sockaddr_in from;
    socklen_t bytes = sizeof from;
    char text[16];
    int server = bound(SOCK_DGRAM);

    (void)state;
    open_with(true, (const char *[]){NULL});
    put_to(RUN_NETWORK_DATAGRAM, RUN_NETWORK_HOST, port_of(server), "ping", 4);
    turns();
    assert_int_equal(
        recvfrom(server, text, sizeof text, MSG_DONTWAIT, (struct sockaddr *)&from, &bytes), 4);
    assert_int_equal(sendto(server, "pong", 4, 0, (struct sockaddr *)&from, bytes), 4);
    expect(RUN_NETWORK_DATAGRAM);
    assert_int_equal(got.frame.guest_port, 4000);
    assert_int_equal(got.frame.port, port_of(server));
    assert_int_equal(got.frame.address[12], 10);
    /* a server of names on the loopback has its own address */
    put_to(RUN_NETWORK_DATAGRAM, INADDR_LOOPBACK, port_of(server), "ping", 4);
    turns();
    bytes = sizeof from;
    recvfrom(server, text, sizeof text, MSG_DONTWAIT, (struct sockaddr *)&from, &bytes);
    assert_int_equal(sendto(server, "pong", 4, 0, (struct sockaddr *)&from, bytes), 4);
    expect(RUN_NETWORK_DATAGRAM);
    assert_int_equal(got.frame.address[12], 127);
    close(server);
    close_all();
}

static void a_wait_is_answered_once(void **state)
{
    const struct run_network_frame now = {.type = RUN_NETWORK_WAIT, .wait = 7};
    const struct run_network_frame never = {
        .type = RUN_NETWORK_WAIT, .wait = 8, .time_ns = UINT64_MAX};
    int client;

    (void)state;
    open_with(false, (const char *[]){"tcp", NULL});
    assert_int_equal(send(guest, &now, sizeof now, 0), sizeof now);
    expect(RUN_NETWORK_WAITED);
    assert_int_equal(got.frame.wait, 7);
    assert_int_equal(send(guest, &never, sizeof never, 0), sizeof never);
    expect_nothing();
    client = connect_client(SOCK_STREAM, 0);
    expect(RUN_NETWORK_OPEN);
    assert_int_equal(got.frame.wait, 8);
    assert_true(got.frame.time_ns != 0);
    put(RUN_NETWORK_OPENED, 0, 0, NULL, 0);
    assert_int_equal(send(client, "x", 1, 0), 1);
    expect(RUN_NETWORK_DATA);
    assert_int_equal(got.frame.wait, 0);
    close(client);
    close_all();
}

/* Each of these ends the network with a reason, and nothing else. */
static void what_the_protocol_does_not_have(void **state)
{
    static const struct run_network_frame bad[] = {
        {.type = 0},
        {.type = RUN_NETWORK_WAITED},
        {.type = 99},
        {.type = RUN_NETWORK_DATA, .connection = 0, .bytes = RUN_NETWORK_BYTES_MAX + 1},
        {.type = RUN_NETWORK_OPENED, .connection = 0},
        {.type = RUN_NETWORK_SHUT, .connection = 5},
        {.type = RUN_NETWORK_OPEN, .connection = 3}, /* the host's number */
        {.type = RUN_NETWORK_OPEN, .connection = RUN_NETWORK_NUMBERS},
        {.type = RUN_NETWORK_CLOSE, .connection = UINT32_MAX},
        {.type = RUN_NETWORK_DATAGRAM}, /* from port 0 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        open_with(true, (const char *[]){NULL});
        assert_int_equal(send(guest, &bad[i], sizeof bad[i], 0), sizeof bad[i]);
        turns();
        assert_non_null(network.bad);
        close_all();
    }
    open_with(true, (const char *[]){NULL});
    put(RUN_NETWORK_RESET, GUESTS, 0, NULL, 0); /* of a number that is free: means nothing */
    turns();
    assert_null(network.bad);
    close_all();
}

static void what_was_sent_leaves_after_the_guest(void **state)
{
    char text[16];
    int client;

    (void)state;
    client = open_with_served_client();
    put(RUN_NETWORK_DATA, 0, 0, "the last", 8);
    shutdown(guest, SHUT_RDWR);
    turns();
    assert_int_equal(recv(client, text, sizeof text, 0), 8);
    assert_int_equal(recv(client, text, sizeof text, 0), 0);
    close(client);
    close_all();
}

static void a_port_that_is_taken(void **state)
{
    struct run_failure failure = {0};
    static struct options o;
    int taken = bound(SOCK_STREAM);

    (void)state;
    assert_int_equal(listen(taken, 1), 0);
    o.published_count = 1;
    o.published[0] = (struct options_published){
        .address = "127.0.0.1", .host_port = port_of(taken), .guest_port = 80};
    assert_int_equal(network_open(&network, &o, &failure), -1);
    assert_int_equal(failure.exit_status, 125);
    network_close(&network);
    close(taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_sends_and_receives),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(neither_side_buffers_without_bound),
        cmocka_unit_test(a_client_that_vanishes),
        cmocka_unit_test(the_guest_connects),
        cmocka_unit_test(without_leave_nothing_goes_out),
        cmocka_unit_test(datagrams_of_clients_are_answered),
        cmocka_unit_test(datagrams_of_the_guest_are_answered),
        cmocka_unit_test(a_wait_is_answered_once),
        cmocka_unit_test(what_the_protocol_does_not_have),
        cmocka_unit_test(what_was_sent_leaves_after_the_guest),
        cmocka_unit_test(a_port_that_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
