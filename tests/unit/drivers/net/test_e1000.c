/* Intel's gigabit controllers against a fake: both rings, damaged frames, hangs. */
#include "tests/unit/drivers/net/fake_e1000.h"

#include "drivers/pci/pci.c"
#include "drivers/pci/pci_bars.c"

#include "drivers/net/e1000.c"
#include "drivers/net/e1000_cards.c"
#include "drivers/net/e1000_large.c"
#include "drivers/net/e1000_pch.c"
#include "drivers/net/e1000_phy.c"
#include "drivers/net/e1000_reset.c"

static const uint8_t mac[] = {0x52, 0x54, 0, 0x12, 0x34, 0x56};
static struct pci_device pci;
static struct net_device net;

static int create(void **state)
{
    (void)state;
    fake_create_card(0x10d3, 1);
    fake_set_mac(mac);
    pci = (struct pci_device){0};
    net = (struct net_device){.driver = &e1000_drivers[1]};
    return pci_next(&pci) ? 0 : -1;
}

static int create_started(void **state)
{
    create(state);
    return net.driver->open(&net, &pci);
}

static struct e1000_receive *fake_receives(void)
{
    uint64_t ring = *fake_register(E1000_RDBAL) | (uint64_t)*fake_register(E1000_RDBAH) << 32;
    return (struct e1000_receive *)(uintptr_t)ring;
}

/* The device writes a descriptor, and a frame into its buffer. */
static void fake_deliver(const void *frame, uint16_t bytes, uint8_t status, uint8_t errors)
{
    uint32_t head = *fake_register(E1000_RDH);

    assert_true(*fake_register(E1000_RCTL) & E1000_RCTL_EN);
    assert_int_not_equal(head, *fake_register(E1000_RDT)); /* it has a descriptor */
    struct e1000_receive *r = &fake_receives()[head];
    assert_int_equal(r->status | r->errors | r->bytes, 0);
    memcpy((void *)(uintptr_t)r->address, frame, bytes < 2048 ? bytes : 2048);
    r->bytes = bytes;
    r->errors = errors;
    r->status = status;
    *fake_register(E1000_RDH) = (head + 1) % 256;
}

static void frames_go_out_in_order_through_the_wrap(void **state)
{
    uint8_t frame[NET_FRAME_MAX];

    (void)state;
    for (unsigned i = 0; i < 70000; i++) {
        size_t bytes = 14 + i % (sizeof frame - 13);
        memset(frame, (int)(i % 251), bytes);
        assert_int_equal(net.driver->send(&net, frame, bytes), 0);
        assert_int_equal(fake.sent_count, i);
        net.driver->kick(&net);
        assert_int_equal(fake.sent_count, i + 1);
        assert_int_equal(fake.sent_bytes, bytes < 60 ? 60 : bytes);
        assert_memory_equal(frame, fake.sent, bytes);
    }
    assert_int_equal(net.frames_sent, 70000);
    assert_int_equal(fake.resets, 1);
}

static void short_frames_are_filled_with_zeroes(void **state)
{
    static const uint8_t zeroes[60];
    uint8_t frame[NET_FRAME_MAX];

    (void)state;
    memset(frame, 0xaa, sizeof frame);
    for (unsigned i = 0; i < 256 + 1; i++) { /* until a buffer is used again */
        assert_int_equal(net.driver->send(&net, frame, sizeof frame), 0);
        net.driver->kick(&net);
    }
    assert_int_equal(net.driver->send(&net, frame, 20), 0);
    net.driver->kick(&net);
    assert_int_equal(fake.sent_bytes, 60);
    assert_memory_equal(fake.sent, frame, 20);
    assert_memory_equal(fake.sent + 20, zeroes, 40);
}

static void full_ring_asks_to_wait(void **state)
{
    uint8_t frame[60] = {0};

    (void)state;
    fake.sends = false;
    for (unsigned i = 0; i < 255; i++)
        assert_int_equal(net.driver->send(&net, frame, sizeof frame), 0);
    assert_int_equal(net.driver->send(&net, frame, sizeof frame), -EAGAIN);
    net.driver->kick(&net);
    assert_int_equal(*fake_register(E1000_TDT), 255);
    assert_int_equal(net.driver->send(&net, frame, sizeof frame), -EAGAIN);
    fake.sends = true;
    fake_run();
    assert_int_equal(fake.sent_count, 255);
    for (unsigned i = 0; i < 255; i++)
        assert_int_equal(net.driver->send(&net, frame, sizeof frame), 0);
    assert_int_equal(net.driver->send(&net, frame, sizeof frame), -EAGAIN);
    assert_int_equal(net.driver->send(&net, frame, NET_FRAME_MAX + 1), -EMSGSIZE);
}

