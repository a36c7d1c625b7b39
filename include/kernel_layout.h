/* The kernel's address space, on which boot paths and kernel agree.  Also read by assembly. */
#pragma once

#define PAGE_BYTES 4096
#define LARGE_PAGE_BYTES 0x200000

#define KERNEL_PHYSICAL 0x200000 /* load address of guest.elf */
#define KERNEL_BASE 0xffffffff80000000 /* virtual = physical + KERNEL_BASE */
#define DIRECT_MAP 0xffff800000000000 /* virtual = physical + DIRECT_MAP, all RAM, NX */
#define DEVICE_MAP 0xffffc00000000000 /* device memory, uncached */
#define STACK_MAP 0xffffd00000000000 /* kernel stacks of threads, with gaps between them */
#define PROBE_MAP 0xffffe00000000000 /* copies of probed instructions, for ring 3 to execute */
#define USER_END 0x00007ffffffff000 /* user addresses are below */
#define TRAMPOLINE_PHYSICAL 0x8000 /* real-mode start of the other CPUs */

#define KERNEL_STACK_BYTES 16384

#define SELECTOR_KERNEL_CODE 0x08
#define SELECTOR_KERNEL_DATA 0x10
#define SELECTOR_USER_DATA 0x1b /* SYSRET wants data before code */
#define SELECTOR_USER_CODE 0x23
#define SELECTOR_TSS 0x28
