// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The journal of a frame store: the list of finished files. A record is appended and synced after
 * the files that it names are safely on disk, so a kill leaves at most one torn record at the end,
 * which is dropped. Each checksum includes the previous record's: a valid journal is a prefix of
 * what was written. Anything else is reported as damage.
 */
#ifndef PL_OUTPUT_STORE_JOURNAL_H
#define PL_OUTPUT_STORE_JOURNAL_H

#include "output/store/frames_file.h"

typedef enum pl_journal_kind
{
    PL_JOURNAL_FRAME = 1,
    PL_JOURNAL_CHECKPOINT = 2, /* a later one of the same frame replaces the earlier */
} pl_journal_kind;

typedef struct pl_journal_record
{
    uint32_t kind;
    int32_t frame;
    uint32_t bodies; /* from here to "hash": frames only */
    uint32_t layout; /* 1, 2, ... */
    uint64_t hash;   /* of the scene */
    pl_store_content content;
    uint64_t file_bytes;
    pl_store_content layout_content;
    uint64_t layout_file_bytes;
    uint64_t checksum;
} pl_journal_record;

typedef struct pl_journal
{
    char folder[PL_STORE_FOLDER_MAX + 1];
    pl_journal_record* frames; /* consecutive numbers */
    size_t frame_count, frame_room;
    pl_journal_record* checkpoints; /* ascending frames */
    size_t checkpoint_count, checkpoint_room;
    uint64_t length; /* valid length of the file */
    uint64_t chain;  /* checksum of the last record */
} pl_journal;

/* Atomically replaces the journal by an empty one. */
pl_status pl_journal_create(pl_journal* journal, const char* folder);
/* "repair": also truncates a torn tail. */
pl_status pl_journal_load(pl_journal* journal, const char* folder, bool repair);
void pl_journal_free(pl_journal* journal);

/* Appends and syncs; a failure changes neither file nor memory. Fills in the record's checksum. */
pl_status pl_journal_append(pl_journal* journal, pl_journal_record record);
/* Fails unless the file on disk ends as this journal does: another program has taken over the
 * folder, and nothing may be written. */
pl_status pl_journal_check(const pl_journal* journal);
/* Removes every record after "frame" by replacing the file. */
pl_status pl_journal_truncate(pl_journal* journal, int32_t frame);
/* Drops a damaged checkpoint, in memory only. */
void pl_journal_forget_checkpoint(pl_journal* journal, int32_t frame);

/* NULL if there is none. */
const pl_journal_record* pl_journal_frame(const pl_journal* journal, int32_t frame);
const pl_journal_record* pl_journal_last(const pl_journal* journal);
/* The latest at or before a frame. */
const pl_journal_record* pl_journal_checkpoint(const pl_journal* journal, int32_t at_most);

#endif
