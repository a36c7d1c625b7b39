/* The first serial port (16550 at I/O port 3F8H), polled: early boot and panics. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

void uart_init(void); /* 115200 8N1; notices an absent port */
bool uart_present(void); /* after uart_init */
void uart_write(const char *bytes, size_t count); /* waits for room, but never forever */
void uart_restore(void); /* as uart_init found it; uart_write does nothing afterwards */
