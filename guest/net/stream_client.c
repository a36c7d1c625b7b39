/* Speaks include/run_stream.h's protocol as the machine, over lwIP's callbacks.
 *
 * Callbacks only note what happened; stream_client_poll acts on it.  So a connection never ends
 * while lwIP works on it.
 */
#include "guest/net/stream_client.h"

#include <lwip/tcp.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/net/net_port.h"
#include "lib/boot/run_stream.h"

#define CONNECT_MS 5000u
#define WELCOME_MS 20000u /* it may have a long trace to look through */
#define BUSY_MOST_MS 900000u /* for the collector's work on a run that it has */
#define PROGRESS_MS 30000u /* an acknowledgement is due while something is sent */
#define BACK_OFF_FIRST_MS 250u
#define BACK_OFF_LAST_MS 4000u
#define SIGN_OF_LIFE_MS 15000u /* collectors close what is silent for a minute */
#define WRITE_MOST 65535u /* bytes of one tcp_write */
#define LOOK_MOST_MS 250u /* between two looks at a connection: no more counts against it */

static struct {
    struct outbox *box;
    struct tcp_pcb *pcb; /* NULL: none */
    enum stream_state state;
    const char *broken; /* why the connection has to end; noted by callbacks */
    char problem[160];
    uint64_t now_ms; /* advances only while polled; see tick */
    uint64_t looked_ms; /* net_port_ms, then */
    uint64_t since_ms; /* of the state, or the last progress */
    uint64_t good_ms; /* when all was well last */
    uint64_t spoke_ms; /* when something was sent */
    uint32_t back_off_ms;
    uint32_t connections;
    uint64_t delivered; /* bytes that TCP has brought over, the hello's included */
    uint32_t delivered_to; /* the sequence number then */
    struct run_hello hello;
    uint8_t input[sizeof(struct run_welcome)]; /* a message of the collector's, so far */
    uint32_t input_used;
    ip_addr_t address;
    uint16_t port;
} client;

_Static_assert(sizeof(struct run_welcome) >= sizeof(struct run_ack), "input holds both");

/* With one CPU, seconds may pass between polls.  A peer that was not polled has not answered late,
 * so time without polls counts at most LOOK_MOST_MS, except in the pause before the next attempt.
 */
static void stream_client_tick(void)
{
    uint64_t now = net_port_ms(), passed = now - client.looked_ms;

    client.looked_ms = now;
    if (client.state != STREAM_WAITING && passed > LOOK_MOST_MS)
        passed = LOOK_MOST_MS;
    client.now_ms += passed;
}

static void stream_client_enter(enum stream_state state)
{
    client.state = state;
    client.since_ms = client.now_ms;
}

static void stream_client_refuse(const char *why)
{
    format_text(client.problem, sizeof client.problem, "%s", why);
    stream_client_enter(STREAM_REFUSED);
}

/* ---- what the collector says ---- */

static bool stream_client_final(uint32_t status)
{
    return status == RUN_WELCOME_TOKEN || status == RUN_WELCOME_VERSION ||
           status == RUN_WELCOME_NAME || status == RUN_WELCOME_LIMIT;
}

/* Handles a status other than OK in a welcome or an acknowledgement. */
static void take_status(uint32_t status)
{
    /* it has everything and writes it to disk, which can take long */
    if (status == RUN_WELCOME_BUSY && outbox_all_sent(client.box) &&
        client.now_ms - client.spoke_ms < BUSY_MOST_MS)
        client.good_ms = client.now_ms;
    if (status == RUN_WELCOME_DONE && outbox_all_sent(client.box))
        stream_client_enter(STREAM_DONE);
    else if (status == RUN_WELCOME_DONE)
        stream_client_refuse("the collector has a complete run with the id of this one");
    else if (stream_client_final(status))
        stream_client_refuse(run_stream_status_text(status));
    else
        client.broken = run_stream_status_text(status);
}

static void take_welcome(const struct run_welcome *welcome)
{
    if (!run_stream_welcome_ok(welcome)) {
        client.broken = "what answers there is no collector";
        return;
    }
    if (welcome->status != RUN_WELCOME_OK) {
        take_status(welcome->status);
        return;
    }
    switch (outbox_resume(client.box, welcome->have)) {
    case OUTBOX_RESUMED:
        break;
    case OUTBOX_LACKS:
        stream_client_refuse("the collector lacks what it had acknowledged");
        return;
    case OUTBOX_CLAIMS:
        stream_client_refuse("the collector claims to have what was never sent");
        return;
    }
    client.connections++;
    client.spoke_ms = client.now_ms;
    if (client.connections > 1)
        log_line("network: connected to the collector again (%s)", client.problem);
    stream_client_enter(STREAM_OPEN);
}

