/* guest/net over lwIP, with a card that is none and a peer that may be slow, deaf, forgetful or
 * lie: net_stack.c, stream_client.c and outbox.c together.
 */
#include "tests/unit/test.h"

#include "tests/unit/guest/net/fake_card.h"

#include <lwip/priv/tcp_priv.h>

#include "guest/net/net_checksum.c"
#include "guest/net/net_offload.c"
#include "guest/net/net_stack.c"
#include "guest/net/outbox.c"
#include "guest/net/stream_client.c"

#define MEMORY_BYTES (1u << 20)
#define STREAM_MOST (16u << 20)
#define ACK_EVERY 30000

/* ---- a collector ---- */

static struct {
    uint8_t *streams[RUN_STREAM_PORTS];
    uint64_t have[RUN_STREAM_PORTS];
    struct run_hello hello;
    size_t hello_used;
    struct run_parser parser;
    uint64_t position, acknowledged;
    uint64_t break_at; /* resets the connection at this position */
    uint32_t status; /* of the welcome */
    bool mute, ended;
} collector;

static void peer_connected(void)
{
    collector.hello_used = 0;
    collector.position = collector.acknowledged = 0;
    memset(&collector.parser, 0, sizeof collector.parser);
}

static void take_hello(const uint8_t **bytes, size_t *count)
{
    size_t part = sizeof collector.hello - collector.hello_used;

    if (part > *count)
        part = *count;
    memcpy((uint8_t *)&collector.hello + collector.hello_used, *bytes, part);
    collector.hello_used += part;
    *bytes += part;
    *count -= part;
    if (collector.hello_used < sizeof collector.hello || collector.mute)
        return;
    assert_int_equal(run_stream_hello_check(&collector.hello), RUN_WELCOME_OK);
    struct run_welcome welcome;
    run_stream_welcome(&welcome, collector.status, collector.have);
    peer_say(&welcome, sizeof welcome);
}

static void say_ack(uint32_t status)
{
    struct run_ack ack;

    run_stream_ack(&ack, status, collector.position);
    peer_say(&ack, sizeof ack);
    collector.acknowledged = collector.position;
}

static void take_piece(const struct run_piece *piece)
{
    assert_int_not_equal(piece->kind, RUN_PIECE_BAD);
    if (piece->kind == RUN_PIECE_END)
        collector.ended = true;
    if (piece->kind != RUN_PIECE_DATA)
        return;
    assert_int_equal(piece->offset, collector.have[piece->port]);
    if (piece->count)
        memcpy(collector.streams[piece->port] + piece->offset, piece->bytes, piece->count);
    collector.have[piece->port] += piece->count;
}

static void peer_input(const uint8_t *bytes, size_t count)
{
    if (collector.hello_used < sizeof collector.hello)
        take_hello(&bytes, &count);
    collector.position += count;
    while (count) {
        struct run_piece piece;
        size_t taken = run_parser_next(&collector.parser, bytes, count, &piece);

        take_piece(&piece);
        bytes += taken;
        count -= taken;
    }
    if (collector.break_at && collector.position >= collector.break_at)
        peer_reset();
    else if (collector.ended)
        say_ack(RUN_WELCOME_DONE);
    else if (collector.position - collector.acknowledged >= ACK_EVERY)
        say_ack(RUN_WELCOME_OK);
}

/* ---- the machine ---- */

static struct outbox box;
static uint8_t *memory, *put_streams[RUN_STREAM_PORTS];
static struct boot_network network;

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    memset(&peer, 0, sizeof peer);
    peer.random.state = 99;
    peer.dhcp = true;
    peer.window = 1 << 20;
    memory = aligned_alloc(64, MEMORY_BYTES);
    for (int i = 0; i < RUN_STREAM_PORTS; i++) {
        put_streams[i] = malloc(STREAM_MOST);
        collector.streams[i] = malloc(STREAM_MOST);
        collector.have[i] = 0;
    }
    collector.status = RUN_WELCOME_OK;
    collector.mute = collector.ended = false;
    collector.break_at = 0;
    network = (struct boot_network){.port = 4817, .machine = "m", .run = "r", .token = "secret"};
    memcpy(&network.collector, peer_ip, 4);
    outbox_init(&box, memory, MEMORY_BYTES);
    return 0;
}

/* The same with a card that cuts segments. */
static int set_up_cutting(void **state)
{
    int status = set_up(state);

    fake.cuts = true;
    return status;
}

