/* virtio-net against a fake device: start-up, both rings, refusal, hostility, close. */
#include "tests/unit/drivers/fake_virtio.h"

#include "drivers/pci/pci.c"
#include "drivers/pci/pci_bars.c"
#include "drivers/virtio/virtio_pci.c"
#include "drivers/virtio/virtqueue.c"

#include "drivers/net/virtio_net.c"

#define LINK (fake.config[6])

static const uint8_t mac[] = {0x52, 0x54, 0, 0x12, 0x34, 0x56};
static struct pci_device pci;
static struct net_device net;
static struct fake_queue *const rx = &fake.queues[0], *const tx = &fake.queues[1];

void clock_delay_us(uint64_t us)
{
    (void)us;
}

static void fake_notified(uint16_t number)
{
    assert_in_range(number, 0, 1);
    assert_true(fake.status & 4); /* not before DRIVER_OK */
    fake.queues[number].notified++;
}

static int create(void **state)
{
    (void)state;
    fake_create_device(0x1041, 1 << 5 | 1 << 16);
    fake.queue_count = 2;
    fake.queue_size = 256;
    memcpy(fake.config, mac, sizeof mac);
    LINK = 1;
    memset(&net, 0, sizeof net);
    pci = (struct pci_device){0};
    return pci_next(&pci) ? 0 : -1;
}

static int create_started(void **state)
{
    create(state);
    return virtio_net_driver.open(&net, &pci);
}

/* The device puts a frame into the next buffer: `bytes` with its header. */
static void deliver(const void *frame, uint32_t bytes)
{
    struct fake_buffer buffer;

    assert_true(fake_pop(rx, true, &buffer));
    assert_int_equal(buffer.bytes, 2048);
    memset(buffer.at, 0, HEADER_BYTES);
    if (bytes > HEADER_BYTES)
        memcpy(buffer.at + HEADER_BYTES, frame, bytes - HEADER_BYTES);
    fake_push_used(rx, buffer.id, bytes);
}

/* The device sends the next frame: its bytes without header. */
static size_t take_sent(uint8_t *out)
{
    static const uint8_t zeroes[HEADER_BYTES];
    struct fake_buffer buffer;

    if (!fake_pop(tx, false, &buffer))
        return 0;
    assert_memory_equal(buffer.at, zeroes, HEADER_BYTES);
    memcpy(out, buffer.at + HEADER_BYTES, buffer.bytes - HEADER_BYTES);
    fake_push_used(tx, buffer.id, 0);
    return buffer.bytes - HEADER_BYTES;
}

static void start_up_fills_the_receive_ring(void **state)
{
    (void)state;
    assert_int_equal(virtio_net_driver.open(&net, &pci), 0);
    assert_int_equal(fake.status, 0x0f);
    assert_int_equal(fake.accepted[0], 1 << 5 | 1 << 16);
    assert_int_equal(fake.accepted[1], 1);
    assert_memory_equal(net.mac, mac, sizeof mac);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(fake.queues[i].enabled, 1);
        assert_int_equal(fake.queues[i].size, 256);
        assert_int_equal(fake.queues[i].vector, 0xffff);
        assert_int_equal(*fake_field(fake.queues[i].available, 0), 1); /* no interrupts */
    }
    assert_int_equal(*fake_field(rx->available, 1), 256);
    assert_int_equal(rx->notified, 1);
    assert_int_equal(fake_function->config[0xa0 / 4] >> 31, 0); /* MSI-X stays off */
    assert_int_equal(fake_function->config[1] & 0xffff, 0x406);
}

static void link_follows_the_status(void **state)
{
    (void)state;
    assert_true(virtio_net_driver.link_up(&net));
    LINK = 0;
    assert_false(virtio_net_driver.link_up(&net));
}

static void without_status_the_link_is_up(void **state)
{
    (void)state;
    fake.features[0] &= ~(1u << 16);
    LINK = 0;
    assert_int_equal(virtio_net_driver.open(&net, &pci), 0);
    assert_int_equal(fake.accepted[0], 1 << 5);
    assert_true(virtio_net_driver.link_up(&net));
}

