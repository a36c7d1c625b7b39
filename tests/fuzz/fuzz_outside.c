/* Fuzzes the frames that a guest sends over the network port: whatever it sends, its numbers, its
 * window and its rights hold.  The input is what comes over the port; the low bits of the first
 * byte say whether the guest may connect (it never can: what it would connect to is made to be no
 * address of a unicast kind) and how many clients have come.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/network/network.h"
#include "tests/fuzz/fuzz.h"

#define CLIENTS_MAX 3

static struct network network = NETWORK_CLOSED;

/* As if clients had come and the guest had been told. */
static void add_client(uint32_t number, int peers[])
{
    struct network_connection *c = &network.connections[number];
    int pair[2];

    fuzz_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    *c = (struct network_connection){.state = NETWORK_OPENING,
                                     .fd = pair[0],
                                     .allowed = RUN_NETWORK_WINDOW,
                                     .credit = RUN_NETWORK_WINDOW};
    peers[number] = pair[1];
    fuzz_check(write(pair[1], "from outside", 12) == 12);
}

static void check_connections(void)
{
    for (uint32_t i = 0; i < RUN_NETWORK_NUMBERS; i++) {
        const struct network_connection *c = &network.connections[i];

        fuzz_check(c->state != NETWORK_FREE || (c->fd < 0 && c->buffer == NULL));
        fuzz_check(c->credit <= RUN_NETWORK_WINDOW);
        fuzz_check(c->start + c->count <= RUN_NETWORK_WINDOW);
        fuzz_check(c->allowed + c->count + c->owed <= RUN_NETWORK_WINDOW || c->fd < 0);
        fuzz_check(i < CLIENTS_MAX || i >= RUN_NETWORK_CONNECTIONS || c->state == NETWORK_FREE);
        fuzz_check(i < RUN_NETWORK_CONNECTIONS || c->fd < 0);
    }
}

/* Only addresses to which nothing can be sent: groups. */
static void make_harmless(struct run_network_frame *frame)
{
    memset(frame->address, 0, sizeof frame->address);
    frame->address[10] = frame->address[11] = 0xff;
    frame->address[12] = 239;
}

static void play(const uint8_t *data, size_t size)
{
    static uint8_t bytes[RUN_NETWORK_BYTES_MAX];
    struct run_network_frame frame;

    while (size >= sizeof frame && network.bad == NULL) {
        memcpy(&frame, data, sizeof frame);
        data += sizeof frame;
        size -= sizeof frame;
        if (frame.bytes > RUN_NETWORK_BYTES_MAX)
            return;
        memset(bytes, 'x', frame.bytes);
        make_harmless(&frame);
        network.bad = network_take(&network, &frame, bytes);
        check_connections();
        network_turn(&network, 0);
        check_connections();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run_failure failure = {0};
    static struct options o;
    int peers[CLIENTS_MAX], pair[2];
    uint32_t clients = size != 0 ? data[0] >> 1 & 3 : 0;
    uint8_t drop[4096];

    if (size == 0)
        return 0;
    o.network = data[0] & 1;
    fuzz_check(network_open(&network, &o, &failure) == 0);
    fuzz_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    network_port_init(&network.port, pair[0]);
    for (uint32_t i = 0; i < clients; i++)
        add_client(i, peers);
    if (data[0] & 8) { /* through the port, as the guest's bytes are */
        (void)!write(pair[1], data + 1, size - 1);
        for (int i = 0; i < 3 && network_turn(&network, 0); i++)
            while (read(pair[1], drop, sizeof drop) > 0)
                continue;
    } else {
        play(data + 1, size - 1);
    }
    network_close(&network);
    for (uint32_t i = 0; i < clients; i++)
        close(peers[i]);
    close(pair[0]);
    close(pair[1]);
    return 0;
}
