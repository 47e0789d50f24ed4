// SPDX-License-Identifier: GPL-3.0-or-later
/* Declarations shared by the files of the API: objects behind handles, argument checks. */
#ifndef PL_API_API_H
#define PL_API_API_H

#include "base/handles.h"
#include "dynamics/scene.h"
#include "output/skin/skin.h"
#include "output/store/connectivity_history.h"
#include "output/store/frames.h"

/* Whether the caller's descriptor was initialised: its first field is its size. */
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
    uint64_t layout_of;            /* hash of the layout that was written last (store.c) */
    pl_connectivity_history pairs; /* cache of the last query */
} pl_store_object;

pl_status pl_get_store(uint64_t handle, pl_store_object** store);

/* Every call obtains its scene through one of these. They fail with PLIANT_ERROR_STATE while the
 * scene is entered by a long call, so that neither its callback nor another thread can change, free
 * or read its data halfway. */
pl_status pl_get_scene(uint64_t handle, pl_scene** scene);
pl_status pl_get_body(uint64_t handle, pl_body** body, pl_scene** scene);
/* A body, collider or field ("what"), and its scene. */
pl_status pl_get_owned(uint64_t handle, uint32_t kind, const char* what, void** object,
                       pl_scene** scene);
/* Locks the scene for the call of this name (static storage) until pl_scene_leave. */
pl_status pl_scene_enter(pl_scene* scene, const char* call);
void pl_scene_leave(pl_scene* scene);

pl_status pl_check_body_desc(const pliant_body_desc* desc);
pl_status pl_check_material(const pliant_material_desc* material);
/* Whether plasticity is possible with levels of this number and kind. */
pl_status pl_check_plastic(const pliant_material_desc* m, uint32_t levels, uint32_t kind);

pl_status pl_check_fracture(const pliant_fracture_desc* desc);

/* Updates the fits before they are read. */
pl_status pl_make_current(pl_scene* scene);

/* Particle values by external id. */
void pl_body_positions(const pl_body* body, const double origin[3], float* out);
void pl_body_velocities(const pl_body* body, float* out);
void pl_body_rest(const pl_body* body, const double origin[3], float* out);
/* Blended gradients (and their rates, or NULL) of all particles, 9 floats each. */
pl_status pl_body_deformation(const pl_body* body, float* f, float* rate);
/* read_offsets.c: rest offsets p of the members of clusters [first, end). "at": output index of
 * each cluster's first member; advanced by the call. */
void pl_body_offsets(const pl_body* body, uint32_t first, uint32_t end, uint32_t* at,
                     float (*out)[3]);
/* Nearest cluster of a level, by particle. */
pl_status pl_body_nearest(const pl_body* body, uint32_t level, uint32_t* out);
/* PLIANT_CLUSTER_PLANES of a level. */
pl_status pl_body_planes(const pl_body* body, uint32_t level, const double to[3], float* out);
/* The channels from PLIANT_PARENT to PLIANT_DIVIDED; as pliant_body_read. */
pl_status pl_body_read_fracture(const pl_body* body, uint32_t channel, const double* origin,
                                void* buffer, uint64_t* bytes);
/* Bytes of an item of these channels. */
uint32_t pl_fracture_width(uint32_t channel);
/* read_merged.c: particles that were merged with others. Offset of the material of particle id from
 * its successor: the stored rest offset mapped by "map", blended over the successor's clusters. */
void pl_merged_offset(const pl_body* body, uint32_t id,
                      void (*map)(const pl_body*, uint32_t cluster, float m[9]), float out[3]);
/* Copies the values of successors to merged particles, "width" bytes each. */
void pl_merged_inherit(const pl_body* body, uint32_t width, void* values);
/* Number of memberships of the successor of a merged particle. */
uint32_t pl_merged_memberships(const pl_body* body, uint32_t id);
/* Number of memberships that pl_body_memberships() lists, with those of merged particles. */
uint64_t pl_body_membership_count(const pl_body* body);
/* By particle: its share of the mass of its initial ancestor (pl_resampled). */
void pl_body_shares(const pl_body* body, float* out);
/* The piece of each particle. */
void pl_body_pieces(const pl_body* body, uint32_t* out);
/* Members of the clusters of a level in CSR form. particle NULL: begin only. */
pl_status pl_body_members(const pl_body* body, uint32_t level, uint32_t* begin, uint32_t* particle,
                          float* weight);
/* Memberships of the finest level by particle in CSR form, in the order in which the particle's
 * deformation is summed. */
void pl_body_memberships(const pl_body* body, uint32_t* begin, uint32_t* cluster, float* weight);
/* F and dF/dt (of its rigid rotation) of a finest cluster, both as maps of the body's rest shape. A
 * cluster made by reclustering has its own rest shape, without the earlier flow: the map from the
 * body's rest shape is applied first, so that skinned surfaces are continuous. */
void pl_cluster_gradient(const pl_body* body, uint32_t c, float f[9]);
void pl_cluster_rate(const pl_body* body, uint32_t c, float rate[9]);

/* The largest singular value of a row-major 3x3 matrix. */
float pl_largest_stretch(const float f[9]);

/* Removes an object from one of a scene's lists; returns its former index. */
uint32_t pl_list_remove(void* list, uint32_t* count, const void* object);
/* Removes a body from its scene and frees it. */
void pl_scene_remove_body(pl_scene* scene, pl_body* body);
void pl_scene_clear(pl_scene* scene);
pl_status pl_scene_hash_state(pl_scene* scene, uint64_t* hash);
pl_status pl_scene_save_block(pl_scene* scene, void* buffer, uint64_t* bytes);
pl_status pl_scene_restore_block(pl_scene* scene, const void* buffer, uint64_t bytes);

#endif
