/* virtio-serial against a fake device: start-up, sending, receiving, refusal and hostility. */
#include "tests/unit/drivers/fake_virtio_serial.h"

#include "drivers/pci/pci.c"
#include "drivers/pci/pci_bars.c"
#include "drivers/virtio/serial_control.c"
#include "drivers/virtio/virtio_pci.c"
#include "drivers/virtio/virtqueue.c"

#include "drivers/virtio/serial.c"

/* A console without a name, two ports, and a gap. */
static int create(void **state)
{
    fake_create(state);
    fake_port(0, NULL);
    fake_port(1, "trace");
    fake_port(3, "stdin");
    return 0;
}

static int create_started(void **state)
{
    create(state);
    return serial_init(0xed, 2);
}

static void assert_log(unsigned at, uint32_t port, uint16_t event)
{
    assert_in_range(at, 0, serial.log_count - 1);
    assert_int_equal(serial.log[at].port, port);
    assert_int_equal(serial.log[at].event, event);
    assert_int_equal(serial.log[at].value, 1);
}

static void start_up_names_and_opens_every_port(void **state)
{
    (void)state;
    assert_int_equal(serial_init(0xed, 2), 0);
    assert_int_equal(fake.status, 0x0f);
    assert_int_equal(fake.accepted[0], 2);
    assert_int_equal(fake.accepted[1], 1);
    assert_int_equal(fake.msix[0], 0xfee02000);
    assert_int_equal(fake.msix[2], 0xed);
    assert_int_equal(serial.log_count, 7);
    assert_log(0, 0, SERIAL_DEVICE_READY);
    assert_log(1, 0, SERIAL_PORT_READY);
    assert_log(2, 1, SERIAL_PORT_READY);
    assert_log(3, 3, SERIAL_PORT_READY);
    assert_log(4, 0, SERIAL_PORT_OPEN);
    assert_log(5, 1, SERIAL_PORT_OPEN);
    assert_log(6, 3, SERIAL_PORT_OPEN);
    assert_int_equal(serial_find("trace"), 1);
    assert_int_equal(serial_find("stdin"), 3);
    assert_int_equal(serial_find("stdout"), -ENOENT);
    for (unsigned i = 0; i < 18; i++) {
        assert_int_equal(fake.queues[i].enabled, 1);
        assert_int_equal(fake.queues[i].size, 128);
    }
    assert_int_equal(fake.queues[18].enabled, 0);
    assert_int_equal(serial.delays, 0);
}

static void names_may_come_late(void **state)
{
    (void)state;
    serial.answers_late = true;
    assert_int_equal(serial_init(0xed, 0), 0);
    assert_int_equal(serial_find("trace"), 1);
    assert_int_equal(serial_find("stdin"), 3);
    assert_in_range(serial.delays, 1, 20);
}

static void nameless_port_does_not_stop_the_others(void **state)
{
    (void)state;
    fake_port(2, NULL);
    assert_int_equal(serial_init(0xed, 0), 0);
    assert_int_equal(serial_find("trace"), 1);
    assert_int_equal(serial.delays, NAMES_POLLS);
}

static void ports_beyond_the_maximum_are_ignored(void **state)
{
    (void)state;
    fake_max_ports(31);
    fake_port(20, "far");
    assert_int_equal(serial_init(0xed, 0), 0);
    assert_int_equal(serial_find("trace"), 1);
    assert_int_equal(serial_find("far"), -ENOENT);
    assert_int_equal(fake_platform.logged, 1);
}

static void small_queues_are_enough(void **state)
{
    static uint8_t bytes[50000];

    (void)state;
    fake.queue_size = 4;
    assert_int_equal(serial_init(0xed, 0), 0);
    assert_int_equal(fake.queues[4].size, 4);
    serial.ports[3].to_guest = bytes;
    serial.ports[3].to_guest_bytes = sizeof bytes;
    size_t got = 0;
    for (int i = 0; i < 100 && got < sizeof bytes; i++)
        got += serial_receive(3, bytes, sizeof bytes);
    assert_int_equal(got, sizeof bytes);
}

static void device_that_cannot_serve_is_refused(void **state)
{
    (void)state;
    fake.features[1] = 0; /* no VERSION_1 */
    assert_int_equal(serial_init(0xed, 0), -EIO);
    assert_true(fake.status & 0x80);
    fake.features[1] = 1;
    fake.features[0] = 0; /* no MULTIPORT */
    assert_int_equal(serial_init(0xed, 0), -EIO);
    fake.features[0] = 2;
    fake.refuse_features = true;
    assert_int_equal(serial_init(0xed, 0), -EIO);
    fake.refuse_features = false;
    assert_int_equal(serial_init(0xed, 256), -EIO); /* MSI does not reach that CPU */
    fake.queue_size = 100; /* not a power of two */
    assert_int_equal(serial_init(0xed, 0), -EIO);
    fake.queue_size = 0;
    assert_int_equal(serial_init(0xed, 0), -EIO);
    fake.queue_size = 128;
    fake_max_ports(0);
    assert_int_equal(serial_init(0xed, 0), -EIO);
    fake_max_ports(8);
    serial.deaf = true;
    assert_int_equal(serial_init(0xed, 0), -EIO);
    assert_int_equal(serial_find("trace"), -ENOENT);
    fake_function->config[0] = 0x10441af4; /* another kind of device */
    assert_int_equal(serial_init(0xed, 0), -ENODEV);
}

