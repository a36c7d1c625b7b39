# The kernel's network streaming: lwIP, from Debian's source package, and guest/net.  Included by the Makefile.
# Where lwIP cannot be had the kernel is linked without it: guest/variants/net_off.c.
LWIP_DIR := $(BUILD)/lwip
LWIP_SRC := $(addprefix src/core/,def.c inet_chksum.c init.c ip.c mem.c memp.c netif.c pbuf.c tcp.c tcp_in.c tcp_out.c \
	timeouts.c udp.c ipv4/dhcp.c ipv4/etharp.c ipv4/icmp.c ipv4/ip4.c ipv4/ip4_addr.c) src/netif/ethernet.c
LWIP_INCLUDE := -isystem guest/net -isystem $(LWIP_DIR)/src/include

# Whether there is lwIP, as a variable: make gets it and reads itself anew.  Not for what builds nothing here.
ifneq ($(filter-out clean help demo test test-long bench uninstall lwip,$(or $(MAKECMDGOALS),all)),)
include $(LWIP_DIR)/found.mk
endif
$(LWIP_DIR)/found.mk: tools/lwip.sh
	@tools/lwip.sh $(@D)
	@if [ -d $(@D)/src ]; then echo 'LWIP := yes'; else echo 'LWIP := no'; fi >$@

.PHONY: lwip
lwip: ## get lwIP again, after the build could not
	@rm -f $(LWIP_DIR)/found.mk
	@$(MAKE) --no-print-directory -s $(LWIP_DIR)/found.mk

NET_SRC := $(wildcard guest/net/*.c guest/net/*.S)
NET_OBJ := $(addprefix $(BUILD)/guest/,$(addsuffix .o,$(basename $(NET_SRC)))) $(addprefix $(BUILD)/guest/lwip/,$(LWIP_SRC:.c=.o))
NET_VARIANT := $(if $(filter yes,$(LWIP)),$(NET_OBJ),$(BUILD)/guest/guest/variants/net_off.o)

# lwIP's own code is not ours to warn about.  __NO_INLINE__: no functions out of the C library's headers.
$(BUILD)/guest/lwip/%.o: $(LWIP_DIR)/%.c guest/net/net.mk $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(filter-out $(WARN),$(GUEST_CFLAGS)) -w -D__NO_INLINE__ $(LWIP_INCLUDE) -c -o $@ $<

$(BUILD)/guest/guest/net/%.o: GUEST_CFLAGS += $(LWIP_INCLUDE) $(CONTEXT)
$(BUILD)/guest/guest/net/%.o: guest/net/lwipopts.h guest/net/arch/cc.h

-include $(NET_OBJ:.o=.d)
