/* Writes to the new program's memory, page by page. */
#include "guest/exec/exec_writer.h"

#include "guest/memory/page.h"
#include "guest/vm/vm_access.h"

static int writer_reach(struct exec_writer *w)
{
    void *at;
    int error = vm_access(w->space, w->address, VM_ACCESS_FORCE, &at, &w->room);

    w->at = at;
    return error;
}

static void writer_pass(struct exec_writer *w, uint64_t bytes)
{
    w->address += bytes;
    w->at += bytes;
    w->room -= bytes;
}

int exec_writer_put(struct exec_writer *w, const void *from, uint64_t bytes)
{
    const uint8_t *in = from;

    while (bytes) {
        int error = w->room ? 0 : writer_reach(w);
        uint64_t part;

        if (error)
            return error;
        part = bytes < w->room ? bytes : w->room;
        page_copy_bytes(w->at, in, part);
        writer_pass(w, part);
        in += part;
        bytes -= part;
    }
    return 0;
}

int exec_writer_word(struct exec_writer *w, uint64_t word)
{
    int error = w->room ? 0 : writer_reach(w);

    if (error)
        return error;
    *(uint64_t *)(void *)w->at = word; /* a word never crosses the end of a page */
    writer_pass(w, sizeof word);
    return 0;
}
