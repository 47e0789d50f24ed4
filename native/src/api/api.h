// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of the API share: objects behind handles, and checks. */
#ifndef PL_API_API_H
#define PL_API_API_H

#include "base/handles.h"
#include "dynamics/scene.h"
#include "output/skin/skin.h"
#include "output/store/connectivity_history.h"
#include "output/store/frames.h"

/* The caller's descriptor must have been initialised: its first field is its size. */
pl_status pl_check_desc(const void* desc, size_t size, const char* name);
pl_status pl_check_range(double value, double low, double high, const char* name);
pl_status pl_check_enum(uint32_t value, uint32_t count, const char* name);
pl_status pl_check_vector(const double* v, const char* name);
pl_status pl_check_frame(const pliant_frame_desc* desc);
/* An array of floats: present where count > 0, and finite. */
pl_status pl_check_floats(const float* values, uint64_t count, const char* name);

/* A frame store behind its handle. */
typedef struct pl_store_object
{
    pl_frame_store* frames;
    uint64_t layout_of;            /* which layout of which scene the store holds already */
    pl_connectivity_history pairs; /* as last asked for */
} pl_store_object;

pl_status pl_get_store(uint64_t handle, pl_store_object** store);

/* Every call gets at its scene through one of these. While a call that reports progress or takes
 * long runs on the scene, they fail with PLIANT_ERROR_STATE: nothing that it works with can be
 * changed, freed or read half-way, neither from its callback nor from another thread. */
pl_status pl_get_scene(uint64_t handle, pl_scene** scene);
pl_status pl_get_body(uint64_t handle, pl_body** body, pl_scene** scene);
/* A body, collider or field ("what"), and its scene. */
pl_status pl_get_owned(uint64_t handle, uint32_t kind, const char* what, void** object,
                       pl_scene** scene);
/* Takes the scene for the call of this name (static storage) until pl_scene_leave. */
pl_status pl_scene_enter(pl_scene* scene, const char* call);
void pl_scene_leave(pl_scene* scene);

pl_status pl_check_body_desc(const pliant_body_desc* desc);
pl_status pl_check_material(const pliant_material_desc* material);
/* Whether levels of this number and kind can flow. */
pl_status pl_check_plastic(const pliant_material_desc* m, uint32_t levels, uint32_t kind);

pl_status pl_check_fracture(const pliant_fracture_desc* desc);

/* Brings fits up to date, so that they can be read. */
pl_status pl_make_current(pl_scene* scene);

/* Particle values by external id. */
void pl_body_positions(const pl_body* body, const double origin[3], float* out);
void pl_body_velocities(const pl_body* body, float* out);
void pl_body_rest(const pl_body* body, const double origin[3], float* out);
/* Blended gradients (and their rates, or NULL) of all particles, 9 floats each. */
pl_status pl_body_deformation(const pl_body* body, float* f, float* rate);
/* Nearest cluster of a level, by particle. */
/* read_offsets.c: p of the members of clusters [first, end), "at" being where each cluster's
 * begin; they are used up. */
void pl_body_offsets(const pl_body* body, uint32_t first, uint32_t end, uint32_t* at,
                     float (*out)[3]);
pl_status pl_body_nearest(const pl_body* body, uint32_t level, uint32_t* out);
/* PLIANT_CLUSTER_PLANES of a level. */
pl_status pl_body_planes(const pl_body* body, uint32_t level, const double to[3], float* out);
/* The channels from PLIANT_PARENT to PLIANT_DIVIDED; as pliant_body_read. */
pl_status pl_body_read_fracture(const pl_body* body, uint32_t channel, const double* origin,
                                void* buffer, uint64_t* bytes);
/* Bytes of an item of these channels. */
uint32_t pl_fracture_width(uint32_t channel);
/* read_merged.c, of particles that were merged with others. Where one's material is, from its
 * successor: the offset through "map", blended by the successor's clusters. */
void pl_merged_offset(const pl_body* body, uint32_t id,
                      void (*map)(const pl_body*, uint32_t cluster, float m[9]), float out[3]);
/* Values by particle, "width" bytes each: they get their successors'. */
void pl_merged_inherit(const pl_body* body, uint32_t width, void* values);
/* How many memberships its successor has. */
uint32_t pl_merged_memberships(const pl_body* body, uint32_t id);
/* Memberships by particle, with theirs; what pl_body_memberships() lists. */
uint64_t pl_body_membership_count(const pl_body* body);
/* By particle: mass of the first one that it came of (pl_resampled). */
void pl_body_shares(const pl_body* body, float* out);
/* The piece of each particle. */
void pl_body_pieces(const pl_body* body, uint32_t* out);
/* Members of the clusters of a level; begin has one more than clusters. particle NULL: begin only.
 */
pl_status pl_body_members(const pl_body* body, uint32_t level, uint32_t* begin, uint32_t* particle,
                          float* weight);
/* Memberships of the finest level by particle, in the order in which the particle's deformation is
 * summed; begin has one more than particles. */
void pl_body_memberships(const pl_body* body, uint32_t* begin, uint32_t* cluster, float* weight);
/* F and dF/dt of a finest cluster, its rigid rotation applied to F, both as maps of the body's rest
 * shape. A cluster that was made anew from a body that had flowed has a rest shape of its own, in
 * which it knows nothing of the flow before: the way there from the body's comes first, so that
 * surfaces go on as they were when clusters change. */
void pl_cluster_gradient(const pl_body* body, uint32_t c, float f[9]);
void pl_cluster_rate(const pl_body* body, uint32_t c, float rate[9]);

/* The largest singular value of a row-major 3x3 matrix. */
float pl_largest_stretch(const float f[9]);

/* Takes an object out of one of a scene's lists; returns where it was. */
uint32_t pl_list_remove(void* list, uint32_t* count, const void* object);
/* Removes a body from its scene and frees it. */
void pl_scene_remove_body(pl_scene* scene, pl_body* body);
void pl_scene_clear(pl_scene* scene);
pl_status pl_scene_hash_state(pl_scene* scene, uint64_t* hash);
pl_status pl_scene_save_block(pl_scene* scene, void* buffer, uint64_t* bytes);
pl_status pl_scene_restore_block(pl_scene* scene, const void* buffer, uint64_t bytes);

#endif
