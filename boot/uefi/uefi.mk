# The loader on a bootable stick: BOOTX64.EFI, an application of the firmware (gnu-efi).  Included by the Makefile.
EFI_LIB ?= /usr/lib
EFI_INCLUDE ?= /usr/include/efi
UEFI_CFLAGS := $(COMMON) $(DIALECT) -isystem $(EFI_INCLUDE) -isystem $(EFI_INCLUDE)/x86_64 -DGNU_EFI_USE_MS_ABI \
	-ffreestanding -fpic -fvisibility=hidden -fshort-wchar -mno-red-zone -mgeneral-regs-only -fno-builtin \
	-fno-stack-protector -fno-strict-aliasing -fno-asynchronous-unwind-tables -fcf-protection=none
UEFI_SRC := $(wildcard boot/uefi/*.c) boot/string.c drivers/uart/uart.c drivers/smbios/smbios.c drivers/smbios/smbios_table.c \
	$(addprefix lib/,boot/boot_conf.c boot/boot_conf_keys.c boot/boot_value.c boot/kernel_image.c boot/run_stream.c crc32c.c format.c)
UEFI_OBJ := $(patsubst %.c,$(BUILD)/uefi/%.o,$(UEFI_SRC))

$(BUILD)/uefi/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(UEFI_CFLAGS) -c -o $@ $<

# The start-up code of gnu-efi 3.0.13 calls efi_main, that of 3.0.18 calls _entry, which readies a library that is not used here.
$(BUILD)/BOOTX64.so: $(UEFI_OBJ) $(BUILD)/sources
	ld -shared -Bsymbolic -nostdlib -znocombreloc --no-undefined --defsym=_entry=efi_main \
		-T $(EFI_LIB)/elf_x86_64_efi.lds -o $@ \
		$(EFI_LIB)/crt0-efi-x86_64.o $(UEFI_OBJ) $(EFI_LIB)/libgnuefi.a

# gnu-efi 3.0.18 leaves read-only data in a section of their own.
$(BUILD)/BOOTX64.EFI: $(BUILD)/BOOTX64.so
	objcopy -j .text -j .sdata -j .data -j .rodata -j .dynamic -j .dynsym -j .rel -j .rela -j '.rel.*' -j '.rela.*' \
		-j .reloc --target efi-app-x86_64 --subsystem=10 $< $@

-include $(UEFI_OBJ:.o=.d)
