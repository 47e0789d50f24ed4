// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The frame store: a folder between simulation and output.
 *
 *   header.plh          compression, checkpoint interval
 *   layout-000001.pll   for each body: rest positions, masses, shells, finest memberships
 *                       (normalised), nearest clusters, pieces and splits; a change gets the next
 *                       number, and is stored as a difference from the previous layout if that is
 *                       smaller
 *   frame-000123.plf    for each body: origin, positions, velocities, finest clusters' gradients,
 *                       their rates and plastic strains; nothing of particles that were merged
 *                       (frames_merged.h)
 *   check-000120.plc    a snapshot of the scene (pliant_scene_save's block)
 *   journal.plj         one record per finished frame (number, hash of the scene, file, layout)
 *                       and per checkpoint (journal.h)
 *
 * Every file is written to a temporary name, synced and renamed; the folder is synced; then the
 * journal gets its record (frames_file.h has the container). A reader trusts only what the journal
 * names. So a kill at any moment loses at most the frame being written, and the next RESUME or
 * CREATE removes its leftovers. Everything is little-endian.
 *
 * All checkpoints are kept: a bake may resume from any of them.
 */
#ifndef PL_OUTPUT_STORE_FRAMES_H
#define PL_OUTPUT_STORE_FRAMES_H

#include "base/core.h"

/* A cluster that was split (pl_split); times are in frame numbers of the store. */
typedef struct pl_frame_split
{
    double time;
    uint32_t cluster, fresh;
    float point[3], normal[3], reach; /* relative to rest_origin */
    uint32_t divided_end;
} pl_frame_split;

typedef struct pl_frame_divided
{
    uint32_t particle, copy, toward;
} pl_frame_divided;

/* One body of a frame, in memory: all by external id or finest cluster index. */
typedef struct pl_frame_body
{
    uint32_t particles, clusters;
    uint64_t memberships;
    double origin[3];
    float* x;        /* 3 a particle, relative to origin */
    float* v;        /* 3 a particle */
    float* gradient; /* 9 a cluster: F */
    float* rate;     /* 9 a cluster: dF/dt (angular velocity and stretching), for motion blur */
    float* plastic;  /* 1 a cluster: plastic strain */
    float* renewed;  /* 1 a cluster: 1 if it was reclustered after plastic flow, otherwise 0 */
    /* The layout. */
    double rest_origin[3];
    double spacing;
    float* rest; /* 3 a particle, relative to rest_origin */
    float* mass; /* 0: merged with another */
    uint32_t* shell;
    uint32_t* nearest; /* nearest finest cluster */
    uint32_t* begin;   /* particles + 1: memberships of each particle */
    uint32_t* cluster; /* of each membership */
    float* weight;     /* normalised */
    /* Of a breakable body; the last particles are copies. */
    uint32_t copies, pieces, splits, divisions;
    uint32_t* copy_parent; /* by copy: a particle before it, or itself */
    double* copy_birth;    /* by copy */
    /* Of a resampled body (resample_state.h), by particle. */
    float* share;        /* its share of the mass of its first ancestor */
    uint32_t* successor; /* itself, or the holder of its mass if it was merged; also without a
                            layout */
    float* offset;       /* 3 a particle: offset from its successor at rest */
    uint32_t* piece;     /* by cluster; none without pieces */
    uint32_t* piece_parent;
    double* piece_birth;
    pl_frame_split* split;
    pl_frame_divided* divided;
} pl_frame_body;

void pl_frame_body_free(pl_frame_body* body);

typedef struct pl_frame_store pl_frame_store;

pl_status pl_frames_open(const pliant_store_desc* desc, pl_frame_store** store);
void pl_frames_close(pl_frame_store* store);
pl_status pl_frames_info(pl_frame_store* store, pliant_store_info* info);
/* Appends a frame. The first may have any number within a thousand million; the others are
 * consecutive. "layout_changed": writes the bodies' layout arrays as a new layout first, unless
 * they equal the last frame's (always true for the first frame). Without it, layout arrays are
 * ignored, apart from the counts. "hash" is the scene's. A frame that is in the journal must have
 * the same hash (PLIANT_ERROR_STATE otherwise, nothing changed); it is then kept, or written again
 * if its file is damaged. */
pl_status pl_frames_write(pl_frame_store* store, int32_t frame, uint32_t body_count,
                          const pl_frame_body* bodies, bool layout_changed, uint64_t hash);
/* Whether a checkpoint is due at this frame (interval, or the first) and missing. An interval of 0
 * means the first only. */
bool pl_frames_checkpoint_due(const pl_frame_store* store, int32_t frame);
/* For a finished frame: write the frame first. An existing checkpoint is kept. */
pl_status pl_frames_write_checkpoint(pl_frame_store* store, int32_t frame, const void* block,
                                     uint64_t bytes);
/* The latest undamaged checkpoint at or before at_most; *block is pl_alloc'd. PLIANT_ERROR_STATE:
 * there is none. */
pl_status pl_frames_read_checkpoint(pl_frame_store* store, int32_t at_most, int32_t* frame,
                                    void** block, uint64_t* bytes);
/* Removes all frames and checkpoints after "frame". */
pl_status pl_frames_truncate(pl_frame_store* store, int32_t frame);
/* Reads one body of a frame, with its layout. Caches the last layout and frame. The result belongs
 * to the store and is valid until the next call on it. */
pl_status pl_frames_read(pl_frame_store* store, int32_t frame, uint32_t body,
                         const pl_frame_body** result);
/* Identifies a frame's contents: their hash. */
pl_status pl_frames_hash(const pl_frame_store* store, int32_t frame, uint64_t* hash);
/* Whether the frame has this body. */
pl_status pl_frames_check(const pl_frame_store* store, int32_t frame, uint32_t body);
/* Reads and verifies everything that the journal names. */
pl_status pl_frames_verify(pl_frame_store* store);
/* Body count of the last frame; 0 if there is none. */
uint32_t pl_frames_body_count(const pl_frame_store* store);
/* The layout of a body in the last frame: its set of particles represents all frames. Valid until
 * the next call that writes or truncates. */
pl_status pl_frames_final(pl_frame_store* store, uint32_t body, const pl_frame_body** result);
/* The particle that represents a final particle in a frame with so many particles: itself, or the
 * one it is a copy of. */
uint32_t pl_frame_ancestor(const pl_frame_body* final, uint32_t particle, uint32_t particles);

/* Blends cluster values (plastic, renewed) by the particles' weights. */
void pl_frame_blend(const pl_frame_body* body, const float* by_cluster, float* by_particle);
/* Blended deformation gradients and their rates by particle (9 floats each); either may be NULL. */
void pl_frame_deformation(const pl_frame_body* body, float* f, float* rate);

#endif