/* lwIP's lists are static: what a test left there goes. */
static int tear_down(void **state)
{
    (void)state;
    let_go();
    while (tcp_active_pcbs)
        tcp_abort(tcp_active_pcbs);
    while (tcp_tw_pcbs) {
        struct tcp_pcb *pcb = tcp_tw_pcbs;
        tcp_pcb_remove(&tcp_tw_pcbs, pcb);
        tcp_free(pcb);
    }
    if (netif_default) {
        dhcp_stop(&interface);
        dhcp_cleanup(&interface);
        netif_remove(&interface);
    }
    for (struct sys_timeo **t = sys_timeouts_get_next_timeout(); *t;) {
        struct sys_timeo *next = (*t)->next;
        net_port_free(*t);
        *t = next;
    }
    if (spare)
        pbuf_free(spare);
    spare = NULL;
    net_stack_stop();
    for (int i = 0; i < RUN_STREAM_PORTS; i++) {
        free(put_streams[i]);
        free(collector.streams[i]);
    }
    free(memory);
    return 0;
}

static void put(enum run_stream_port port, size_t count)
{
    uint8_t *at = put_streams[port] + box.put[port];

    assert_true(box.put[port] + count <= STREAM_MOST);
    test_random_fill(&peer.random, at, count);
    assert_int_equal(outbox_put(&box, port, at, count), 0);
}

static bool run_until(enum stream_state state, uint64_t most_ms)
{
    uint64_t end = fake_ms() + most_ms;

    while (stream_client_state() != state && fake_ms() < end) {
        net_stack_poll();
        stream_client_poll();
    }
    return stream_client_state() == state;
}

static void run_for(uint64_t ms)
{
    uint64_t end = fake_ms() + ms;

    while (fake_ms() < end) {
        net_stack_poll();
        stream_client_poll();
    }
}

static void start(void)
{
    char problem[160];

    assert_int_equal(net_stack_start(&network, problem, sizeof problem), 0);
    assert_int_equal(stream_client_start(&network, &box), 0);
}

static void check_complete(void)
{
    assert_int_equal(stream_client_state(), STREAM_DONE);
    assert_true(collector.ended);
    for (int i = 1; i < RUN_STREAM_PORTS; i++) {
        assert_int_equal(collector.have[i], box.put[i]);
        assert_memory_equal(collector.streams[i], put_streams[i], box.put[i]);
    }
}

/* `total` bytes of the trace and of the output, as fast as there is room for them. */
static void send_all(uint64_t total, uint64_t most_ms)
{
    uint64_t end = fake_ms() + most_ms;
    bool end_put = false;

    while (stream_client_state() != STREAM_DONE && stream_client_state() != STREAM_REFUSED &&
           fake_ms() < end) {
        size_t count = 1 + (size_t)test_random_below(&peer.random, 65536);
        if (box.put[RUN_STREAM_TRACE] < total &&
            outbox_room(&box, RUN_STREAM_TRACE) > count + 100) {
            put(RUN_STREAM_TRACE, count);
            put(RUN_STREAM_STDOUT, 1 + (size_t)test_random_below(&peer.random, 100));
        }
        if (box.put[RUN_STREAM_TRACE] >= total && !end_put)
            end_put = outbox_put_end(&box) == 0;
        net_stack_poll();
        stream_client_poll();
    }
}

/* ---- tests ---- */

static void test_dhcp(void **state)
{
    (void)state;
    start();
    assert_memory_equal(&netif_ip4_addr(&interface)->addr, guest_ip, 4);
    assert_memory_equal(&netif_ip4_gw(&interface)->addr, peer_ip, 4);
    assert_non_null(strstr(fake.log, "10.0.2.15/24"));
    assert_true(run_until(STREAM_OPEN, 5000));
    assert_string_equal(collector.hello.token, "secret");
    put(RUN_STREAM_LOG, 10);
    outbox_put_end(&box);
    assert_true(run_until(STREAM_DONE, 5000));
    check_complete();
}

static void test_static_address(void **state)
{
    (void)state;
    peer.dhcp = false;
    memcpy(&network.address, guest_ip, 4);
    network.netmask = htonl(0xffffff00);
    start();
    assert_true(run_until(STREAM_OPEN, 5000));
}

