// SPDX-License-Identifier: GPL-3.0-or-later
/* Files in the folder of a frame store: its own, recognised by name, and foreign ones. */
#ifndef PL_OUTPUT_STORE_FRAMES_FOLDER_H
#define PL_OUTPUT_STORE_FRAMES_FOLDER_H

#include "output/store/journal.h"

/* A new store may use an empty folder, one with only store files, or a store; otherwise
 * PLIANT_ERROR_STATE. */
pl_status pl_store_folder_check(const char* folder);

/* Removes store files that the journal does not name: leftovers of a kill or of a truncation.
 * Header, journal and foreign files stay. */
pl_status pl_store_folder_clear(const pl_journal* journal);

#endif
