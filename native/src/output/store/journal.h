// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The journal of a frame store: what is finished. A record is appended and synced after the files
 * that it names are safe on disk, so a kill at any moment leaves at most one torn record at the
 * end, which is dropped. Each record's checksum continues the one before: a journal is a prefix of
 * what was written, never a mixture. Anything else is damage and is reported.
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
    uint32_t bodies; /* from here to "hash": of frames only */
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
    pl_journal_record* frames; /* one after the other in number */
    size_t frame_count, frame_room;
    pl_journal_record* checkpoints; /* by rising frame */
    size_t checkpoint_count, checkpoint_room;
    uint64_t length; /* of the file, as far as it is believed */
    uint64_t chain;  /* checksum of the last record */
} pl_journal;

/* Puts an empty journal in the place of one that is there, atomically. */
pl_status pl_journal_create(pl_journal* journal, const char* folder);
/* "repair": cuts a torn tail off the file as well. */
pl_status pl_journal_load(pl_journal* journal, const char* folder, bool repair);
void pl_journal_free(pl_journal* journal);

/* Appends and syncs; on failure neither the file nor the memory has changed. The record's checksum
 * is filled in here. */
pl_status pl_journal_append(pl_journal* journal, pl_journal_record record);
/* An error unless the file on disk ends as this journal does: a program that has taken the folder
 * over went on with it, or began another. Nothing may be written then. */
pl_status pl_journal_check(const pl_journal* journal);
/* Forgets every record after "frame": the file is replaced as a whole. */
pl_status pl_journal_truncate(pl_journal* journal, int32_t frame);
/* A checkpoint turned out to be damaged: in memory it is not there any more. */
void pl_journal_forget_checkpoint(pl_journal* journal, int32_t frame);

/* NULL if there is none. */
const pl_journal_record* pl_journal_frame(const pl_journal* journal, int32_t frame);
const pl_journal_record* pl_journal_last(const pl_journal* journal);
/* The latest at or before a frame. */
const pl_journal_record* pl_journal_checkpoint(const pl_journal* journal, int32_t at_most);

#endif
