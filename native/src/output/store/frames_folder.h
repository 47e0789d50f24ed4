// SPDX-License-Identifier: GPL-3.0-or-later
/* What lies in the folder of a frame store: the store's own files, known by their names, and what
 * is not its business. */
#ifndef PL_OUTPUT_STORE_FRAMES_FOLDER_H
#define PL_OUTPUT_STORE_FRAMES_FOLDER_H

#include "output/store/journal.h"

/* A new store may take an empty folder, one with nothing but files of its own, or a store;
 * otherwise PLIANT_ERROR_STATE. */
pl_status pl_store_folder_check(const char* folder);

/* Removes the store's own files that the journal does not know: leftovers of a kill, or of what was
 * forgotten. The header, the journal and whatever else is in the folder stay. */
pl_status pl_store_folder_clear(const pl_journal* journal);

#endif