static void device_that_cannot_serve_is_refused(void **state)
{
    (void)state;
    fake.features[0] &= ~(1u << 5); /* no address of its own */
    assert_int_equal(virtio_net_driver.open(&net, &pci), -EIO);
    assert_int_equal(fake_function->config[1] & 4, 0); /* no bus mastering is left on */
    fake.features[0] |= 1 << 5;
    fake.config[0] |= 1; /* a group's address */
    assert_int_equal(virtio_net_driver.open(&net, &pci), -EIO);
    fake.config[0] &= 0xfe;
    fake.queue_count = 1;
    assert_int_equal(virtio_net_driver.open(&net, &pci), -EIO);
    assert_int_equal(fake_function->config[1] & 4, 0);
    assert_int_equal(fake.status, 0);
    fake.queue_count = 2;
    fake.deaf_to_reset = true;
    assert_int_equal(virtio_net_driver.open(&net, &pci), -EIO);
    fake.deaf_to_reset = false;
    assert_int_equal(virtio_net_driver.open(&net, &pci), 0);
}

static void every_allocation_may_fail(void **state)
{
    unsigned needed = 0;

    for (int error = -ENOMEM; error; needed++) {
        fake_destroy(state);
        create(state);
        fake_platform.allocations_left = needed;
        error = virtio_net_driver.open(&net, &pci);
        assert_true(error == 0 || error == -ENOMEM);
        assert_true(error == 0 || needed == 0 || !(fake.status & 4));
        assert_in_range(needed, 0, 10);
    }
    assert_int_equal(needed, 5 + 1); /* state, two rings, two sets of buffers */
}

static void frames_go_out_in_order_through_the_wrap(void **state)
{
    uint8_t frame[NET_FRAME_MAX], got[NET_FRAME_MAX];

    (void)state;
    for (unsigned i = 0; i < 70000; i++) {
        size_t bytes = 14 + i % (sizeof frame - 13);
        memset(frame, (int)(i % 251), bytes);
        assert_int_equal(virtio_net_driver.send(&net, frame, bytes), 0);
        assert_int_equal(take_sent(got), bytes);
        assert_memory_equal(frame, got, bytes);
    }
    assert_int_equal(net.frames_sent, 70000);
}

static void full_ring_asks_to_wait(void **state)
{
    uint8_t frame[60] = {0}, got[NET_FRAME_MAX];

    (void)state;
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(virtio_net_driver.send(&net, frame, sizeof frame), 0);
    assert_int_equal(virtio_net_driver.send(&net, frame, sizeof frame), -EAGAIN);
    assert_int_equal(tx->notified, 0);
    virtio_net_driver.kick(&net);
    assert_int_equal(tx->notified, 1);
    assert_int_equal(take_sent(got), 60);
    assert_int_equal(virtio_net_driver.send(&net, frame, sizeof frame), 0);
    assert_int_equal(virtio_net_driver.send(&net, frame, sizeof frame), -EAGAIN);
    assert_int_equal(virtio_net_driver.send(&net, frame, NET_FRAME_MAX + 1), -EMSGSIZE);
    assert_int_equal(net.frames_sent, 257);
}

static void frames_come_in_and_buffers_go_back(void **state)
{
    uint8_t frame[NET_FRAME_MAX], got[2048];

    (void)state;
    assert_int_equal(virtio_net_driver.receive(&net, got, sizeof got), 0);
    for (unsigned i = 0; i < 70000; i++) {
        size_t bytes = 14 + i % (sizeof frame - 13);
        memset(frame, (int)(i % 251), bytes);
        deliver(frame, (uint32_t)(HEADER_BYTES + bytes));
        assert_int_equal(virtio_net_driver.receive(&net, got, sizeof got), bytes);
        assert_memory_equal(frame, got, bytes);
    }
    assert_int_equal(net.frames_received, 70000);
    assert_int_equal(net.frames_dropped, 0);
    assert_int_equal(rx->notified, 1 + 70000 / TELL_AFTER);
    deliver(frame, HEADER_BYTES + 60);
    assert_int_equal(virtio_net_driver.receive(&net, got, sizeof got), 60);
    unsigned before = rx->notified;
    assert_int_equal(virtio_net_driver.receive(&net, got, sizeof got),
                     0); /* the device may be starved */
    assert_int_equal(rx->notified, before + 1);
}

static void unusable_frames_are_dropped(void **state)
{
    uint8_t frame[2048], got[NET_FRAME_MAX];

    (void)state;
    memset(frame, 0x5a, sizeof frame);
    deliver(frame, 0); /* not even a header */
    deliver(frame, HEADER_BYTES);
    deliver(frame, HEADER_BYTES + 13);
    deliver(frame, HEADER_BYTES + NET_FRAME_MAX + 1); /* longer than the caller's room */
    deliver(frame, 2048);
    deliver(frame, HEADER_BYTES + NET_FRAME_MAX);
    assert_int_equal(virtio_net_driver.receive(&net, got, sizeof got), NET_FRAME_MAX);
    assert_int_equal(net.frames_dropped, 5);
    assert_int_equal(net.frames_received, 1);
    assert_int_equal(*fake_field(rx->available, 1), 256 + 6); /* all buffers are back */
}

