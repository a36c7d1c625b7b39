/* The first serial port, polled.  Registers: National Semiconductor PC16550D data sheet, table II.
 */
#include "drivers/uart/uart.h"

#include "lib/x86.h"

enum {
    UART_BASE = 0x3f8,
    UART_DATA = UART_BASE + 0, /* divisor low while DLAB is set */
    UART_IER = UART_BASE + 1, /* divisor high while DLAB is set */
    UART_FCR = UART_BASE + 2, /* read: IIR */
    UART_LCR = UART_BASE + 3,
    UART_MCR = UART_BASE + 4,
    UART_LSR = UART_BASE + 5,
    UART_SCRATCH = UART_BASE + 7,
};

enum {
    LCR_8N1 = 0x03,
    LCR_DLAB = 0x80,
    FCR_ENABLE_AND_CLEAR = 0x07,
    FCR_ENABLE = 0x01,
    IIR_FIFOS = 0xc0,
    MCR_DTR_RTS = 0x03,
    LSR_TRANSMITTER_EMPTY = 0x20,
    LSR_ALL_SENT = 0x40,
    FIFO_BYTES = 16,
};

/* A byte takes 87 us at 115200 baud, a FIFO of them 1.4 ms, and a port access about 1 us on
 * hardware. */
#define POLLS 20000

static bool present;
static unsigned room; /* bytes that an empty transmitter takes */

static struct { /* before uart_init; IIR's highest bits say whether FIFOs are on */
    uint8_t line, modem, interrupts, divisor_low, divisor_high, identification;
} found;

static bool scratch_keeps(uint8_t value)
{
    x86_out8(UART_SCRATCH, value);
    return x86_in8(UART_SCRATCH) == value;
}

void uart_init(void)
{
    present = scratch_keeps(0x5a) && scratch_keeps(0xa5);
    if (!present)
        return;
    found.line = x86_in8(UART_LCR);
    found.modem = x86_in8(UART_MCR);
    found.interrupts = x86_in8(UART_IER);
    found.identification = x86_in8(UART_FCR);
    x86_out8(UART_IER, 0);
    x86_out8(UART_LCR, LCR_DLAB | LCR_8N1);
    found.divisor_low = x86_in8(UART_DATA);
    found.divisor_high = x86_in8(UART_IER);
    x86_out8(UART_DATA, 1);
    x86_out8(UART_IER, 0);
    x86_out8(UART_LCR, LCR_8N1);
    x86_out8(UART_FCR, FCR_ENABLE_AND_CLEAR);
    room = (x86_in8(UART_FCR) & IIR_FIFOS) == IIR_FIFOS ? FIFO_BYTES : 1;
    x86_out8(UART_MCR, MCR_DTR_RTS);
}

bool uart_present(void)
{
    return present;
}

/* Returns false if the port stays busy for far longer than a full FIFO takes. */
static bool wait_for(uint8_t status)
{
    for (unsigned polls = 0; polls < POLLS; polls++) {
        if (x86_in8(UART_LSR) & status)
            return true;
        x86_pause();
    }
    return false;
}

void uart_write(const char *bytes, size_t count)
{
    if (!present)
        return;
    for (size_t i = 0; i < count; i++) {
        if (i % room == 0 && !wait_for(LSR_TRANSMITTER_EMPTY))
            return;
        x86_out8(UART_DATA, (uint8_t)bytes[i]);
    }
}

void uart_restore(void)
{
    if (!present)
        return;
    wait_for(LSR_ALL_SENT);
    x86_out8(UART_LCR, LCR_DLAB | LCR_8N1);
    x86_out8(UART_DATA, found.divisor_low);
    x86_out8(UART_IER, found.divisor_high);
    x86_out8(UART_LCR, found.line & (uint8_t)~LCR_DLAB);
    x86_out8(UART_IER, found.interrupts);
    x86_out8(UART_FCR, found.identification & IIR_FIFOS ? FCR_ENABLE : 0);
    x86_out8(UART_MCR, found.modem);
    present = false;
}
