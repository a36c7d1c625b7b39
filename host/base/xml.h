/* Writes XML: elements, attributes and text, escaped where needed. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define XML_DEPTH_MAX 16

struct xml {
    FILE *out;
    const char *names[XML_DEPTH_MAX]; /* of the elements that are open; a space may end them */
    int depth;
    bool in_tag; /* the innermost start tag still takes attributes */
    bool has_text;
    bool bad; /* a character that XML cannot represent was left out */
};

void xml_init(struct xml *x, FILE *out);

/* Starts an element: its name, and any attributes as "name='value'" with values of the formats %s
 * (escaped), %d, %u, %llu, %g and %.2f.  Such as xml_start(x, "page size='%d' unit='MiB'", 2).
 * `format` is a constant of the program, which is not checked and must outlive the element. */
void xml_start(struct xml *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes an element without contents, and ends it. */
void xml_empty(struct xml *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

void xml_attribute(struct xml *x, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void xml_text(struct xml *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xml_end(struct xml *x);

/* Writes <name>text</name>. */
void xml_element(struct xml *x, const char *name, const char *text);
