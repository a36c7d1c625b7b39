/* Writes the page: HTML that holds its program, its style and its data. */
#pragma once

#include "host/base/output.h"
#include "host/view/model/view_model.h"

/* Whether this hr was built with the libraries that the page needs. */
bool view_page_is_built(void);

/* Reads the model, and of the facts what only another walk over the whole trace knows.  0 or -errno
 * as view_model_read, then *facts is NULL or an object; view_model_free in any case. */
int view_page_read(struct reader *reader, struct view_model *model, json_t **facts);

/* Writes all of it; takes `facts` over.  0 or -ENOMEM; errors of `out` stay there. */
int view_page_write(struct output *out, struct view_model *model, json_t *facts);

/* Writes a page that has one group of columns only, "data-NAME".  0 or -ENOMEM. */
int view_page_write_part(struct output *out, const char *name, const uint8_t *bytes, size_t count);