static void register_areas_outside_their_bar_are_refused(void **state)
{
    (void)state;
    fake_capability(0x40, 0x60, 1, 0x3fff, 0x1000);
    assert_int_equal(serial_init(0xed, 0), -EIO);
    fake_capability(0x40, 0x60, 1, 0xfffff000, 0x2000);
    assert_int_equal(serial_init(0xed, 0), -EIO);
    fake_capability(0x40, 0x60, 1, 0, 0x20); /* too short for its registers */
    assert_int_equal(serial_init(0xed, 0), -EIO);
    fake_capability(0x40, 0x60, 1, 0, 0x1000);
    fake_capability(0x60, 0x80, 2, 0x3000, 8); /* queue 2 notifies behind its end */
    assert_int_equal(serial_init(0xed, 0), -EIO);
}

static void every_allocation_may_fail(void **state)
{
    unsigned needed = 0;

    (void)state;
    for (int error = -ENOMEM; error; needed++) {
        fake_destroy(state);
        create(state);
        fake_platform.allocations_left = needed;
        error = serial_init(0xed, 0);
        assert_true(error == 0 || error == -ENOMEM);
        assert_in_range(needed, 0, 30);
    }
    assert_int_equal(needed, 18 + 2 + 1); /* a ring pair for each queue, two for control messages */
}

static void sends_without_copy_wait_or_interrupt(void **state)
{
    static const char bytes[] = "slices";

    (void)state;
    assert_int_equal(serial_send(1, bytes, 6), 0);
    assert_int_equal(serial_send(1, bytes, 0), 0);
    assert_int_equal(serial_send(1, bytes + 2, 3), 0);
    assert_int_equal(serial.ports[1].received_bytes, 9);
    assert_memory_equal(serial.ports[1].received, "slicesice", 9);
    assert_ptr_equal(serial.ports[1].last_buffer, bytes + 2);
    assert_int_equal(serial.waits, 0);
    assert_int_equal(*fake_field(fake_queue_of(1, true)->available, 0), 1);
    assert_int_equal(fake_queue_of(1, true)->notified, 2);
}

static void waits_while_the_host_does_not_read(void **state)
{
    (void)state;
    serial.ports[1].held = true;
    assert_int_equal(serial_send(1, "one", 3), 0);
    assert_int_equal(serial.waits, 1);
    assert_memory_equal(serial.ports[1].received, "one", 3);
    assert_int_equal(*fake_field(fake_queue_of(1, true)->available, 0), 1);
}

static void one_send_is_under_way_at_a_time(void **state)
{
    (void)state;
    serial.ports[1].held = true;
    assert_int_equal(serial_sent(1), 1);
    assert_int_equal(serial_start(1, "one", 3), 0);
    assert_int_equal(serial_sent(1), 0);
    assert_int_equal(serial_start(1, "two", 3), -EBUSY);
    assert_int_equal(serial_start(3, "tri", 3), 0); /* ports do not hinder each other */
    assert_int_equal(serial_sent(3), 1);
    assert_int_equal(serial_send(1, "two", 3), 0); /* waits for the first */
    assert_memory_equal(serial.ports[1].received, "onetwo", 6);
    assert_int_equal(serial_sent(1), 1);
}

static void more_sends_than_a_ring_index_counts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 70000; i++)
        assert_int_equal(serial_send(1, "x", 1), 0);
    assert_int_equal(serial.ports[1].received_bytes, 70000);
}

static void receives_all_bytes_in_order(void **state)
{
    static uint8_t sent[1000000], got[sizeof sent];
    struct test_random random = {7};
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (uint8_t)test_random_next(&random);
    assert_int_equal(serial_receive(3, got, sizeof got), 0); /* provides buffers */
    while (count < sizeof sent) {
        struct fake_port *port = &serial.ports[3];
        size_t more = test_random_below(&random, 9000);
        if (more > sizeof sent - count - port->to_guest_bytes)
            more = sizeof sent - count - port->to_guest_bytes;
        if (port->to_guest_bytes == 0)
            port->to_guest = sent + count;
        port->to_guest_bytes += more;
        fake_run_receive(3);
        size_t part;
        do {
            size_t room = 1 + test_random_below(&random, 20000);
            room = room < sizeof got - count ? room : sizeof got - count;
            part = serial_receive(3, got + count, room);
            assert_in_range(part, 0, room);
            count += part;
        } while (part);
    }
    assert_memory_equal(sent, got, sizeof sent);
}

