/* A few descriptors of files that were read last.  The server's thread alone uses it. */
#pragma once

#include <stdint.h>

#define SERVE_OPEN_FILES 64u

struct serve_open_files {
    struct {
        uint32_t node; /* 0: the place is free */
        int fd;
        uint64_t used; /* when it was put back */
    } all[SERVE_OPEN_FILES];
    uint64_t uses;
};

/* Returns the node's descriptor, which is the caller's then, or -1. */
int serve_open_files_take(struct serve_open_files *o, uint32_t node);

/* Keeps a descriptor; the one that was unused longest may be closed. */
void serve_open_files_put(struct serve_open_files *o, uint32_t node, int fd);

void serve_open_files_close(struct serve_open_files *o);
