/* The options of hr usb that go into microtome.conf. */
#pragma once

#include <argp.h>

#include "host/usb/usb_options.h"

/* An argp child; its input is the struct usb_options. */
extern const struct argp usb_options_conf_argp;

/* Checks the options together after parsing.  Returns 0, or -1 with the failure filled. */
int usb_options_finish_conf(struct usb_options *o);

/* Parses a size other than 0.  Returns 0, or -1 with the failure filled. */
int usb_options_set_size(const char *option, const char *text, uint64_t *bytes,
                         struct run_failure *failure);
