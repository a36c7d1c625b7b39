/* Copies between kernel and program memory, page by page through the direct map. */
#include "guest/uaccess.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "guest/cpu.h"
#include "guest/layout.h"
#include "guest/thread.h"
#include "guest/vm_access.h"

static struct vm_space *current_space(void)
{
    return &cpu_this()->thread->process->space;
}

static bool range_ok(uint64_t address, size_t bytes)
{
    return bytes <= USER_END && address <= USER_END - bytes;
}

int copy_from_user(void *to, uint64_t from, size_t bytes)
{
    struct vm_space *space = current_space();
    uint8_t *p = to;

    if (!range_ok(from, bytes))
        return -EFAULT;
    while (bytes) {
        uint64_t room;
        void *source;

        if (vm_access(space, from, VM_ACCESS_READ, &source, &room) != 0)
            return -EFAULT;
        if (room > bytes)
            room = bytes;
        memcpy(p, source, room);
        p += room;
        from += room;
        bytes -= room;
    }
    return 0;
}

int copy_to_user(uint64_t to, const void *from, size_t bytes)
{
    struct vm_space *space = current_space();
    const uint8_t *p = from;

    if (!range_ok(to, bytes))
        return -EFAULT;
    while (bytes) {
        uint64_t room;
        void *target;

        if (vm_access(space, to, VM_ACCESS_WRITE, &target, &room) != 0)
            return -EFAULT;
        if (room > bytes)
            room = bytes;
        memcpy(target, p, room);
        p += room;
        to += room;
        bytes -= room;
    }
    return 0;
}

int uaccess_zero(uint64_t to, size_t bytes)
{
    struct vm_space *space = current_space();

    if (!range_ok(to, bytes))
        return -EFAULT;
    while (bytes) {
        uint64_t room;
        void *target;

        if (vm_access(space, to, VM_ACCESS_WRITE, &target, &room) != 0)
            return -EFAULT;
        if (room > bytes)
            room = bytes;
        memset(target, 0, room);
        to += room;
        bytes -= room;
    }
    return 0;
}

int uaccess_prepare_write(uint64_t address, size_t bytes)
{
    struct vm_space *space = current_space();

    if (!range_ok(address, bytes))
        return -EFAULT;
    while (bytes) {
        uint64_t room;
        void *target;

        if (vm_access(space, address, VM_ACCESS_WRITE, &target, &room) != 0)
            return -EFAULT;
        if (room > bytes)
            room = bytes;
        address += room;
        bytes -= room;
    }
    return 0;
}

int copy_string_from_user(char *to, uint64_t from, size_t room_in_to)
{
    struct vm_space *space = current_space();
    size_t length = 0;

    while (length < room_in_to) {
        uint64_t room;
        void *source;
        size_t part;

        if (from >= USER_END || vm_access(space, from, VM_ACCESS_READ, &source, &room) != 0)
            return -EFAULT;
        if (room > room_in_to - length)
            room = room_in_to - length;
        part = strnlen(source, room);
        memcpy(to + length, source, part);
        length += part;
        from += part;
        if (part < room) {
            to[length] = '\0';
            return (int)length;
        }
    }
    return -ENAMETOOLONG;
}
