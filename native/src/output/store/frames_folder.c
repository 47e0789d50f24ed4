// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/store/frames_folder.h"

#include "base/platform.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct own_file
{
    pl_store_file kind;
    int32_t number;
    bool temporary;
} own_file;

typedef struct folder_listing
{
    own_file* own;
    size_t count, room;
    bool out_of_memory, has_foreign;
    char foreign[256]; /* name of a foreign file */
} folder_listing;

static void list_name(void* user, const char* name)
{
    folder_listing* listing = user;
    own_file file;
    if (!pl_store_name(name, &file.kind, &file.number, &file.temporary))
    {
        listing->has_foreign = true;
        snprintf(listing->foreign, sizeof listing->foreign, "%s", name);
    }
    else if (pl_grow((void**)&listing->own, &listing->room, listing->count + 1, sizeof file))
        listing->own[listing->count++] = file;
    else
        listing->out_of_memory = true;
}

/* On success the caller frees listing->own. */
static pl_status list_folder(const char* folder, folder_listing* listing)
{
    memset(listing, 0, sizeof *listing);
    bool read = pl_directory_list(folder, list_name, listing);
    if (read && !listing->out_of_memory)
        return PLIANT_OK;
    pl_free(listing->own);
    return read ? pl_fail_memory(listing->room * sizeof(own_file))
                : pl_fail(PLIANT_ERROR_FILE, "the folder %s could not be read: %s", folder,
                          strerror(errno));
}

static bool is_known(const pl_journal* journal, const own_file* file)
{
    const pl_journal_record* last = pl_journal_last(journal);
    const pl_journal_record* checkpoint;
    if (file->temporary)
        return false;
    switch (file->kind)
    {
        case PL_STORE_FRAME:
            return pl_journal_frame(journal, file->number) != NULL;
        case PL_STORE_LAYOUT:
            return last && file->number >= 1 && (uint32_t)file->number <= last->layout;
        case PL_STORE_CHECKPOINT:
            checkpoint = pl_journal_checkpoint(journal, file->number);
            return checkpoint && checkpoint->frame == file->number;
        default:
            return true;
    }
}

pl_status pl_store_folder_clear(const pl_journal* journal)
{
    folder_listing listing;
    pl_status status = PLIANT_OK;
    PL_TRY(list_folder(journal->folder, &listing));
    for (size_t i = 0; i < listing.count; ++i)
    {
        char path[PL_STORE_PATH_MAX + 8];
        const own_file* file = &listing.own[i];
        if (is_known(journal, file))
            continue;
        pl_store_path(path, journal->folder, file->kind, file->number);
        if (file->temporary)
            strcat(path, ".tmp");
        if (!pl_file_remove(path))
            status =
                pl_fail(PLIANT_ERROR_FILE, "%s could not be removed: %s", path, strerror(errno));
    }
    pl_free(listing.own);
    return status;
}

/* Whether the folder has a header that begins like a store's. */
static bool has_own_header(const char* folder)
{
    char path[PL_STORE_PATH_MAX], magic[8] = "";
    pl_store_path(path, folder, PL_STORE_HEADER, 0);
    FILE* file = pl_file_open(path, "rb");
    if (!file)
        return false;
    bool own = fread(magic, 8, 1, file) == 1 && memcmp(magic, "PLIANTSH", 8) == 0;
    fclose(file);
    return own;
}

pl_status pl_store_folder_check(const char* folder)
{
    folder_listing listing;
    char path[PL_STORE_PATH_MAX];
    PL_TRY(list_folder(folder, &listing));
    pl_free(listing.own);
    bool own_header = has_own_header(folder);
    if (listing.has_foreign && !own_header)
        return pl_fail(PLIANT_ERROR_STATE,
                       "the folder %s is not a frame store and not empty: it has %s in it", folder,
                       listing.foreign);
    pl_store_path(path, folder, PL_STORE_HEADER, 0);
    if (!own_header && pl_file_size(path) > 0)
        return pl_fail(PLIANT_ERROR_STATE,
                       "%s is not the header of a frame store: it is left alone", path);
    return PLIANT_OK;
}
