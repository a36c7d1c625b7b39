/* The serial port driver against a fake 16550: set-up, absent and stuck ports. */
#include "tests/unit/drivers/fake_x86.h"

#include "drivers/uart/uart.c"

#include <string.h>

#include "tests/unit/test.h"

static struct {
    bool absent;
    bool stuck;
    bool no_fifos; /* an 8250 */
    uint8_t registers[8];
    uint16_t divisor;
    char sent[64];
    size_t sent_count;
    unsigned long reads;
    bool fifos;
} fake;

uint8_t x86_in8(uint16_t port)
{
    assert_in_range(port, 0x3f8, 0x3ff);
    fake.reads++;
    if (fake.absent)
        return 0xff;
    if (port == UART_LSR)
        return fake.stuck ? 0 : 0x60;
    if (port == UART_FCR)
        return fake.fifos && !fake.no_fifos ? 0xc1 : 1; /* IIR */
    if (fake.registers[3] & 0x80 && port == UART_DATA)
        return (uint8_t)fake.divisor;
    if (fake.registers[3] & 0x80 && port == UART_IER)
        return (uint8_t)(fake.divisor >> 8);
    return fake.registers[port - 0x3f8];
}

void x86_out8(uint16_t port, uint8_t v)
{
    assert_in_range(port, 0x3f8, 0x3ff);
    bool divisor = fake.registers[3] & 0x80;

    if (divisor && port == UART_DATA)
        fake.divisor = (uint16_t)((fake.divisor & 0xff00) | v);
    else if (divisor && port == UART_IER)
        fake.divisor = (uint16_t)((fake.divisor & 0xff) | v << 8);
    else if (port == UART_FCR)
        fake.fifos = v & 1;
    else if (port == UART_DATA && fake.sent_count < sizeof fake.sent)
        fake.sent[fake.sent_count++] = (char)v;
    else
        fake.registers[port - 0x3f8] = v;
}

static int reset_fake(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.divisor = 0x1234;
    return 0;
}

static void sets_up_115200_8n1_and_sends(void **state)
{
    (void)state;
    uart_init();
    assert_int_equal(fake.divisor, 1);
    assert_int_equal(fake.registers[3], 3);
    assert_int_equal(fake.registers[1], 0);
    uart_write("hello", 5);
    assert_int_equal(fake.sent_count, 5);
    assert_memory_equal(fake.sent, "hello", 5);
}

static unsigned long looks_for(const char *text)
{
    uart_init();
    fake.reads = 0;
    uart_write(text, strlen(text));
    assert_memory_equal(fake.sent, text, strlen(text));
    return fake.reads;
}

static void fills_the_fifo_at_a_time(void **state)
{
    (void)state;
    assert_int_equal(looks_for("sixteen bytes at a time"), 2);
    reset_fake(state);
    fake.no_fifos = true;
    assert_int_equal(looks_for("by each"), 7);
}

static void is_left_as_it_was_found(void **state)
{
    (void)state;
    fake.registers[3] = 0x1b; /* 8E1 */
    fake.registers[1] = 5;
    fake.registers[4] = 0xb;
    uart_init();
    assert_int_equal(fake.divisor, 1);
    assert_true(fake.fifos);
    uart_restore();
    assert_int_equal(fake.divisor, 0x1234);
    assert_int_equal(fake.registers[3], 0x1b);
    assert_int_equal(fake.registers[1], 5);
    assert_int_equal(fake.registers[4], 0xb);
    assert_false(fake.fifos);
    uart_write("late", 4);
    assert_int_equal(fake.sent_count, 0);
}

static void absent_port_is_left_alone(void **state)
{
    (void)state;
    fake.absent = true;
    uart_init();
    fake.reads = 0;
    uart_write("hello", 5);
    assert_int_equal(fake.sent_count, 0);
    assert_int_equal(fake.reads, 0);
}

static void stuck_port_does_not_hang(void **state)
{
    (void)state;
    uart_init();
    fake.stuck = true;
    fake.reads = 0;
    uart_write("hello", 5);
    assert_int_equal(fake.sent_count, 0);
    assert_in_range(fake.reads, 1, POLLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sets_up_115200_8n1_and_sends, reset_fake),
        cmocka_unit_test_setup(fills_the_fifo_at_a_time, reset_fake),
        cmocka_unit_test_setup(is_left_as_it_was_found, reset_fake),
        cmocka_unit_test_setup(absent_port_is_left_alone, reset_fake),
        cmocka_unit_test_setup(stuck_port_does_not_hang, reset_fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
