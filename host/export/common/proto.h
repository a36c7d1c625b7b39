/* Protocol buffers, written by hand: one message at a time is built in memory.
 *
 * By hand because both formats that need it stream: they write a message as soon as it is known and
 * keep none.  protobuf-c wants each as a tree of structs, and would add a compiler to the build for
 * what are four kinds of field here.  The wire format is that of
 * https://protobuf.dev/programming-guides/encoding/.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PROTO_TEXT_BYTES 2048u /* longer texts are cut */

struct proto { /* all zero: an empty message */
    uint8_t *bytes; /* owned */
    size_t used;
    size_t room;
    int error; /* -ENOMEM: something is missing */
};

void proto_free(struct proto *proto);

/* Fields of the message that is being built.  Text is raw: it is made valid as text_escape does. */
void proto_number(struct proto *proto, uint32_t field, uint64_t value);
void proto_fixed(struct proto *proto, uint32_t field, uint64_t value); /* of 64 bits */
void proto_double(struct proto *proto, uint32_t field, double value);
void proto_text(struct proto *proto, uint32_t field, const char *text);
void proto_bytes(struct proto *proto, uint32_t field, const void *bytes, size_t count);
void proto_numbers(struct proto *proto, uint32_t field, const uint64_t *values, size_t count);

/* A message as a field; messages nest.  What begin returned is what end needs. */
size_t proto_begin(struct proto *proto, uint32_t field);
void proto_end(struct proto *proto, size_t mark);