static void whole_input_frame_fits_into_the_buffers(void **state)
{
    static uint8_t frame[65540];

    (void)state;
    assert_int_equal(serial_receive(3, frame, sizeof frame), 0);
    serial.ports[3].to_guest = frame;
    serial.ports[3].to_guest_bytes = sizeof frame;
    fake_run_receive(3);
    assert_int_equal(serial.ports[3].to_guest_bytes, 0);
    assert_int_equal(serial_receive(3, frame, sizeof frame), sizeof frame);
}

static void removed_port_ends_its_sends(void **state)
{
    (void)state;
    serial.ports[1].held = true;
    assert_int_equal(serial_start(1, "one", 3), 0);
    fake_tell(1, SERIAL_PORT_REMOVE, NULL);
    assert_int_equal(serial_receive(3, &(uint8_t){0}, 1), 0);
    assert_int_equal(serial_send(1, "two", 3), -EIO);
    assert_int_equal(serial_sent(1), 1);
    assert_int_equal(serial_find("trace"), -ENOENT);
}

static void wrong_port_numbers_are_refused(void **state)
{
    static const int wrong[] = {-1, 2, 8, 16, 1000000};
    uint8_t byte;

    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(serial_send(wrong[i], "x", 1), -EIO);
        assert_int_equal(serial_start(wrong[i], "x", 1), -EIO);
        assert_int_equal(serial_sent(wrong[i]), 1);
        assert_int_equal(serial_receive(wrong[i], &byte, 1), 0);
    }
}

static void strange_control_messages_do_no_harm(void **state)
{
    static const uint16_t events[] = {0, 1, 3, 5, 6, 99};
    char name[100] = "";

    (void)state;
    for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++)
        fake_tell(0xffffffff, events[i], "text");
    fake_tell(1, SERIAL_PORT_ADD, NULL); /* again */
    memset(name, 'n', sizeof name - 1); /* longer than the driver keeps */
    fake_tell(3, SERIAL_PORT_NAME, name);
    struct fake_buffer buffer;
    assert_true(fake_pop(&fake.queues[2], true, &buffer));
    fake_push_used(&fake.queues[2], buffer.id, 3); /* shorter than a message */
    assert_int_equal(serial_send(1, "x", 1), 0);
    assert_int_equal(serial.log_count, 7);
    name[NAME_BYTES - 1] = '\0';
    assert_int_equal(serial_find(name), 3);
}

/* What a hostile device may write into a used ring: id, bytes, and how far the index jumps. */
static void hostile_used_entries_break_the_queue_only(void **state)
{
    static const uint32_t cases[][3] = {
        {128, 1, 1}, /* no descriptor */
        {0xffffffff, 1, 1}, /* no descriptor */
        {63, 1, 1}, /* not under way */
        {0, 4097, 1}, /* more bytes than the buffer has */
        {0, 1, 129}, /* more entries than the ring has */
        {0, 1, 0xffff},
    };
    uint8_t bytes[8];

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_destroy(state);
        assert_int_equal(create_started(state), 0);
        assert_int_equal(serial_receive(3, bytes, sizeof bytes), 0);
        fake_push_used(fake_queue_of(3, false), cases[i][0], cases[i][1]);
        *fake_field(fake_queue_of(3, false)->used, 1) = (uint16_t)cases[i][2];
        assert_int_equal(serial_receive(3, bytes, sizeof bytes), 0);
        assert_true(ports[3].receive.broken);
        assert_int_equal(serial_send(1, "x", 1), 0);
    }
}

static void hostile_end_of_send_is_an_error(void **state)
{
    (void)state;
    serial.ports[1].held = true;
    assert_int_equal(serial_start(1, "one", 3), 0);
    fake_push_used(fake_queue_of(1, true), 5, 0);
    assert_int_equal(serial_send(1, "two", 3), -EIO);
    assert_int_equal(serial_start(1, "two", 3), -EIO);
    assert_int_equal(serial_send(3, "x", 1), 0);
}

#define WITH_DEVICE(test) cmocka_unit_test_setup_teardown(test, create, fake_destroy)
#define STARTED(test) cmocka_unit_test_setup_teardown(test, create_started, fake_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DEVICE(start_up_names_and_opens_every_port),
        WITH_DEVICE(names_may_come_late),
        WITH_DEVICE(nameless_port_does_not_stop_the_others),
        WITH_DEVICE(ports_beyond_the_maximum_are_ignored),
        WITH_DEVICE(small_queues_are_enough),
        WITH_DEVICE(device_that_cannot_serve_is_refused),
        WITH_DEVICE(register_areas_outside_their_bar_are_refused),
        WITH_DEVICE(every_allocation_may_fail),
        STARTED(sends_without_copy_wait_or_interrupt),
        STARTED(waits_while_the_host_does_not_read),
        STARTED(one_send_is_under_way_at_a_time),
        STARTED(more_sends_than_a_ring_index_counts),
        STARTED(receives_all_bytes_in_order),
        STARTED(whole_input_frame_fits_into_the_buffers),
        STARTED(removed_port_ends_its_sends),
        STARTED(wrong_port_numbers_are_refused),
        STARTED(strange_control_messages_do_no_harm),
        STARTED(hostile_used_entries_break_the_queue_only),
        STARTED(hostile_end_of_send_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
