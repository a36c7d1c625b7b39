/* Device memory, one access an instruction.  A test replaces this header to stand in for a device.
 */
#ifndef DRIVERS_MMIO_H /* a unit test has its own */
#define DRIVERS_MMIO_H

#include <stdint.h>

static inline uint8_t mmio_read8(const volatile void *at)
{
    return *(const volatile uint8_t *)at;
}

static inline uint16_t mmio_read16(const volatile void *at)
{
    return *(const volatile uint16_t *)at;
}

static inline uint32_t mmio_read32(const volatile void *at)
{
    return *(const volatile uint32_t *)at;
}

static inline uint64_t mmio_read64(const volatile void *at)
{
    return *(const volatile uint64_t *)at;
}

static inline void mmio_write8(volatile void *at, uint8_t value)
{
    *(volatile uint8_t *)at = value;
}

static inline void mmio_write16(volatile void *at, uint16_t value)
{
    *(volatile uint16_t *)at = value;
}

static inline void mmio_write32(volatile void *at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
}

/* Two halves, low first: what every virtio device accepts (Virtio 1.1, 4.1.3.1). */
static inline void mmio_write64(volatile void *at, uint64_t value)
{
    mmio_write32(at, (uint32_t)value);
    mmio_write32((volatile uint8_t *)at + 4, (uint32_t)(value >> 32));
}

#endif