/* A device that reports what it was not told to send changes nothing. */
static void reports_of_unsent_frames_are_ignored(void **state)
{
    uint8_t frame[60] = {0};

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(net.driver->send(&net, frame, sizeof frame), 0);
    for (unsigned i = 0; i < 256; i++)
        fake_transmits()[i].status = 1;
    for (unsigned i = 0; i < 245; i++)
        assert_int_equal(net.driver->send(&net, frame, sizeof frame), 0);
    assert_int_equal(net.driver->send(&net, frame, sizeof frame), -EAGAIN);
}

/* ---- segmentation offload ---- */

#define HEADERS 54

/* A frame of TCP, with a sum where lwIP puts one. */
static void make_large(uint8_t *frame, size_t bytes, uint32_t sequence)
{
    static const uint8_t headers[HEADERS] = {
        2,    0,  0,    0,    0,    1,    0x52, 0x54, 0,    0x12, 0x34, 0x56, 8,  0, /* Ethernet */
        0x45, 0,  0xaa, 0xaa, 0x12, 0x34, 0,    0,    255,  6,    0xbb, 0xbb, 10, 0,
        2,    15, 10,   0,    2,    2,    0xc0, 1,    0x12, 0xd1, 0,    0,    0,  0,
        0,    0,  0,    9,    0x50, 0x18, 0x80, 0,    0xcc, 0xcc, 0,    0};

    memcpy(frame, headers, sizeof headers);
    for (unsigned i = 0; i < 4; i++)
        frame[38 + i] = (uint8_t)(sequence >> (24 - 8 * i));
    for (size_t i = HEADERS; i < bytes; i++)
        frame[i] = (uint8_t)test_random_next(&fake.random);
}

static struct {
    uint8_t bytes[NET_LARGE_MAX];
    size_t count;
    uint32_t sequence;
    bool pushed;
} stream;

/* The other end: each frame is whole, and the next one of the stream. */
static void take_from_wire(const uint8_t *frame, size_t bytes)
{
    const uint8_t *tcp = frame + 34;
    uint32_t sum = 6 + (uint32_t)(bytes - 34);

    assert_in_range(bytes, HEADERS + 1, NET_FRAME_MAX);
    assert_int_equal(frame[16] << 8 | frame[17], bytes - 14);
    assert_int_equal(fake_cut_fold(fake_cut_sum(frame + 14, 20)), 0);
    assert_int_equal(
        fake_cut_fold(fake_cut_sum(frame + 26, 8) + sum + fake_cut_sum(tcp, bytes - 34)), 0);
    assert_int_equal((uint32_t)tcp[4] << 24 | (uint32_t)tcp[5] << 16 | (uint32_t)tcp[6] << 8 |
                         tcp[7],
                     stream.sequence + stream.count);
    memcpy(stream.bytes + stream.count, frame + HEADERS, bytes - HEADERS);
    stream.count += bytes - HEADERS;
    stream.pushed = tcp[13] & 8;
}

static void large_frames_leave_in_segments(void **state)
{
    static uint8_t frame[NET_LARGE_MAX];

    (void)state;
    fake.wire = take_from_wire;
    assert_true(net.driver->cuts(&net));
    for (unsigned i = 0; i < 3000; i++) {
        size_t bytes = HEADERS + 1 + test_random_below(&fake.random, sizeof frame - HEADERS);
        size_t segment = 100 + test_random_below(&fake.random, 1361);
        make_large(frame, bytes, (uint32_t)test_random_next(&fake.random));
        stream.sequence = (uint32_t)frame[38] << 24 | (uint32_t)frame[39] << 16 |
                          (uint32_t)frame[40] << 8 | frame[41];
        stream.count = 0;
        uint64_t before = fake.sent_count;
        assert_int_equal(net.driver->send_large(&net, frame, bytes, segment), 0);
        assert_int_equal(fake.sent_count, before);
        net.driver->kick(&net);
        assert_int_equal(fake.sent_count - before, (bytes - HEADERS + segment - 1) / segment);
        assert_int_equal(stream.count, bytes - HEADERS);
        assert_memory_equal(stream.bytes, frame + HEADERS, stream.count);
        assert_true(stream.pushed);
        if (i % 3 == 0) { /* others between them */
            fake.wire = NULL;
            assert_int_equal(net.driver->send(&net, frame, 60), 0);
            net.driver->kick(&net);
            fake.wire = take_from_wire;
        }
    }
    assert_int_equal(fake.resets, 1);
}

