/* Filling and copying whole pages: most of the cost of a page fault.  The program's vector
 * registers are live in the kernel; these leave them as they are.  Context: any that may touch the
 * memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PAGE_BLOCK_BYTES 128u

/* 4096 bytes, page-aligned. */
extern void (*page_zero)(void *page);
extern void (*page_copy)(void *to, const void *from);

/* As memcpy, for many bytes. */
void page_copy_bytes(void *to, const void *from, size_t bytes);

/* Chooses the functions that suit the CPU best.  In virtual time every repetition of a string
 * instruction counts as an instruction, so vector registers are cheaper.  Context: boot, once CR4
 * and XCR0 are set. */
void page_choose(bool virtual_time);