/* Returns true if more bytes were acknowledged.  lwIP's callback for sent bytes counts only whole
 * segments, and the collector may have a part of one. */
static bool look_at_delivered(void)
{
    uint32_t more = client.pcb->lastack - client.delivered_to;

    client.delivered += more;
    client.delivered_to += more;
    return more != 0;
}

/* TCP has brought what may be acknowledged: so memory that is freed is sent from at most once more,
 * with the rest of its segment, and the peer does not take it then. */
static void take_ack(const struct run_ack *ack)
{
    uint64_t hello = sizeof client.hello;

    (void)look_at_delivered();
    if (!run_stream_ack_ok(ack, client.delivered > hello ? client.delivered - hello : 0) ||
        outbox_acknowledge(client.box, ack->position) != 0) {
        client.broken = "the collector acknowledged what it cannot have";
        return;
    }
    client.since_ms = client.now_ms;
    client.back_off_ms = BACK_OFF_FIRST_MS;
    if (ack->status != RUN_WELCOME_OK)
        take_status(ack->status);
}

static void take_message(void)
{
    union {
        struct run_welcome welcome;
        struct run_ack ack;
    } message;

    memcpy(&message, client.input, sizeof message);
    client.input_used = 0;
    if (client.state == STREAM_GREETING)
        take_welcome(&message.welcome);
    else
        take_ack(&message.ack);
}

static void take_bytes(const uint8_t *bytes, size_t count)
{
    while (count && client.broken == NULL &&
           (client.state == STREAM_GREETING || client.state == STREAM_OPEN)) {
        size_t wanted = (client.state == STREAM_GREETING ? sizeof(struct run_welcome)
                                                         : sizeof(struct run_ack)) -
                        client.input_used;
        size_t part = count < wanted ? count : wanted;

        memcpy(client.input + client.input_used, bytes, part);
        client.input_used += (uint32_t)part;
        bytes += part;
        count -= part;
        if (part == wanted)
            take_message();
    }
}

/* ---- lwIP's callbacks ---- */

