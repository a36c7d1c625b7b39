/* A server over a temporary tree, asked without a port. */
#ifndef TESTS_UNIT_HOST_SERVE_FIXTURE_H
#define TESTS_UNIT_HOST_SERVE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "host/serve/serve.h"
#include "tests/unit/host/tree.h"
#include "tests/unit/test.h"

static struct tree tree;
static struct serve serve;
static struct serve_reply reply;

static inline int open_tree(void **state)
{
    (void)state;
    tree_init(&tree);
    assert_int_equal(serve_open_root(&serve, tree.root), 0);
    return 0;
}

static inline int close_tree(void **state)
{
    (void)state;
    serve_close(&serve);
    tree_free(&tree);
    return 0;
}

static inline const char *in_tree(const char *path)
{
    static char full[PATH_MAX];

    snprintf(full, sizeof full, "%s/%s", tree.root, path);
    return full;
}

/* The error of an answer, which is in `reply`. */
static inline int ask(uint32_t type, uint64_t node, uint64_t offset, uint32_t bytes,
                      const void *name)
{
    const struct run_serve_request request = {
        .type = type, .bytes = bytes, .node = node, .offset = offset, .number = 7};

    serve_answer(&serve, &request, name, &reply);
    assert_int_equal(reply.answer.number, 7);
    assert_true(reply.answer.bytes <= RUN_SERVE_BYTES_MAX);
    if (reply.answer.error != 0)
        assert_int_equal(reply.answer.bytes, 0);
    return (int)reply.answer.error;
}

/* The node of a name, with what is known of it in `node`; an error as a negative number. */
static inline int64_t look_up(uint64_t directory, const char *name, struct run_serve_node *node)
{
    int error = ask(RUN_SERVE_LOOKUP, directory, 0, (uint32_t)strlen(name), name);

    if (error != 0)
        return -error;
    memcpy(node, reply.bytes, sizeof *node);
    assert_int_equal(reply.answer.bytes, SERVE_NODE_BYTES(0, node->target_bytes));
    assert_int_equal(node->name_bytes, 0);
    return (int64_t)node->node;
}

static inline uint64_t find(uint64_t directory, const char *name)
{
    struct run_serve_node node;
    int64_t number = look_up(directory, name, &node);

    assert_true(number > 0);
    return (uint64_t)number;
}

#endif
