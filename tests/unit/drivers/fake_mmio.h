/* Stands in for drivers/mmio.h: include it before a driver's .c, and define what that driver calls.
 */
#ifndef TESTS_UNIT_DRIVERS_FAKE_MMIO_H
#define TESTS_UNIT_DRIVERS_FAKE_MMIO_H

#define DRIVERS_MMIO_H

#include <stdint.h>

uint8_t mmio_read8(const volatile void *at);
uint16_t mmio_read16(const volatile void *at);
uint32_t mmio_read32(const volatile void *at);
uint64_t mmio_read64(const volatile void *at);
void mmio_write8(volatile void *at, uint8_t value);
void mmio_write16(volatile void *at, uint16_t value);
void mmio_write32(volatile void *at, uint32_t value);
void mmio_write64(volatile void *at, uint64_t value);

#endif
