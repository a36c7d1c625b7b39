/* Reads files of the stick, and opens files to write. */
#include "boot/uefi/volume.h"

#include <string.h>

#include "lib/crc32c.h"
#include "lib/format.h"

#define READ_BYTES (4u << 20) /* per read: some firmware fails on very long transfers */
#define INFO_BYTES 1024

static EFI_FILE *root;

bool volume_open(char why[VOLUME_WHY_BYTES])
{
    static const EFI_GUID loaded_image = EFI_LOADED_IMAGE_PROTOCOL_GUID;
    static const EFI_GUID file_system = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
    EFI_LOADED_IMAGE *image = firmware_protocol(firmware.image, &loaded_image);
    EFI_SIMPLE_FILE_SYSTEM_PROTOCOL *volume = NULL;
    EFI_STATUS status = EFI_UNSUPPORTED;

    if (image != NULL && image->DeviceHandle != NULL)
        volume = firmware_protocol(image->DeviceHandle, &file_system);
    if (volume != NULL)
        status = volume->OpenVolume(volume, &root);
    if (EFI_ERROR(status))
        format_text(why, VOLUME_WHY_BYTES, "the disk that this was started from cannot be read: %s",
                    firmware_error(status));
    return !EFI_ERROR(status);
}

static void widen(CHAR16 name[BOOT_CONF_PATH_BYTES], const char *path)
{
    size_t i;

    for (i = 0; path[i] && i + 1 < BOOT_CONF_PATH_BYTES; i++)
        name[i] = (CHAR16)(unsigned char)path[i];
    name[i] = 0;
}

EFI_FILE *volume_file(const char *path, unsigned flags, EFI_STATUS *status)
{
    CHAR16 name[BOOT_CONF_PATH_BYTES];
    EFI_FILE *file = NULL;
    UINT64 mode = EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE;

    widen(name, path);
    if (flags & VOLUME_CREATE)
        mode |= EFI_FILE_MODE_CREATE;
    *status =
        root->Open(root, &file, name, mode, flags & VOLUME_DIRECTORY ? EFI_FILE_DIRECTORY : 0);
    return EFI_ERROR(*status) ? NULL : file;
}

static EFI_STATUS open_to_read(const char *path, EFI_FILE **file, uint64_t *bytes)
{
    static EFI_GUID file_info = EFI_FILE_INFO_ID;
    CHAR16 name[BOOT_CONF_PATH_BYTES];
    uint64_t buffer[INFO_BYTES / 8];
    EFI_FILE_INFO *info = (EFI_FILE_INFO *)buffer;
    UINTN room = sizeof buffer;
    EFI_STATUS status;

    widen(name, path);
    status = root->Open(root, file, name, EFI_FILE_MODE_READ, 0);
    if (EFI_ERROR(status))
        return status;
    status = (*file)->GetInfo(*file, &file_info, &room, info);
    if (!EFI_ERROR(status) && (info->Attribute & EFI_FILE_DIRECTORY))
        status = EFI_NOT_FOUND;
    *bytes = info->FileSize;
    if (EFI_ERROR(status))
        (*file)->Close(*file);
    return status;
}

/* Reads the whole file, which is file->bytes long. */
static EFI_STATUS read_all(EFI_FILE *from, const struct volume_file *file)
{
    for (uint64_t at = 0; at < file->bytes;) {
        UINTN count = file->bytes - at < READ_BYTES ? file->bytes - at : READ_BYTES;
        EFI_STATUS status = from->Read(from, &count, (void *)(uintptr_t)(file->address + at));

        if (EFI_ERROR(status))
            return status;
        if (count == 0)
            return EFI_END_OF_FILE;
        at += count;
    }
    return EFI_SUCCESS;
}

static bool fail(char why[VOLUME_WHY_BYTES], const char *path, const char *what)
{
    format_text(why, VOLUME_WHY_BYTES, "%s: %s", path, what);
    return false;
}

bool volume_read(const char *path, uint64_t bytes_max, struct volume_file *file,
                 char why[VOLUME_WHY_BYTES])
{
    EFI_FILE *from;
    EFI_STATUS status = open_to_read(path, &from, &file->bytes);

    file->address = 0;
    if (EFI_ERROR(status))
        return fail(why, path, firmware_error(status));
    if (file->bytes > bytes_max)
        status = EFI_BAD_BUFFER_SIZE;
    else if (!(file->address = firmware_pages(file->bytes ? file->bytes : 1)))
        status = EFI_OUT_OF_RESOURCES;
    else
        status = read_all(from, file);
    from->Close(from);
    if (!EFI_ERROR(status))
        return true;
    volume_unload(file);
    if (status == EFI_BAD_BUFFER_SIZE)
        return fail(why, path, "it is too long");
    if (status == EFI_OUT_OF_RESOURCES)
        format_text(why, VOLUME_WHY_BYTES, "%s: no memory for %lu KiB", path,
                    (file->bytes + 1023) / 1024);
    return status == EFI_OUT_OF_RESOURCES ? false : fail(why, path, firmware_error(status));
}

bool volume_load(const struct boot_conf_file *named, struct volume_file *file,
                 char why[VOLUME_WHY_BYTES])
{
    if (!volume_read(named->path, UINT64_MAX, file, why))
        return false;
    if (file->bytes == named->bytes &&
        crc32c(0, (void *)(uintptr_t)file->address, file->bytes) == named->crc32c)
        return true;
    if (file->bytes != named->bytes)
        format_text(why, VOLUME_WHY_BYTES,
                    "%s: it is %lu bytes long, not %lu: write the stick anew", named->path,
                    file->bytes, named->bytes);
    else
        fail(why, named->path, "it is damaged: its checksum is not the one in microtome.conf");
    volume_unload(file);
    return false;
}

void volume_unload(struct volume_file *file)
{
    firmware_free(file->address, file->bytes ? file->bytes : 1);
    file->address = 0;
}

/* Returns the value of a name of up to 9 digits; 0 for any other name. */
static uint32_t number_of(const CHAR16 *name)
{
    uint32_t value = 0;

    for (size_t i = 0; name[i]; i++) {
        if (name[i] < '0' || name[i] > '9' || i == 9)
            return 0;
        value = value * 10 + (uint32_t)(name[i] - '0');
    }
    return value;
}

uint32_t volume_highest_number(EFI_FILE *directory)
{
    uint64_t buffer[INFO_BYTES / 8];
    EFI_FILE_INFO *info = (EFI_FILE_INFO *)buffer;
    uint32_t highest = 0;

    directory->SetPosition(directory, 0);
    for (;;) {
        UINTN bytes = sizeof buffer - sizeof(CHAR16);
        EFI_STATUS status = directory->Read(directory, &bytes, info);

        if (EFI_ERROR(status) || bytes <= SIZE_OF_EFI_FILE_INFO)
            return highest;
        *(CHAR16 *)((uint8_t *)buffer + bytes) = 0; /* in case the firmware has not terminated it */
        if (number_of(info->FileName) > highest)
            highest = number_of(info->FileName);
    }
}

EFI_STATUS volume_resize(EFI_FILE *file, uint64_t bytes)
{
    static EFI_GUID file_info = EFI_FILE_INFO_ID;
    uint64_t buffer[INFO_BYTES / 8];
    EFI_FILE_INFO *info = (EFI_FILE_INFO *)buffer;
    UINTN room = sizeof buffer;
    EFI_STATUS status = file->GetInfo(file, &file_info, &room, info);

    if (EFI_ERROR(status))
        return status;
    info->FileSize = bytes;
    return file->SetInfo(file, &file_info, (UINTN)info->Size, info);
}