static void check_start_fails(const char *text, uint64_t least_ms, uint64_t most_ms)
{
    char problem[160];

    assert_int_not_equal(net_stack_start(&network, problem, sizeof problem), 0);
    assert_non_null(strstr(problem, text));
    assert_in_range(fake_ms(), least_ms, most_ms);
}

static void test_gateway_needed(void **state)
{
    (void)state;
    memcpy(&network.address, guest_ip, 4);
    network.netmask = htonl(0xffffff00);
    network.collector = htonl(0xc0a80101);
    check_start_fails("no gateway", 0, 1000);
}

static void test_no_card(void **state)
{
    (void)state;
    fake.absent = true;
    check_start_fails("no network card", 0, 0);
}

static void test_no_link(void **state)
{
    (void)state;
    fake.unplugged = true;
    check_start_fails("no link", NET_LINK_WAIT_MS, NET_LINK_WAIT_MS + 100);
}

static void test_no_dhcp(void **state)
{
    (void)state;
    peer.dhcp = false;
    check_start_fails("no DHCP server answered within 30 s", NET_DHCP_WAIT_MS,
                      NET_DHCP_WAIT_MS + 1000);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    peer.refuses = true;
    start();
    assert_false(run_until(STREAM_OPEN, 8000));
    assert_non_null(strstr(stream_client_problem(), "refused"));
    peer.refuses = false; /* it is started at last */
    assert_true(run_until(STREAM_OPEN, 6000));
}

static void test_nobody_answers(void **state)
{
    (void)state;
    start();
    peer.deaf = true;
    assert_false(run_until(STREAM_OPEN, 20000));
    assert_non_null(strstr(stream_client_problem(), "does not answer"));
}

static void test_no_collector_answers(void **state)
{
    (void)state;
    collector.mute = true;
    start();
    assert_false(run_until(STREAM_OPEN, 25000));
    assert_non_null(strstr(stream_client_problem(), "does not answer as a collector"));
}

static void test_refusals(void **state)
{
    static const uint32_t refusals[] = {RUN_WELCOME_TOKEN, RUN_WELCOME_VERSION, RUN_WELCOME_NAME,
                                        RUN_WELCOME_LIMIT};

    (void)state;
    start();
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        collector.status = refusals[i];
        stream_client_start(&network, &box);
        assert_true(run_until(STREAM_REFUSED, 5000));
        assert_string_equal(stream_client_problem(), run_stream_status_text(refusals[i]));
        uint32_t connections = peer.connections;
        run_for(20000);
        assert_int_equal(peer.connections, connections); /* it does not try again */
    }
}

static void test_busy_and_full(void **state)
{
    (void)state;
    start();
    collector.status = RUN_WELCOME_BUSY;
    assert_false(run_until(STREAM_OPEN, 5000));
    collector.status = RUN_WELCOME_DISK;
    assert_false(run_until(STREAM_OPEN, 5000));
    assert_non_null(strstr(stream_client_problem(), "disk is full"));
    collector.status = RUN_WELCOME_OK;
    assert_true(run_until(STREAM_OPEN, 10000));
}

static void test_done_too_early(void **state)
{
    (void)state;
    collector.status = RUN_WELCOME_DONE;
    put(RUN_STREAM_LOG, 10);
    start();
    assert_true(run_until(STREAM_REFUSED, 5000));
}

static void test_lying_acknowledgement(void **state)
{
    struct run_ack ack;

    (void)state;
    start();
    put(RUN_STREAM_LOG, 10);
    for (int i = 0; i < 3; i++) { /* each time on with another connection */
        assert_true(run_until(STREAM_OPEN, 5000));
        run_stream_ack(&ack, RUN_WELCOME_OK, 1000);
        peer_say(&ack, sizeof ack);
        run_for(100);
        assert_int_not_equal(stream_client_state(), STREAM_OPEN);
        assert_non_null(strstr(stream_client_problem(), "cannot have"));
    }
}

static void test_much(void **state)
{
    (void)state;
    start();
    send_all(8 << 20, 60000);
    check_complete();
    assert_int_equal(client.connections, 1);
}

static void test_losses(void **state)
{
    (void)state;
    start();
    peer.loss_of_guest = peer.loss_of_peer = 20;
    send_all(1 << 20, 600000);
    check_complete();
}

static void test_small_window(void **state)
{
    (void)state;
    peer.window = 3000;
    start();
    send_all(200000, 600000);
    check_complete();
}