static void ring_full_of_large_frames_asks_to_wait(void **state)
{
    static uint8_t frame[NET_LARGE_MAX];

    (void)state;
    assert_true(net.driver->link_up(&net));
    fake.sends = false;
    make_large(frame, sizeof frame, 1);
    for (unsigned i = 0; i < 255 / 17; i++) /* a context and 16 buffers each */
        assert_int_equal(net.driver->send_large(&net, frame, sizeof frame, 1460), 0);
    assert_int_equal(net.driver->send_large(&net, frame, sizeof frame, 1460), -EAGAIN);
    net.driver->kick(&net);
    fake.now_us += HANG_US + 1;
    net.driver->kick(&net); /* it hangs: these frames are lost, and no more */
    assert_int_equal(fake.resets, 2);
    assert_int_equal(net.frames_dropped, 255 / 17);
    fake.sends = true;
    assert_int_equal(net.driver->send_large(&net, frame, sizeof frame, 1460), 0);
    net.driver->kick(&net);
    assert_int_equal(fake.sent_count, (sizeof frame - HEADERS + 1459) / 1460);
}

static void what_cannot_be_cut_is_refused(void **state)
{
    static const struct {
        unsigned at, value;
    } changes[] = {{12, 0x86}, {13, 6}, {14, 0x65}, {14, 0x44}, {14, 0x40}, {23, 17}, {46, 0x40}};
    static uint8_t frame[NET_LARGE_MAX + 1];

    (void)state;
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        make_large(frame, 5000, 1);
        frame[changes[i].at] = (uint8_t)changes[i].value;
        assert_int_equal(net.driver->send_large(&net, frame, 5000, 1460), -EMSGSIZE);
    }
    make_large(frame, 5000, 1);
    assert_int_equal(net.driver->send_large(&net, frame, sizeof frame, 1460), -EMSGSIZE);
    assert_int_equal(net.driver->send_large(&net, frame, HEADERS, 1460), -EMSGSIZE);
    assert_int_equal(net.driver->send_large(&net, frame, 20, 1460), -EMSGSIZE);
    assert_int_equal(net.driver->send_large(&net, frame, 5000, 0), -EMSGSIZE);
    assert_int_equal(net.driver->send_large(&net, frame, 5000, 1461), -EMSGSIZE);
    frame[46] = 0xf0; /* the longest header */
    assert_int_equal(net.driver->send_large(&net, frame, 34 + 60, 1400), -EMSGSIZE);
    assert_int_equal(net.driver->send_large(&net, frame, 34 + 61, 1400), 0);
    assert_int_equal(net.frames_sent, 1);
    *fake_register(E1000_STATUS) = 0x80043; /* 100 Mb/s */
    assert_false(net.driver->cuts(&net));
}

static void frames_come_in_and_descriptors_go_back(void **state)
{
    uint8_t frame[NET_FRAME_MAX], got[NET_FRAME_MAX];

    (void)state;
    assert_int_equal(net.driver->receive(&net, got, sizeof got), 0);
    for (unsigned i = 0; i < 70000; i++) {
        uint16_t bytes = (uint16_t)(14 + i % (sizeof frame - 13));
        memset(frame, (int)(i % 251), bytes);
        fake_deliver(frame, bytes, 3, 0);
        assert_int_equal(net.driver->receive(&net, got, sizeof got), bytes);
        assert_memory_equal(frame, got, bytes);
    }
    assert_int_equal(net.frames_received, 70000);
    assert_int_equal(net.frames_dropped, 0);
    assert_int_equal(net.driver->receive(&net, got, sizeof got), 0);
    /* all but one descriptor are the device's */
    assert_int_equal((*fake_register(E1000_RDT) + 1) % 256, *fake_register(E1000_RDH));
}

static void whole_ring_may_fill_before_it_is_read(void **state)
{
    uint8_t frame[60] = {0}, got[NET_FRAME_MAX];

    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 255; i++) {
            frame[14] = (uint8_t)i;
            fake_deliver(frame, sizeof frame, 3, 0);
        }
        for (unsigned i = 0; i < 255; i++) {
            assert_int_equal(net.driver->receive(&net, got, sizeof got), 60);
            assert_int_equal(got[14], i);
        }
        assert_int_equal(net.driver->receive(&net, got, sizeof got), 0);
    }
}

