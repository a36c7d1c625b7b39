/* Over TCP to a collector: frames wait in the largest buffer that the loader gave until the
 * collector has them.
 *
 * A connection must exist before the program starts, so that no measurement is wasted.  Later the
 * program keeps running even if the connection breaks; what finds no room is dropped and counted.
 */
#include <errno.h>
#include <string.h>

#include "drivers/platform.h"
#include "drivers/uart/uart.h"
#include "guest/base/log.h"
#include "guest/base/log_buffer.h"
#include "guest/base/panic.h"
#include "guest/base/run.h"
#include "guest/cpu/cross.h"
#include "guest/memory/phys.h"
#include "guest/net/net_port.h"
#include "guest/net/net_stack.h"
#include "guest/net/outbox.h"
#include "guest/net/stream_client.h"
#include "guest/transport/transport.h"
#include "lib/x86.h"

#define BUFFER_MIN (4u << 20) /* more than the longest chunk of a trace */
#define POOL_BYTES (4u << 20) /* for lwIP: data under way has some 200 bytes of headers a KiB */
#define CONNECT_WAIT_MS 30000u /* for the first connection */
#define PATIENCE_MS 60000u /* without any progress, while the kernel waits for it */
#define OUTPUT_WAIT_MS 5000u /* the program's output waits so long for room */
#define CLOSE_WAIT_MS 200u /* for the end of the connection to leave */
#define CLOSE_PASS_MS 20u /* of virtual time, between two looks */
#define RESERVE_SHARE 16u /* of the buffer, for records, output, log */
#define RESERVE_MAX (16u << 20)
#define IN_FLIGHT_POLL_NS 50000u

static const enum run_stream_port stream_ports[TRANSPORT_PORTS] = {
    [TRANSPORT_TRACE] = RUN_STREAM_TRACE,   [TRANSPORT_STDOUT] = RUN_STREAM_STDOUT,
    [TRANSPORT_STDERR] = RUN_STREAM_STDERR, [TRANSPORT_LOG] = RUN_STREAM_LOG,
    [TRANSPORT_FILES] = RUN_STREAM_FILES,
};

static struct outbox box;
static struct boot_info *boot;
static uint64_t reserve;
static uint64_t dropped[TRANSPORT_PORTS]; /* bytes */

/* Reports what is wrong, also on the serial port, with the log, which has no other way out. */
static void transport_tcp_report(const char *text)
{
    boot->result.end = BOOT_END_UNSENT;
    panic_report(text, strlen(text));
    log_buffer_take(panic_report);
    uart_write(boot->result.report, boot->result.report_bytes);
}

static int transport_tcp_fail(int status, const char *what, const char *why)
{
    char text[256];

    net_stack_stop();
    boot->result.report_bytes = 0;
    format_text(text, sizeof text, "%s%s\n", what, why);
    transport_tcp_report(text);
    return status;
}

/* ---- boot ---- */

static const struct boot_memory_range *largest_buffer(void)
{
    const struct boot_memory_range *largest = NULL;

    for (uint32_t i = 0; i < boot->range_count && i < BOOT_MEMORY_RANGES_MAX; i++) {
        const struct boot_memory_range *range = &boot->ranges[i];

        if (range->kind == BOOT_MEMORY_BUFFER && (largest == NULL || range->bytes > largest->bytes))
            largest = range;
    }
    return largest;
}

static int take_buffer(void)
{
    const struct boot_memory_range *range = largest_buffer();
    uint64_t begin;

    if (range == NULL || range->bytes < BUFFER_MIN)
        return -ENOMEM;
    begin = (range->base + 7) & ~7ull;
    outbox_init(&box, phys_pointer(begin), range->base + range->bytes - begin);
    reserve =
        box.ring_bytes / RESERVE_SHARE < RESERVE_MAX ? box.ring_bytes / RESERVE_SHARE : RESERVE_MAX;
    return 0;
}