/* lwIP would not survive segments that become shorter than those that wait. */
static void test_tiny_window(void **state)
{
    (void)state;
    peer.first_window = 1;
    start();
    put(RUN_STREAM_TRACE, 10000);
    assert_false(run_until(STREAM_OPEN, 5000));
    assert_non_null(strstr(stream_client_problem(), "hardly anything"));
}

static void test_full_card(void **state)
{
    (void)state;
    start();
    fake.full = 4;
    send_all(2 << 20, 600000);
    check_complete();
}

static void test_breaks(void **state)
{
    (void)state;
    collector.break_at = 700001;
    start();
    send_all(4 << 20, 100000);
    assert_int_not_equal(stream_client_state(), STREAM_REFUSED);
    assert_true(client.connections > 3);
    collector.break_at = 0;
    send_all(4 << 20, 100000);
    check_complete();
}

/* What TCP delivers and the collector does not keep comes again. */
static void test_collector_forgets_nothing_it_acknowledged(void **state)
{
    (void)state;
    start();
    send_all(300000, 200);
    collector.have[RUN_STREAM_TRACE] = box.freed[RUN_STREAM_TRACE]; /* killed before it wrote */
    collector.have[RUN_STREAM_STDOUT] = box.freed[RUN_STREAM_STDOUT];
    peer_reset();
    send_all(300000, 60000);
    check_complete();
}

static void test_unplugged(void **state)
{
    (void)state;
    start();
    assert_true(run_until(STREAM_OPEN, 5000));
    fake.unplugged = true;
    put(RUN_STREAM_LOG, 100);
    run_for(100000);
    assert_int_not_equal(stream_client_state(), STREAM_OPEN);
    assert_in_range(stream_client_stuck_ms(), 90000, 101000);
    fake.unplugged = false;
    outbox_put_end(&box);
    assert_true(run_until(STREAM_DONE, 20000));
    check_complete();
}

static void test_signs_of_life(void **state)
{
    (void)state;
    start();
    assert_true(run_until(STREAM_OPEN, 5000));
    run_for(100000);
    assert_int_equal(stream_client_state(), STREAM_OPEN);
    assert_in_range(collector.position, 3 * sizeof(struct run_frame), 7 * sizeof(struct run_frame));
    assert_true(stream_client_stuck_ms() < 1000);
}

/* Most of a stream leaves in large frames. */
static void test_cutting(void **state)
{
    (void)state;
    start();
    send_all(4 << 20, 60000);
    check_complete();
    assert_in_range(fake.cut, (4 << 20) / 1460 * 9 / 10, (4 << 20) / 1460 * 2);
    assert_int_equal(client.connections, 1);
}

/* The card's next link is too slow for it. */
static void test_cutting_ends(void **state)
{
    (void)state;
    start();
    send_all(8 << 20, 10);
    assert_int_equal(stream_client_state(), STREAM_OPEN);
    assert_in_range(fake.cut, 1, 5000);
    fake.cuts = false;
    run_for(LINK_LOOK_MS + 1);
    unsigned cut = fake.cut;
    send_all(8 << 20, 60000);
    check_complete();
    assert_int_equal(fake.cut, cut);
    assert_int_equal(client.connections, 1);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
#define CUTTING(function) cmocka_unit_test_setup_teardown(function, set_up_cutting, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_dhcp),
        TEST(test_static_address),
        TEST(test_gateway_needed),
        TEST(test_no_card),
        TEST(test_no_link),
        TEST(test_no_dhcp),
        TEST(test_nobody_listens),
        TEST(test_nobody_answers),
        TEST(test_no_collector_answers),
        TEST(test_refusals),
        TEST(test_busy_and_full),
        TEST(test_done_too_early),
        TEST(test_lying_acknowledgement),
        TEST(test_much),
        TEST(test_losses),
        TEST(test_small_window),
        TEST(test_tiny_window),
        TEST(test_full_card),
        TEST(test_breaks),
        TEST(test_collector_forgets_nothing_it_acknowledged),
        TEST(test_unplugged),
        TEST(test_signs_of_life),
        CUTTING(test_cutting),
        CUTTING(test_cutting_ends),
        CUTTING(test_much),
        CUTTING(test_losses),
        CUTTING(test_small_window),
        CUTTING(test_full_card),
        CUTTING(test_breaks),
        CUTTING(test_collector_forgets_nothing_it_acknowledged),
        CUTTING(test_unplugged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