static void unusable_frames_are_dropped(void **state)
{
    static const uint8_t errors[] = {0x01, 0x02, 0x04, 0x10, 0x80, 0xff};
    uint8_t frame[2048], got[NET_FRAME_MAX];

    (void)state;
    memset(frame, 0x5a, sizeof frame);
    for (unsigned i = 0; i < sizeof errors; i++)
        fake_deliver(frame, 60, 3, errors[i]);
    fake_deliver(frame, 0, 3, 0);
    fake_deliver(frame, 13, 3, 0);
    fake_deliver(frame, NET_FRAME_MAX + 1, 3, 0); /* longer than the caller's room */
    fake_deliver(frame, 2049, 3, 0); /* longer than the buffer */
    fake_deliver(frame, 0xffff, 3, 0);
    fake_deliver(frame, 2048, 1, 0); /* a frame of three descriptors */
    fake_deliver(frame, 2048, 1, 0);
    fake_deliver(frame, 100, 3, 0);
    fake_deliver(frame, 61, 3, 0x60); /* checksums of IP and TCP are not its business */
    assert_int_equal(net.driver->receive(&net, got, sizeof got), 61);
    assert_int_equal(net.frames_dropped, sizeof errors + 5 + 3);
    assert_int_equal(net.frames_received, 1);
}

/* Only damaged frames, for ever: each call ends. */
static void flood_of_damaged_frames_does_not_hold_the_caller(void **state)
{
    uint8_t frame[60] = {0}, got[NET_FRAME_MAX];

    (void)state;
    for (unsigned i = 0; i < 256; i++)
        fake_receives()[i] = (struct e1000_receive){.address = (uintptr_t)frame, .status = 1};
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(net.driver->receive(&net, got, sizeof got), 0);
        for (unsigned at = 0; at < 256; at++)
            fake_receives()[at].status = 1;
    }
    assert_int_equal(net.frames_received, 0);
    assert_int_equal(net.frames_dropped, 2560);
    for (unsigned i = 0; i < 256; i++) /* what the device wrote there is gone */
        assert_int_not_equal(fake_receives()[i].address, (uintptr_t)frame);
}

static void link_follows_the_status(void **state)
{
    (void)state;
    assert_true(net.driver->link_up(&net));
    *fake_register(E1000_STATUS) &= ~2u;
    assert_false(net.driver->link_up(&net));
    *fake_register(E1000_STATUS) |= 2;
    assert_true(net.driver->link_up(&net));
    fake.gone = true;
    assert_false(net.driver->link_up(&net));
}

static void hang_is_noticed_and_ended_by_a_reset(void **state)
{
    uint8_t frame[60] = {0};

    (void)state;
    assert_true(net.driver->link_up(&net));
    fake.sends = false;
    fake.now_us += 10 * HANG_US; /* idle is no hang */
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(net.driver->send(&net, frame, sizeof frame), 0);
    net.driver->kick(&net);
    fake.now_us += HANG_US - 1;
    net.driver->kick(&net);
    assert_int_equal(fake.resets, 1);
    fake.now_us += 2;
    net.driver->kick(&net);
    assert_int_equal(fake.resets, 2);
    assert_int_equal(net.frames_dropped, 5);
    assert_int_equal(*fake_register(E1000_TDH), 0);
    assert_memory_equal(fake_register(E1000_RAL), mac, 6);
    fake.sends = true;
    assert_int_equal(net.driver->send(&net, frame, sizeof frame), 0);
    net.driver->kick(&net);
    assert_int_equal(fake.sent_count, 1);
    fake_deliver(frame, 60, 3, 0);
    assert_int_equal(net.driver->receive(&net, frame, sizeof frame), 60);
}

static void device_that_hangs_again_and_again_is_given_up(void **state)
{
    uint8_t frame[60] = {0};
    unsigned frames = 0;

    (void)state;
    assert_true(net.driver->link_up(&net));
    fake.sends = false;
    while (net.driver->send(&net, frame, sizeof frame) == 0) {
        net.driver->kick(&net);
        fake.now_us += HANG_US + 1;
        net.driver->kick(&net);
        assert_in_range(++frames, 1, 10);
    }
    assert_int_equal(net.driver->send(&net, frame, sizeof frame), -EIO);
    assert_false(net.driver->link_up(&net));
    assert_int_equal(net.driver->receive(&net, frame, sizeof frame), 0);
    assert_int_equal(fake.resets, 1 + HANGS_MAX);
}