static void move_on(void)
{
    net_stack_poll();
    stream_client_poll();
    net_stack_flush();
}

static int transport_tcp_connect(void)
{
    uint64_t end = net_port_ms() + CONNECT_WAIT_MS;

    if (stream_client_start(&boot->network, &box))
        return transport_tcp_fail(-EINVAL, "the machine's or the run's name cannot name a file",
                                  "");
    while (stream_client_state() < STREAM_OPEN) {
        if (net_port_ms() > end)
            return transport_tcp_fail(-ETIMEDOUT, "no collector: ", stream_client_problem());
        move_on();
    }
    if (stream_client_state() != STREAM_OPEN)
        return transport_tcp_fail(-EACCES, "the collector refused: ", stream_client_problem());
    return 0;
}

static int transport_tcp_init(struct boot_info *info)
{
    char problem[160];
    void *pool = platform_allocate(POOL_BYTES);
    int status;

    boot = info;
    if (!boot->network.collector || !boot->network.port)
        return transport_tcp_fail(-EINVAL, "no collector is configured", "");
    if (pool == NULL || take_buffer())
        return transport_tcp_fail(-ENOMEM, "no buffer of 4 MiB for what is sent; give more memory",
                                  "");
    net_port_init(pool, POOL_BYTES);
    status = net_stack_start(&boot->network, problem, sizeof problem);
    if (status)
        return transport_tcp_fail(status, "no network: ", problem);
    return transport_tcp_connect();
}

/* ---- the run ---- */

static bool transport_tcp_has(enum transport_port port)
{
    uint64_t files = 0, missing = 0;

    if (port != TRANSPORT_FILES)
        return port < TRANSPORT_STDIN;
    manifest_number(&run.manifest, "keep-files", &files);
    manifest_number(&run.manifest, "missing", &missing);
    return files || missing;
}

static size_t transport_tcp_receive(enum transport_port /* port */, void *, size_t /* room */)
{
    return 0;
}

/* Returns whether waiting can help. */
static bool hopeful(void)
{
    return stream_client_state() == STREAM_OPEN ||
           (stream_client_state() < STREAM_OPEN && stream_client_stuck_ms() < PATIENCE_MS);
}

static uint64_t room_beside(uint64_t kept, enum run_stream_port port)
{
    uint64_t room = outbox_room(&box, port);

    return room > kept ? room - kept : 0;
}

/* Waits in shared mode only, where that costs the program no time.  If the collector has refused,
 * nothing is sent any longer. */
static bool trace_room(uint64_t bytes, bool samples)
{
    uint64_t kept = transport_end_bytes + (samples ? reserve : 0);

    if (stream_client_state() == STREAM_REFUSED)
        return false;
    while (run.shared && room_beside(kept, RUN_STREAM_TRACE) < bytes && outbox_kept(&box) &&
           hopeful())
        move_on();
    return room_beside(kept, RUN_STREAM_TRACE) >= bytes;
}

/* Waits until `count` bytes have room, as long as suits the port; returns false if they have none.
 * Drains rings while it waits, which may put more of the trace. */
static bool wait_for_room(enum transport_port port, size_t count)
{
    uint64_t kept = port == TRANSPORT_TRACE || port == TRANSPORT_FILES ? 0 : transport_end_bytes;
    uint64_t start = net_port_ms();
    bool output = port == TRANSPORT_STDOUT || port == TRANSPORT_STDERR;

    while (room_beside(kept, stream_ports[port]) < count) {
        if (!hopeful() || port == TRANSPORT_LOG)
            return false;
        if (output && !run.shared && net_port_ms() - start > OUTPUT_WAIT_MS)
            return false;
        move_on();
        if (!run.shared && port != TRANSPORT_TRACE)
            cross_hooks.relieve();
        x86_pause();
    }
    return true;
}