/* What a hostile device may write into a used ring: id, bytes, and how far the index jumps. */
static void hostile_used_entries_end_it(void **state)
{
    static const uint32_t cases[][3] = {
        {256, 60, 1}, /* no descriptor */
        {0xffffffff, 60, 1}, /* no descriptor */
        {0, 2049, 1}, /* more bytes than the buffer has */
        {0, 60, 257}, /* more entries than the ring has */
    };
    uint8_t got[NET_FRAME_MAX];

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_destroy(state);
        assert_int_equal(create_started(state), 0);
        fake_push_used(rx, cases[i][0], cases[i][1]);
        *fake_field(rx->used, 1) = (uint16_t)cases[i][2];
        assert_int_equal(virtio_net_driver.receive(&net, got, sizeof got), 0);
        assert_false(virtio_net_driver.link_up(&net));
        assert_int_equal(virtio_net_driver.send(&net, got, 60), -EIO);
    }
}

static void hostile_end_of_a_send_ends_it(void **state)
{
    uint8_t frame[60] = {0};

    (void)state;
    assert_int_equal(virtio_net_driver.send(&net, frame, sizeof frame), 0);
    fake_push_used(tx, 3, 0); /* not under way */
    assert_int_equal(virtio_net_driver.send(&net, frame, sizeof frame), -EIO);
    virtio_net_driver.kick(&net);
    assert_int_equal(tx->notified, 0);
    assert_false(virtio_net_driver.link_up(&net));
}

/* A device that writes anything into its used rings. */
static void nonsense_does_no_harm(void **state)
{
    uint8_t frame[NET_FRAME_MAX] = {0};
    struct test_random random = {1};
    unsigned received = 0;

    for (unsigned round = 0; round < 200; round++) {
        fake_destroy(state);
        assert_int_equal(create_started(state), 0);
        for (unsigned i = 0; i < 300; i++) {
            size_t bytes = test_random_below(&random, sizeof frame + 1);
            int sent = virtio_net_driver.send(&net, frame, bytes);
            assert_true(sent == 0 || sent == -EAGAIN || sent == -EIO);
            virtio_net_driver.kick(&net);
            fake_push_used(rx, (uint32_t)test_random_below(&random, 257),
                           (uint32_t)test_random_below(&random, 2050));
            fake_push_used(tx, (uint32_t)test_random_below(&random, i + 2), 0);
            size_t got = virtio_net_driver.receive(&net, frame, bytes);
            assert_in_range(got, 0, bytes);
            received += got != 0;
        }
        virtio_net_driver.close(&net);
    }
    assert_in_range(received, 1, 60000);
}

static void close_resets_and_stops_mastering(void **state)
{
    (void)state;
    virtio_net_driver.close(&net);
    assert_int_equal(fake.status, 0);
    assert_int_equal(rx->enabled | tx->enabled, 0);
    assert_int_equal(fake_function->config[1] & 4, 0);
}

static void small_queues_are_enough(void **state)
{
    uint8_t frame[60] = {0}, got[NET_FRAME_MAX];

    (void)state;
    fake.queue_size = 4;
    assert_int_equal(virtio_net_driver.open(&net, &pci), 0);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(virtio_net_driver.send(&net, frame, sizeof frame), 0);
        assert_int_equal(take_sent(got), 60);
        deliver(frame, HEADER_BYTES + 60);
        assert_int_equal(virtio_net_driver.receive(&net, got, sizeof got), 60);
    }
}

#define WITH_DEVICE(test) cmocka_unit_test_setup_teardown(test, create, fake_destroy)
#define STARTED(test) cmocka_unit_test_setup_teardown(test, create_started, fake_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DEVICE(start_up_fills_the_receive_ring),
        STARTED(link_follows_the_status),
        WITH_DEVICE(without_status_the_link_is_up),
        WITH_DEVICE(device_that_cannot_serve_is_refused),
        WITH_DEVICE(every_allocation_may_fail),
        STARTED(frames_go_out_in_order_through_the_wrap),
        STARTED(full_ring_asks_to_wait),
        STARTED(frames_come_in_and_buffers_go_back),
        STARTED(unusable_frames_are_dropped),
        STARTED(hostile_used_entries_end_it),
        STARTED(hostile_end_of_a_send_ends_it),
        STARTED(nonsense_does_no_harm),
        STARTED(close_resets_and_stops_mastering),
        WITH_DEVICE(small_queues_are_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