static void without_a_link_nothing_hangs(void **state)
{
    uint8_t frame[60] = {0};

    (void)state;
    fake.sends = false;
    *fake_register(E1000_STATUS) &= ~2u;
    while (net.driver->send(&net, frame, sizeof frame) == 0)
        net.driver->kick(&net);
    for (unsigned i = 0; i < 20; i++) {
        fake.now_us += HANG_US;
        net.driver->kick(&net);
        assert_int_equal(net.driver->send(&net, frame, sizeof frame), -EAGAIN);
    }
    *fake_register(E1000_STATUS) |= 2; /* now it gets its time */
    assert_true(net.driver->link_up(&net));
    fake.now_us += HANG_US - 1;
    net.driver->kick(&net);
    assert_int_equal(fake.resets, 1);
    fake.sends = true;
    fake_run();
    assert_int_equal(fake.sent_count, 255);
}

static void scribble(void *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)memory)[i] = (uint8_t)test_random_next(&fake.random);
}

/* A device whose registers read as anything, and that writes anything into its rings. */
static void nonsense_does_no_harm(void **state)
{
    static uint8_t large[NET_LARGE_MAX];
    uint8_t frame[NET_FRAME_MAX] = {0};
    unsigned opened = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        fake_destroy(state);
        create(state);
        net.driver = &e1000_drivers[seed % NET_E1000_FAMILIES];
        fake.phy_address = ((const struct e1000_family *)net.driver->variant)->phy_address;
        fake.random.state = seed;
        fake.mad = seed % 3 == 0;
        if (net.driver->open(&net, &pci))
            continue;
        opened++;
        fake.mad = seed % 2 == 0;
        struct e1000 *e = net.state;
        for (unsigned i = 0; i < 3000; i++) {
            size_t bytes = test_random_below(&fake.random, sizeof frame + 1);
            int sent = net.driver->send(&net, frame, bytes);
            assert_true(sent == 0 || sent == -EAGAIN || sent == -EIO);
            sent = net.driver->send_large(&net, large,
                                          test_random_below(&fake.random, sizeof large), 1460);
            assert_true(sent == 0 || sent == -EAGAIN || sent == -EIO || sent == -EMSGSIZE);
            net.driver->kick(&net);
            net.driver->link_up(&net);
            scribble(&e->transmits[test_random_below(&fake.random, 256)], 16);
            scribble(&e->receives[test_random_below(&fake.random, 256)], 16);
            assert_in_range(net.driver->receive(&net, frame, bytes), 0, bytes);
            fake.now_us += test_random_below(&fake.random, HANG_US / 4);
        }
        net.driver->close(&net);
        assert_int_equal(fake_function->config[1] & 4, 0);
    }
    assert_in_range(opened, 20, 60);
}

static void every_allocation_may_fail(void **state)
{
    unsigned needed = 0;

    for (int error = -ENOMEM; error; needed++) {
        fake_destroy(state);
        create(state);
        fake_platform.allocations_left = needed;
        error = net.driver->open(&net, &pci);
        assert_true(error == 0 || error == -ENOMEM);
        assert_true(error == 0 || !(fake_function->config[1] & 4));
        assert_in_range(needed, 0, 10);
    }
    assert_int_equal(needed, 5 + 1); /* state, two rings, two sets of buffers */
}

#define WITH_DEVICE(test) cmocka_unit_test_setup_teardown(test, create, fake_destroy)
#define STARTED(test) cmocka_unit_test_setup_teardown(test, create_started, fake_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STARTED(frames_go_out_in_order_through_the_wrap),
        STARTED(short_frames_are_filled_with_zeroes),
        STARTED(full_ring_asks_to_wait),
        STARTED(reports_of_unsent_frames_are_ignored),
        STARTED(large_frames_leave_in_segments),
        STARTED(ring_full_of_large_frames_asks_to_wait),
        STARTED(what_cannot_be_cut_is_refused),
        STARTED(frames_come_in_and_descriptors_go_back),
        STARTED(whole_ring_may_fill_before_it_is_read),
        STARTED(unusable_frames_are_dropped),
        STARTED(flood_of_damaged_frames_does_not_hold_the_caller),
        STARTED(link_follows_the_status),
        STARTED(hang_is_noticed_and_ended_by_a_reset),
        STARTED(device_that_hangs_again_and_again_is_given_up),
        STARTED(without_a_link_nothing_hangs),
        WITH_DEVICE(nonsense_does_no_harm),
        WITH_DEVICE(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
