/* virtio-serial (virtio 1.x, device type 3, multiport) over virtio-pci (modern).
 * Virtual I/O Device Version 1.1, 5.3 Console Device.  Single-threaded: only the CPU that does
 * service work calls these, with interrupts off; a detached port may be used by another CPU, one at
 * a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Finds the device on PCI (assigning BARs that the firmware left at 0), negotiates
 * VIRTIO_F_VERSION_1 and VIRTIO_CONSOLE_F_MULTIPORT, learns every port's name and opens it.  Used
 * buffers interrupt as MSI-X `vector` at local APIC `apic_id`.  Returns 0, -ENODEV, -EIO or
 * -ENOMEM. */
int serial_init(uint8_t vector, uint32_t apic_id);

/* Returns the port with this name, or -ENOENT. */
int serial_find(const char *name);

/* From now on functions on this port leave the control queue alone: a port that the host closes is
 * not noticed.  A negative number does nothing. */
void serial_detach(int port);

/* Sends all bytes and returns when the host has them; waits with platform_wait while the host does
 * not read.  Physically contiguous memory only (kernel image or allocations).  Returns 0 or -EIO.
 */
int serial_send(int port, const void *bytes, size_t count);

/* Starts sending without waiting; the memory must not change until it is sent.  Returns -EBUSY if
 * the port already has a send under way.  serial_sent returns 1 if nothing is under way,
 * otherwise 0. */
int serial_start(int port, const void *bytes, size_t count);
int serial_sent(int port);

/* Takes up to `room` received bytes; returns 0 if there are none now.  Never waits.  The first call
 * gives the port its buffers: before it, nothing arrives and nothing interrupts. */
size_t serial_receive(int port, void *out, size_t room);