static err_t stream_client_received(void *, struct tcp_pcb *pcb, struct pbuf *p, err_t /* status */)
{
    if (p == NULL) {
        if (client.broken == NULL)
            client.broken = "the collector closed the connection";
        return ERR_OK;
    }
    for (const struct pbuf *part = p; part != NULL; part = part->next)
        take_bytes(part->payload, part->len);
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

/* The connection is gone, and its memory too. */
static void stream_client_failed(void *, err_t status)
{
    client.pcb = NULL;
    if (client.broken != NULL)
        return;
    if (status == ERR_RST && client.state == STREAM_CONNECTING)
        client.broken = "connection refused: no collector listens there";
    else if (status == ERR_RST)
        client.broken = "the collector reset the connection";
    else
        client.broken = "the connection timed out";
}

static err_t stream_client_connected(void *, struct tcp_pcb *pcb, err_t /* status */)
{
    /* lwIP cuts segments to half of the window, and does not expect that to shrink */
    if (pcb->snd_wnd_max < 2u * pcb->mss) {
        client.broken = "what answers there takes hardly anything at a time";
        return ERR_OK;
    }
    client.delivered_to = pcb->lastack;
    if (tcp_write(pcb, &client.hello, sizeof client.hello, 0) != ERR_OK) {
        client.broken = "no memory for the network";
        return ERR_OK;
    }
    stream_client_enter(STREAM_GREETING);
    return ERR_OK;
}

/* ---- connections begin and end ---- */

/* Takes the connection from the client; it makes no more callbacks.  Returns NULL if there is none.
 */
static struct tcp_pcb *take_connection(void)
{
    struct tcp_pcb *pcb = client.pcb;

    client.pcb = NULL;
    if (pcb != NULL) {
        tcp_recv(pcb, NULL);
        tcp_err(pcb, NULL);
    }
    return pcb;
}

static void let_go(void)
{
    struct tcp_pcb *pcb = take_connection();

    if (pcb != NULL)
        tcp_abort(pcb);
}

static void try_later(const char *why)
{
    format_text(client.problem, sizeof client.problem, "%s", why);
    client.broken = NULL;
    let_go();
    if (client.state == STREAM_OPEN)
        log_line("network: %s; trying again", why);
    stream_client_enter(STREAM_WAITING);
}

static void stream_client_begin(void)
{
    err_t status;

    client.broken = NULL;
    client.delivered = 0;
    client.input_used = 0;
    client.pcb = tcp_new_ip_type(IPADDR_TYPE_V4);
    stream_client_enter(STREAM_CONNECTING);
    if (client.pcb == NULL) {
        try_later("no memory for the network");
        return;
    }
    tcp_recv(client.pcb, stream_client_received);
    tcp_err(client.pcb, stream_client_failed);
    tcp_nagle_disable(client.pcb);
    status = tcp_connect(client.pcb, &client.address, client.port, stream_client_connected);
    if (status != ERR_OK)
        try_later("the connection cannot be begun");
}

int stream_client_start(const struct boot_network *network, struct outbox *box)
{
    int status;

    memset(&client, 0, sizeof client);
    client.box = box;
    client.address.addr = network->collector;
    client.port = network->port;
    client.back_off_ms = BACK_OFF_FIRST_MS;
    client.looked_ms = net_port_ms();
    status = run_stream_hello(&client.hello, network->id, network->token, network->machine,
                              network->run);
    if (status == 0)
        stream_client_begin();
    return status;
}

/* ---- sending ---- */

static void stream_client_push(void)
{
    bool any = false;

    for (;;) {
        const void *bytes;
        size_t count = outbox_next(client.box, &bytes);
        size_t most = tcp_sndbuf(client.pcb);

        if (most > WRITE_MOST)
            most = WRITE_MOST;
        if (count > most)
            count = most;
        if (!count || tcp_sndqueuelen(client.pcb) >= TCP_SND_QUEUELEN - 2 * (WRITE_MOST / TCP_MSS))
            break;
        if (tcp_write(client.pcb, bytes, (u16_t)count, TCP_WRITE_FLAG_MORE) != ERR_OK)
            break; /* no memory now: acknowledgements free some */
        outbox_took(client.box, count);
        any = true;
    }
    if (any)
        client.spoke_ms = client.now_ms;
    tcp_output(client.pcb);
}

/* Data on its way makes a sign of life unnecessary. */
static void show_life(uint64_t now)
{
    if (!stream_client_busy() && now - client.spoke_ms > SIGN_OF_LIFE_MS)
        outbox_put_sign(client.box);
}

static void poll_open(uint64_t now)
{
    if (!stream_client_busy())
        client.since_ms = now; /* nothing is due */
    else if (client.pcb != NULL && look_at_delivered())
        client.since_ms = now; /* slow, but not dead: a network that loses much */
    if (now - client.since_ms > PROGRESS_MS) {
        try_later("the collector took nothing for a while");
        return;
    }
    client.good_ms = client.since_ms;
    show_life(now);
    stream_client_push();
}

void stream_client_poll(void)
{
    uint64_t now;

    stream_client_tick();
    now = client.now_ms;
    if (client.broken != NULL && client.state < STREAM_DONE)
        try_later(client.broken);
    switch (client.state) {
    case STREAM_WAITING:
        if (now - client.since_ms < client.back_off_ms)
            break;
        client.back_off_ms *= 2;
        if (client.back_off_ms > BACK_OFF_LAST_MS)
            client.back_off_ms = BACK_OFF_LAST_MS;
        stream_client_begin();
        break;
    case STREAM_CONNECTING:
        if (now - client.since_ms > CONNECT_MS)
            try_later("the collector does not answer");
        break;
    case STREAM_GREETING:
        if (now - client.since_ms > WELCOME_MS)
            try_later("something accepts connections there but does not answer as a collector");
        break;
    case STREAM_OPEN:
        poll_open(now);
        break;
    case STREAM_DONE:
        client.good_ms = now;
        break;
    case STREAM_REFUSED:
        let_go();
        break;
    }
}

enum stream_state stream_client_state(void)
{
    return client.state;
}

uint64_t stream_client_stuck_ms(void)
{
    return client.now_ms - client.good_ms;
}

/* A sign of life that was sent does not count. */
bool stream_client_busy(void)
{
    const struct outbox *box = client.box;

    return box->next != box->last || outbox_kept(box) || box->ended;
}

const char *stream_client_problem(void)
{
    return client.problem;
}

void stream_client_stop(void)
{
    struct tcp_pcb *pcb = take_connection();

    if (pcb != NULL && tcp_close(pcb) != ERR_OK)
        tcp_abort(pcb);
}
