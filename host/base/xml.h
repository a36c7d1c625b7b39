/* Writes XML: elements, attributes and text, escaped where needed. */
#ifndef HOST_BASE_XML_H
#define HOST_BASE_XML_H

#include <stdbool.h>
#include <stdio.h>

#define XML_DEPTH_MAX 16

struct xml {
    FILE *out;
    const char *names[XML_DEPTH_MAX]; /* of the open elements */
    int depth;
    bool in_tag; /* the innermost start tag still takes attributes */
    bool has_text;
    bool bad; /* a character that XML cannot represent was left out */
};

void xml_init(struct xml *x, FILE *out);

/* Names are constants of the program and are not checked. */
void xml_start(struct xml *x, const char *name);
void xml_attribute(struct xml *x, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void xml_text(struct xml *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xml_end(struct xml *x);

/* Writes <name>text</name>. */
void xml_element(struct xml *x, const char *name, const char *text);

#endif
