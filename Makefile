# Microtome. `make help` lists the targets. Everything is built into build/.
CC ?= gcc
BUILD ?= build
OPT ?= -O2

WARN := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Werror
COMMON := -std=gnu11 -g $(OPT) $(WARN) -I. -MMD -MP
GUEST_CFLAGS := $(COMMON) -ffreestanding -mno-red-zone -mgeneral-regs-only -fno-pic -fno-pie \
	-mcmodel=kernel -fno-stack-protector -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
	-fno-strict-aliasing -fcf-protection=none -fno-builtin-printf
HOST_CFLAGS := $(COMMON) -D_GNU_SOURCE -fstack-protector-strong
HOST_LIBS := -lelf -ldw -ljansson

LIB_SRC := $(wildcard lib/*.c)
GUEST_SRC := $(wildcard guest/*.c guest/*.S boot/*.S boot/*.c drivers/*.c drivers/*/*.c) $(LIB_SRC)
HOST_SRC := $(wildcard host/*.c) $(LIB_SRC)

GUEST_OBJ := $(addprefix $(BUILD)/guest/,$(addsuffix .o,$(basename $(GUEST_SRC))))
HOST_OBJ := $(addprefix $(BUILD)/host/,$(addsuffix .o,$(basename $(HOST_SRC))))

.PHONY: all clean help
all: $(BUILD)/hr $(BUILD)/guest.elf ## build the hr command, the kernel and the workloads

$(BUILD)/guest.elf: $(GUEST_OBJ) linker.ld
	$(CC) -nostdlib -static -no-pie -Wl,-T,linker.ld -Wl,--build-id=sha1 -Wl,-z,max-page-size=4096 \
		-Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -o $@ $(GUEST_OBJ)

$(BUILD)/hr: $(HOST_OBJ)
	$(CC) -o $@ $(HOST_OBJ) $(HOST_LIBS)

$(BUILD)/guest/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GUEST_CFLAGS) -c -o $@ $<

$(BUILD)/guest/%.o: %.S
	@mkdir -p $(@D)
	$(CC) $(GUEST_CFLAGS) -c -o $@ $<

$(BUILD)/host/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -c -o $@ $<

clean: ## remove what was built
	rm -rf $(BUILD)

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

-include $(GUEST_OBJ:.o=.d) $(HOST_OBJ:.o=.d)