static int send_part(enum transport_port port, const uint8_t *bytes, size_t count)
{
    /* a port that has lost bytes loses all later ones, so that its output has no holes */
    bool broken = dropped[port] && port != TRANSPORT_TRACE && port != TRANSPORT_LOG;

    if (broken)
        return -EIO;
    return wait_for_room(port, count) ? outbox_put(&box, stream_ports[port], bytes, count)
                                      : -ENOSPC;
}

static int transport_tcp_send(enum transport_port port, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    size_t most =
        box.ring_bytes / 4 < RUN_FRAME_BYTES_MAX ? box.ring_bytes / 4 : RUN_FRAME_BYTES_MAX;

    if (port >= TRANSPORT_STDIN)
        return -EIO; /* these ports only receive */
    while (count) {
        size_t part = count < most ? count : most;

        if (send_part(port, from, part))
            dropped[port] += part;
        from += part;
        count -= part;
    }
    if (stream_client_state() == STREAM_OPEN)
        stream_client_poll();
    return 0;
}

/* A single CPU polls too rarely for a collector that waits for a hello.  So it waits here for a
 * connection as long as one is possible; that costs the program no time. */
static void transport_tcp_settle(void)
{
    while (run.shared && stream_client_state() < STREAM_OPEN && hopeful())
        move_on();
}

static uint64_t transport_tcp_poll(void)
{
    bool any = net_stack_poll();

    stream_client_poll();
    net_stack_flush();
    transport_tcp_settle();
    if (any)
        return 0;
    return stream_client_busy() ? IN_FLIGHT_POLL_NS : TRANSPORT_NEVER;
}

/* ---- the end ---- */

static void log_dropped(void)
{
    static const char *const names[TRANSPORT_PORTS] = {[TRANSPORT_TRACE] = "the trace",
                                                       [TRANSPORT_STDOUT] = "standard output",
                                                       [TRANSPORT_STDERR] = "standard error",
                                                       [TRANSPORT_LOG] = "the log",
                                                       [TRANSPORT_FILES] = "files"};

    for (int port = 0; port < TRANSPORT_PORTS; port++)
        if (dropped[port])
            log_notice("the collector did not keep up: %lu bytes of %s were dropped", dropped[port],
                       names[port]);
}

static void send_log(const char *bytes, size_t count)
{
    transport_tcp_send(TRANSPORT_LOG, bytes, count);
}

static uint32_t transport_tcp_unsent(void)
{
    char text[320];
    const uint8_t *c = (const uint8_t *)&boot->network.collector;

    format_text(text, sizeof text,
                "the collector at %u.%u.%u.%u:%u lacks %lu bytes of the run: %s\n", c[0], c[1],
                c[2], c[3], boot->network.port, outbox_kept(&box), stream_client_problem());
    transport_tcp_report(text);
    return BOOT_END_UNSENT;
}

static void close_connection(void)
{
    uint64_t end = net_port_ms() + CLOSE_WAIT_MS;

    stream_client_stop();
    while (net_port_ms() < end) {
        net_stack_poll();
        net_port_pass(CLOSE_PASS_MS);
    }
    net_stack_stop();
}

static uint32_t transport_tcp_finish(void)
{
    uint32_t end;

    log_dropped();
    log_buffer_take(send_log);
    outbox_put_end(&box);
    while (stream_client_state() < STREAM_DONE && stream_client_stuck_ms() < PATIENCE_MS)
        move_on();
    end = stream_client_state() == STREAM_DONE ? BOOT_END_DONE : transport_tcp_unsent();
    close_connection();
    return end;
}

const struct transport transport_tcp = {
    .name = "TCP",
    .host = false,
    .init = transport_tcp_init,
    .has = transport_tcp_has,
    .send = transport_tcp_send,
    .receive = transport_tcp_receive,
    .trace_room = trace_room,
    .poll = transport_tcp_poll,
    .finish = transport_tcp_finish,
    .stop = net_stack_stop,
};
