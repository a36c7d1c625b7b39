/* Pages by vector instructions: guest/memory/page_vector.S.  Registers are saved and restored. */
#pragma once

#include <stddef.h>

void page_zero_sse(void *page);
void page_zero_avx(void *page);
/* A multiple of 128 bytes, not 0. */
void page_copy_blocks_sse(void *to, const void *from, size_t bytes);
void page_copy_blocks_avx(void *to, const void *from, size_t bytes);
