# What the tests of firmware use: the firmware without what they do not need, and an application (gnu-efi).  Included by
# tests/tools.mk.
OVMF_FD := $(wildcard /usr/share/ovmf/OVMF.fd)
FIRMWARE := $(if $(OVMF_FD),$(BUILD)/tests/OVMF.fd)
$(BUILD)/tests/OVMF.fd: tests/firmware/lean.py $(OVMF_FD)
	@mkdir -p $(@D)
	python3 $< $(OVMF_FD) $@.tmp && mv $@.tmp $@

# The test application.
RETURN_CFLAGS := -std=gnu11 -g -O2 $(WARN) -I. -isystem $(EFI_INCLUDE) -isystem $(EFI_INCLUDE)/x86_64 -MMD -MP \
	-DGNU_EFI_USE_MS_ABI -ffreestanding -fpic -fshort-wchar -mno-red-zone -fno-stack-protector -fcf-protection=none

$(BUILD)/tests/return_app.o: tests/firmware/return_app.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(RETURN_CFLAGS) -c -o $@ $<

$(BUILD)/tests/return_app.so: $(BUILD)/tests/return_app.o
	ld -nostdlib -znocombreloc -shared -Bsymbolic --no-undefined -T $(EFI_LIB)/elf_x86_64_efi.lds -o $@ \
		$(EFI_LIB)/crt0-efi-x86_64.o $< -L$(EFI_LIB) -lefi -lgnuefi

$(BUILD)/tests/return_app.efi: $(BUILD)/tests/return_app.so
	objcopy -j .text -j .sdata -j .data -j .rodata -j .dynamic -j .dynsym -j .rel -j .rela -j '.rel.*' -j '.rela.*' -j .reloc \
		--target efi-app-x86_64 $< $@

-include $(BUILD)/tests/return_app.d
