// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * pliant.h: the public interface of the Pliant soft-body library.
 *
 *   mesh or points --> body (particles, clusters, levels) --> frames --> skinned vertices
 *
 * Clustered shape matching: a body is sampled with particles. Each of many overlapping clusters
 * fits its rest shape to the current positions of its members and pulls the members toward the fit.
 *
 * How the library is used
 *   1. Check pliant_abi_version() against PLIANT_ABI_VERSION before any other call.
 *   2. Create a scene, then bodies, colliders and fields in it.
 *   3. For each frame: set the state of colliders, pins and fields at the END of that frame, then
 *      call pliant_scene_advance(). It interpolates them over the frame's substeps.
 *   4. Read particles back, skin meshes with them, or write frames to a store on disk.
 *
 * Conventions
 *   Units are metres, seconds, kilograms (or any consistent set). Arrays of vectors are tightly
 *   packed x y z. Matrices are row-major. Quaternions are w x y z. Indices start at 0.
 *   Positions are passed as float relative to an origin in double that the caller chooses
 *   ("origin", NULL means the world's zero), so that precision is kept far from zero.
 *   Input is copied. The caller owns every buffer; the library uses it during the call only.
 *   Descriptors start with their own size: call the matching ..._init() with sizeof, then change
 *   members. A descriptor that was zeroed by hand is rejected with PLIANT_ERROR_ARGUMENT.
 *
 * Errors
 *   Every call that can fail returns a pliant_status. pliant_last_error() then returns a sentence
 *   that names the offending value; it is stored per thread. A failed call changes nothing, unless
 *   documented otherwise.
 *
 * Handles
 *   A handle is an integer with a generation. A handle of a destroyed object, or any invalid
 *   number, gives PLIANT_ERROR_STALE_HANDLE and never a crash. Zero is never a valid handle.
 *
 * Threads and callbacks
 *   A scene may be used by one thread at a time, except pliant_scene_cancel(), which any thread may
 *   call at any time. Different scenes may be used concurrently. While pliant_scene_advance(),
 *   pliant_body_create(), pliant_scene_save(), pliant_scene_restore(), pliant_store_write_frame()
 *   or pliant_store_restore() runs on a scene, every other call on the scene or on its bodies,
 *   colliders, fields and skins of bodies, including reads, returns PLIANT_ERROR_STATE and changes
 *   nothing, both from other threads and from a progress callback. pliant_scene_cancel() and calls
 *   on other scenes and on stores are allowed. Results do not depend on the number of threads or
 *   on the SIMD path.
 */
#ifndef PLIANT_H
#define PLIANT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

#if defined(_WIN32) && defined(PLIANT_BUILDING)
#define PLIANT_API __declspec(dllexport)
#elif defined(__GNUC__)
#define PLIANT_API __attribute__((visibility("default")))
#else
#define PLIANT_API
#endif

/* Incremented whenever a struct, an enum or a function changes meaning. */
#define PLIANT_ABI_VERSION 6

/* Maximum number of levels of clusters of a body. */
#define PLIANT_MAX_LEVELS 16

/* ------------------------------------------------------------------ status */

/* X macro: codes, names and general meanings. */
#define PLIANT_STATUS_LIST(X)                                                                      \
    X(PLIANT_OK, 0, "done")                                                                        \
    X(PLIANT_CANCELLED, 1, "stopped because a cancel was asked for")                               \
    X(PLIANT_ERROR_ARGUMENT, 2, "an argument is out of range, missing or not a number")            \
    X(PLIANT_ERROR_STALE_HANDLE, 3, "a handle names nothing that exists")                          \
    X(PLIANT_ERROR_MEMORY, 4, "not enough memory")                                                 \
    X(PLIANT_ERROR_MESH, 5, "a mesh cannot be used")                                               \
    X(PLIANT_ERROR_CLUSTERING, 6, "no clustering could be found")                                  \
    X(PLIANT_ERROR_STATE, 7, "the call does not fit the state that the object is in")              \
    X(PLIANT_ERROR_BUFFER, 8, "a buffer is too small")                                             \
    X(PLIANT_ERROR_FILE, 9, "a file could not be read or written")                                 \
    X(PLIANT_ERROR_FORMAT, 10, "data is damaged, or of another version")                           \
    X(PLIANT_ERROR_UNSUPPORTED, 11, "this build or machine cannot do that")                        \
    X(PLIANT_ERROR_UNSTABLE, 12, "the simulation left the range of numbers")                       \
    X(PLIANT_ERROR_INTERNAL, 13, "a fault in the library")

    typedef enum pliant_status
    {
#define PLIANT_STATUS_ENUM(name, value, text) name = value,
        PLIANT_STATUS_LIST(PLIANT_STATUS_ENUM)
#undef PLIANT_STATUS_ENUM
    } pliant_status;

    /* The ABI version this library was built with. */
    PLIANT_API uint32_t pliant_abi_version(void);

    /* "major.minor.patch", static storage. */
    PLIANT_API const char* pliant_version(void);

    /* Build options: LAPACK, compression, SIMD paths. Static storage. */
    PLIANT_API const char* pliant_build_info(void);

    /* Name of a status ("PLIANT_ERROR_MESH"), and its general meaning. Static storage. */
    PLIANT_API const char* pliant_status_name(pliant_status status);
    PLIANT_API const char* pliant_status_text(pliant_status status);

    /* Sentence for the calling thread's last failure; "" if there was none. Valid until the
     * thread's next call. */
    PLIANT_API const char* pliant_last_error(void);

    /* ------------------------------------------------------------------ handles and callbacks */

    typedef uint64_t pliant_scene;
    typedef uint64_t pliant_body;
    typedef uint64_t pliant_collider;
    typedef uint64_t pliant_field;
    typedef uint64_t pliant_skin;
    typedef uint64_t pliant_store;

    /* Progress callback of long calls, on the calling thread. "fraction" grows from 0 to 1, "stage"
     * names the current stage (static storage). Return non-zero to cancel. The callback may call
     * pliant_scene_cancel(); other calls on the same scene fail, see above. */
    typedef int32_t (*pliant_progress_fn)(void* user, double fraction, const char* stage);

    /* ------------------------------------------------------------------ scene */

    typedef enum pliant_simd
    {
        PLIANT_SIMD_AUTO = 0, /* the widest path that the machine supports */
        PLIANT_SIMD_SCALAR = 1,
        PLIANT_SIMD_SSE2 = 2,
        PLIANT_SIMD_AVX2 = 3,
        PLIANT_SIMD_AVX512 = 4,
        PLIANT_SIMD_NEON = 5,
    } pliant_simd;

    typedef struct pliant_scene_desc
    {
        uint32_t size;    /* sizeof this struct, set by init */
        uint32_t threads; /* maximum; 0: one per core (default) */
        uint32_t simd;    /* a pliant_simd; default AUTO. PLIANT_ERROR_UNSUPPORTED if the machine
                             lacks the path */
        uint32_t reserved;
        double gravity[3]; /* default 0 0 -9.81 */
    } pliant_scene_desc;

    PLIANT_API void pliant_scene_desc_init(pliant_scene_desc* desc, size_t size);

    PLIANT_API pliant_status pliant_scene_create(const pliant_scene_desc* desc,
                                                 pliant_scene* scene);
    /* Destroys the scene with all its bodies, colliders and fields. Zero is allowed and does
     * nothing. */
    PLIANT_API pliant_status pliant_scene_destroy(pliant_scene scene);

    PLIANT_API pliant_status pliant_scene_set_gravity(pliant_scene scene, const double gravity[3]);
    /* May be called between frames; does not change results. 0: one per core. */
    PLIANT_API pliant_status pliant_scene_set_threads(pliant_scene scene, uint32_t threads);

    typedef struct pliant_scene_info
    {
        uint32_t size;
        uint32_t threads; /* in use */
        uint32_t simd;    /* in use, a pliant_simd */
        uint32_t bodies;
        uint32_t colliders;
        uint32_t fields;
        uint64_t particles;        /* over all bodies */
        uint64_t clusters;         /* over all bodies and levels */
        uint64_t memberships;      /* over all bodies and levels */
        uint64_t bytes;            /* memory in use */
        uint64_t frame;            /* whole frames advanced */
        uint64_t substep;          /* total substeps advanced */
        uint32_t substep_of_frame; /* non-zero: an advance was cancelled inside this frame */
        uint32_t substeps;         /* substeps of the last or current frame */
        double time;               /* seconds advanced */
        uint64_t pairs_tested;   /* strain-limit pairs tested in the last substep, all iterations */
        uint64_t pairs_violated; /* of them, those over the limit */
        uint64_t contacts; /* contacts of particles with colliders and bodies in the last substep */
        uint64_t mesh_nodes;     /* BVH nodes of mesh colliders visited in the last substep */
        uint64_t mesh_triangles; /* triangles tested there, once per eight particles */
        uint64_t welds;          /* unbroken bonds */
        uint64_t asleep;         /* sleeping bodies */
    } pliant_scene_info;

    PLIANT_API void pliant_scene_info_init(pliant_scene_info* info, size_t size);
    PLIANT_API pliant_status pliant_scene_get_info(pliant_scene scene, pliant_scene_info* info);

    /* Handle of the index-th body, in order of creation. Restoring a scene changes all handles. */
    PLIANT_API pliant_status pliant_scene_get_body(pliant_scene scene, uint32_t index,
                                                   pliant_body* body);
    /* The same for colliders and fields. */
    PLIANT_API pliant_status pliant_scene_get_collider(pliant_scene scene, uint32_t index,
                                                       pliant_collider* collider);
    PLIANT_API pliant_status pliant_scene_get_field(pliant_scene scene, uint32_t index,
                                                    pliant_field* field);

    typedef struct pliant_frame_desc
    {
        uint32_t size;
        uint32_t
            substeps; /* 0: as many as the stiffest body needs, at most max_substeps (default) */
        uint32_t max_substeps; /* default 32; 8 times this for bodies that may break, because a body
                                  that is too soft breaks under its own weight. Stiffness that needs
                                  more is reduced: PLIANT_WARN_STIFFNESS_CUT */
        uint32_t reserved;
        double dt;                   /* length of the frame in seconds; default 1/24 */
        pliant_progress_fn progress; /* may be NULL */
        void* user;
    } pliant_frame_desc;

    PLIANT_API void pliant_frame_desc_init(pliant_frame_desc* desc, size_t size);

    /* Advances the scene by one frame. PLIANT_CANCELLED leaves the scene between two substeps:
     * calling again with the same descriptor finishes the frame with bit-identical results.
     * PLIANT_ERROR_UNSTABLE means that values of a body overflowed; the scene can then only be
     * destroyed or restored. */
    PLIANT_API pliant_status pliant_scene_advance(pliant_scene scene,
                                                  const pliant_frame_desc* desc);

    /* Requests that a running advance, create or write on this scene stops, within one substep.
     * Callable from any thread. The stopped call clears the request; if no call is running, the
     * next one stops. */
    PLIANT_API pliant_status pliant_scene_cancel(pliant_scene scene);

    /* Number of substeps that pliant_scene_advance() takes for a frame of this length with
     * substeps = 0. max_substeps is between 1 and 100,000, as in pliant_frame_desc. */
    PLIANT_API pliant_status pliant_scene_auto_substeps(pliant_scene scene, double dt,
                                                        uint32_t max_substeps, uint32_t* substeps);

    /* Hash of the whole simulated state: identical for every thread count, SIMD path and run. */
    PLIANT_API pliant_status pliant_scene_hash(pliant_scene scene, uint64_t* hash);

    typedef enum pliant_stage
    {
        PLIANT_STAGE_FORCES = 0, /* fields, pressure */
        PLIANT_STAGE_PARTICLES,  /* blend goals, integrate, sum moments */
        PLIANT_STAGE_MATCH,      /* reduce moments, fit clusters */
        PLIANT_STAGE_LEVELS,     /* coarse levels up and down */
        PLIANT_STAGE_LIMIT,      /* strain limiting */
        PLIANT_STAGE_CONTACT,    /* colliders */
        PLIANT_STAGE_RECLUSTER,  /* clusters that come and go */
        PLIANT_STAGE_FRACTURE,   /* clusters that break */
        PLIANT_STAGE_OTHER,
        PLIANT_STAGE_COUNT
    } pliant_stage;

    /* Milliseconds spent in each stage since the scene was created or last reset. Non-zero "reset"
     * sets them to 0 afterwards. */
    PLIANT_API pliant_status pliant_scene_profile(pliant_scene scene, double ms[PLIANT_STAGE_COUNT],
                                                  int32_t reset);
    PLIANT_API const char* pliant_stage_name(uint32_t stage);

    /* Saves the whole state (settings, bodies, colliders, fields, position in the frame) as one
     * block with a checksum. With buffer NULL, *bytes becomes the size needed; otherwise it is the
     * buffer's size on input and the size used on output. A restored scene continues with
     * bit-identical results. */
    PLIANT_API pliant_status pliant_scene_save(pliant_scene scene, void* buffer, uint64_t* bytes);
    /* Replaces everything in the scene except its thread count and SIMD path. A damaged block or
     * one of another version gives PLIANT_ERROR_FORMAT and does not change the scene. */
    PLIANT_API pliant_status pliant_scene_restore(pliant_scene scene, const void* buffer,
                                                  uint64_t bytes);

    /* ------------------------------------------------------------------ parts of a body desc */

    /* A triangle soup. Defects are allowed: unusable triangles and vertices are skipped with a
     * warning. */
    typedef struct pliant_mesh_desc
    {
        uint32_t size;
        uint32_t vertex_count;
        uint32_t triangle_count;
        uint32_t reserved;
        const float* vertices;     /* 3 * vertex_count, relative to origin */
        const uint32_t* triangles; /* 3 * triangle_count */
        double origin[3];          /* default 0 */
    } pliant_mesh_desc;

    PLIANT_API void pliant_mesh_desc_init(pliant_mesh_desc* desc, size_t size);

    typedef enum pliant_sampling
    {
        PLIANT_SAMPLE_AUTO = 0,   /* blue noise if the mesh has a volume, otherwise surface */
        PLIANT_SAMPLE_BLUE_NOISE, /* Poisson disks in the volume (Bridson 2007) */
        PLIANT_SAMPLE_GRID,       /* a regular grid in the volume; blue noise if no grid has about
                                     as many points */
        PLIANT_SAMPLE_SURFACE,    /* Poisson disks on the surface */
        PLIANT_SAMPLE_VERTICES,   /* the mesh's own vertices */
    } pliant_sampling;

    /* Treatment of the shells of a mesh: parts that share no vertex. */
    typedef enum pliant_shells
    {
        PLIANT_SHELLS_TOGETHER = 0, /* clusters ignore shells and connect what is near */
        PLIANT_SHELLS_TOUCHING = 1, /* shells that overlap, contain each other, or are at most the
                                       spacing apart are joined; others share no cluster */
        PLIANT_SHELLS_APART = 2,    /* shells share no cluster, except a shell inside another that
                                       does not touch it. Volume common to two shells belongs to the
                                       smaller */
    } pliant_shells;

    typedef struct pliant_sample_desc
    {
        uint32_t size;
        uint32_t mode;  /* a pliant_sampling */
        uint32_t count; /* particles, met within 2 %; used if spacing is 0; default 5000 */
        uint32_t seed;
        double spacing;        /* least distance between particles; 0: from count (default) */
        double thickness;      /* of the material, for SURFACE and open VERTICES; 0: the spacing
                                  (default) */
        uint32_t shells_apart; /* a pliant_shells. Each vertex of a skin follows the particles of
                                  a single part; default TOUCHING */
        uint32_t reserved;
    } pliant_sample_desc;

    PLIANT_API void pliant_sample_desc_init(pliant_sample_desc* desc, size_t size);

    typedef enum pliant_clustering
    {
        PLIANT_CLUSTER_FUZZY = 0, /* the method of Jones et al. 2015 */
        PLIANT_CLUSTER_KMEANS,
        PLIANT_CLUSTER_RANDOM, /* the radius determines the count */
    } pliant_clustering;

    typedef enum pliant_kernel
    {
        PLIANT_KERNEL_INVSQ = 0, /* 1 / (d^2 + parameter radius^2); parameter default 1e-4 */
        PLIANT_KERNEL_BOX,       /* 1 */
        PLIANT_KERNEL_POLY6,     /* (1 - d^2/radius^2)^3 */
        PLIANT_KERNEL_BLEND,     /* parameter + poly6, relative to poly6(0) = 1; default .1 */
        PLIANT_KERNEL_FCM,       /* fuzzy c-means with exponent m = parameter > 1; default 2 */
    } pliant_kernel;

    typedef struct pliant_cluster_desc
    {
        uint32_t size;
        uint32_t algorithm;  /* a pliant_clustering */
        uint32_t kernel;     /* a pliant_kernel */
        uint32_t count;      /* number of clusters; 0: from cluster_size (default) */
        double cluster_size; /* length; 0: about 30 particles per cluster (default). At least three
                                particles per cluster */
        double radius;       /* of the clusters; 0: the smallest that converges with the overlap */
        double overlap;      /* target memberships per particle if radius is 0; default 5 */
        double kernel_parameter; /* 0: the kernel's default */
        uint32_t max_iterations; /* default 100 */
        uint32_t seed;
        uint32_t
            fixed; /* non-zero: count and radius are not increased until the clustering converges;
                      failing to converge is then a warning */
        uint32_t reserved;
    } pliant_cluster_desc;

    PLIANT_API void pliant_cluster_desc_init(pliant_cluster_desc* desc, size_t size);

    typedef enum pliant_level_kind
    {
        PLIANT_LEVELS_NESTED = 0,  /* coarse clusters consist of fine clusters */
        PLIANT_LEVELS_INDEPENDENT, /* each level clusters the particles (Kaliappan and Bargteil
                                      2020) */
    } pliant_level_kind;

    typedef enum pliant_weighting
    {
        PLIANT_WEIGHT_UNIFORM = 0,
        PLIANT_WEIGHT_LINEAR,     /* distance in levels + a; default 0.01 */
        PLIANT_WEIGHT_GAUSSIAN,   /* exp(-distance^2/2) */
        PLIANT_WEIGHT_POLYNOMIAL, /* (1 + a distance / levels)^b; defaults 10, 2 */
        PLIANT_WEIGHT_MANUAL,
    } pliant_weighting;

    typedef struct pliant_levels_desc
    {
        uint32_t size;
        uint32_t kind;      /* a pliant_level_kind */
        uint32_t count;     /* levels; 1: the finest only (default); 0: up to a single cluster */
        uint32_t reduction; /* cluster count of a level over that of the next coarser; default 8 */
        double radius_multiplier; /* default 2 */
        uint32_t weighting;       /* a pliant_weighting */
        uint32_t favour_fine; /* non-zero: finer levels weigh more; zero: coarser ones (default) */
        double a;             /* parameters of the weighting; -1: its defaults (default) */
        double b;
        double weights[PLIANT_MAX_LEVELS]; /* for MANUAL, finest first; normalised by the library */
        double damping[PLIANT_MAX_LEVELS]; /* factors on the damping, finest first; default 1 */
    } pliant_levels_desc;

    PLIANT_API void pliant_levels_desc_init(pliant_levels_desc* desc, size_t size);

    typedef enum pliant_stiffness
    {
        PLIANT_STIFFNESS_FREQUENCY = 0, /* hertz, of the whole body: independent of its size */
        PLIANT_STIFFNESS_YOUNG,         /* pascals */
        PLIANT_STIFFNESS_ALPHA,         /* alpha per substep, 0 to 2 (Kaliappan and Bargteil
                                           2020) */
    } pliant_stiffness;

/* Largest beta. With 1, goals resist only a change of volume and no shear, and the energy of an
 * undamped body grows without bound. */
#define PLIANT_BETA_MOST 0.95

    typedef enum pliant_goal
    {
        PLIANT_GOAL_RIGID = 0,
        PLIANT_GOAL_LINEAR,    /* rigid blended with the volume-preserving linear fit by "beta" */
        PLIANT_GOAL_QUADRATIC, /* LINEAR with bending and twisting modes (Mueller et al. 2005); with
                                  stiffness in hertz or pascals these modes have the material's
                                  stiffness for any beta */
    } pliant_goal;

    typedef enum pliant_rotation
    {
        PLIANT_ROTATION_GRADIENT = 0, /* of the deformation gradient, torque removed */
        PLIANT_ROTATION_MOMENT,       /* of A_xr (Mueller et al. 2005) */
    } pliant_rotation;

    /* Replacement of clusters whose rest shape has flowed too far. */
    typedef enum pliant_recluster
    {
        PLIANT_RECLUSTER_OFF = 0,
        PLIANT_RECLUSTER_ON,    /* they fade out, and new clusters fade in, whose rest shape is the
                                   best embedding of the body's (Falkenstein 2017) */
        PLIANT_RECLUSTER_WORLD, /* the new rest shapes are the current positions, for comparison:
                                   elastic strain is lost */
    } pliant_recluster;

    typedef struct pliant_material_desc
    {
        uint32_t size;
        uint32_t stiffness_kind;  /* a pliant_stiffness */
        double stiffness;         /* in the kind's unit; default 2 (Hz) */
        double damping;           /* per second: the energy of deformation falls as exp(-damping t),
                                    the amplitude of each mode as exp(-damping t / 2), independent
                                    of clusters, levels and substeps, up to critical damping. It
                                    acts relative to the rigid motion of each connected component,
                                    so linear and angular momentum are conserved. Held particles and
                                    contacts that hardly move define that motion instead, so that
                                    bodies come to rest. Default 1 */
        double density;           /* kg per cubic metre; default 1000. Fixed at creation */
        double strain_limit;      /* gamma: largest distance of a member from its goal, over the
                                    cluster's width; 0: off (default) */
        double strain_relaxation; /* omega at 1/60 s; default 0.3 */
        uint32_t strain_iterations; /* default 4 */
        uint32_t goal;              /* a pliant_goal. Fixed at creation */
        double beta;                /* of LINEAR and QUADRATIC, 0 to PLIANT_BETA_MOST; default 0.5.
                                       With hertz or pascals Young's modulus does not depend on it;
                                       Poisson's ratio is beta / (3 - beta) */
        uint32_t rotation;          /* a pliant_rotation */
        uint32_t damping_per_step;  /* non-zero: damping is k_d per substep, 0 to 1 (Kaliappan and
                                       Bargteil 2020) */
        double pressure;  /* stiffness of the enclosed volume, in pascals per unit of relative
                             volume lost; 0: off (default). Needs a mesh with at least one part that
                             encloses a volume, except for small holes; each part has its own
                             volume. Limited to what is stable in a substep */
        double inflation; /* target volume over the rest volume; default 1 */
        double drag;      /* rate per second of damping toward rest in the world (air); default 0 */
        double yield;     /* elastic strain |s - 1| above which material flows, s being the elastic
                         stretch without its change of volume; 0: always flows; INFINITY: never
                         (default). Not with QUADRATIC goals or independent levels */
        double flow; /* rate per second at which strain over the yield strain flows; default 20 */
        double hardening;     /* growth of the yield strain per unit of plastic strain; negative:
                             softening; default 0 */
        double plastic_limit; /* largest plastic strain |s_p - 1|, beyond which material is elastic;
                                 0: no limit (default) */
        uint32_t flow_per_step; /* non-zero: flow is nu per substep (Falkenstein 2017); with 1 or
                                   more all strain over the yield strain flows at once */
        uint32_t recluster;     /* a pliant_recluster, for bodies that yield; default ON */
        double recluster_condition; /* condition number of F^p (its largest stretch over its least)
                                       over which a cluster is replaced, greater than 1;
                                       default 2 */
        double recluster_fade_in;   /* seconds in which a new cluster fades in; default .4 */
        double recluster_fade_out;  /* seconds in which an old one fades out, once its particles
                                       have other clusters; default .6 */
        uint32_t recluster_least;   /* minimum number of non-fading clusters per particle, below
                                       which a new cluster is made; 0: keep the initial mean
                                       (default). Falkenstein 2017 uses 1 */
        uint32_t resample; /* non-zero: a particle whose material is stretched to twice the spacing
                              is divided in two, with its mass, momentum and angular momentum, up to
                              four times the initial number of particles. Two particles that are
                              neighbours in a direction in which their material is compressed below
                              half the spacing are merged, with their mass and momentum, into one
                              with a new id (PLIANT_SUCCESSOR). Ids are limited to eight times their
                              initial number. Not allowed for bodies that may break; no effect on
                              bodies with pressure. Default 0 */
    } pliant_material_desc;

    PLIANT_API void pliant_material_desc_init(pliant_material_desc* desc, size_t size);

    /* ------------------------------------------------------------------ bodies */

    typedef struct pliant_body_desc
    {
        uint32_t size;
        uint32_t point_count; /* 0: sample the mesh (default) */
        const float* points;  /* particle positions, 3 * point_count, relative to points_origin */
        const float* volumes; /* one per point, or NULL: from the spacing */
        double points_origin[3];
        pliant_mesh_desc mesh; /* may be empty if points are given (then no pressure) */
        pliant_sample_desc sample;
        pliant_cluster_desc cluster;
        pliant_levels_desc levels;
        pliant_material_desc material;
        double velocity[3];         /* initial */
        double angular_velocity[3]; /* initial, radians per second, about the centre of mass */
        /* Painted factors, one per mesh vertex (per point where points are given), or NULL: 1. */
        const float* stiffness_factor;
        const float* damping_factor;
        const float* strain_limit_factor;
        const float* density_factor;
        const float* yield_factor;
        const float* flow_factor;
        const float* hardening_factor;
        const float* toughness_factor;
        pliant_progress_fn progress; /* may be NULL */
        void* user;
    } pliant_body_desc;

    PLIANT_API void pliant_body_desc_init(pliant_body_desc* desc, size_t size);

    PLIANT_API pliant_status pliant_body_create(pliant_scene scene, const pliant_body_desc* desc,
                                                pliant_body* body);
    PLIANT_API pliant_status pliant_body_destroy(pliant_body body);

    /* Deviations from the settings; each has a sentence in pliant_body_warning_text(). */
    typedef enum pliant_warning
    {
        PLIANT_WARN_NO_VOLUME = 1,        /* sampled on the surface: the mesh encloses no volume */
        PLIANT_WARN_MESH_DEFECTS = 2,     /* triangles or vertices were skipped */
        PLIANT_WARN_CLUSTERS_GROWN = 4,   /* count and radius of clusters were increased until the
                                             clustering converged */
        PLIANT_WARN_NOT_CONVERGED = 8,    /* the clustering did not converge */
        PLIANT_WARN_FLAT_CLUSTERS = 16,   /* some clusters have no thickness and were regularised */
        PLIANT_WARN_STIFFNESS_MOVED = 32, /* part of the stiffness moved to coarser levels */
        PLIANT_WARN_STIFFNESS_CUT = 64,   /* not reached with the allowed substeps: it is softer */
        PLIANT_WARN_COUNT_MISSED = 128,   /* the requested particle count could not be met */
        PLIANT_WARN_SHELLS_JOINED = 256,  /* shells too small for own clusters were joined */
        PLIANT_WARN_STIFF_BENDING = 512,  /* hardly thicker than its clusters: with RIGID or LINEAR
                                             goals it bends less than its stiffness implies */
        PLIANT_WARN_LOOSE_CLUSTERS = 1024, /* the stiffness is uncertain: clusters are few, or share
                                              few or nearly all of their particles */
    } pliant_warning;

    typedef struct pliant_level_info
    {
        uint32_t clusters;
        uint32_t reserved;
        uint64_t memberships; /* particle-cluster pairs; for nested coarse levels cluster-cluster
                                 pairs */
        double radius;
        double weight;
        double alpha_mean;
    } pliant_level_info;

    typedef struct pliant_body_info
    {
        uint32_t size;
        uint32_t particles; /* existing ones; channels also have those that were merged */
        uint32_t levels;
        uint32_t warnings; /* pliant_warning bits */
        uint32_t sampling; /* the pliant_sampling in use */
        uint32_t cluster_iterations;
        uint32_t chunks;
        uint32_t reserved;
        double spacing;     /* between particles */
        double mass;        /* kg */
        double rest_volume; /* of the particles together */
        double sample_ms;   /* time of sampling and of clustering at creation */
        double cluster_ms;
        double cluster_radius;
        double overlap;       /* memberships per particle at the finest level */
        double width;         /* W_body: mass-weighted RMS radius */
        double mass_quantum;  /* kg; masses are whole multiples of it */
        uint64_t mass_quanta; /* mass of the body in quanta, conserved exactly */
        uint64_t bytes;
        double centre[3]; /* current centre of mass in the world */
        double momentum[3];
        double angular_momentum[3]; /* about the centre of mass */
        double kinetic_energy;
        double enclosed_volume;     /* of the skinned mesh with pressure, otherwise 0 */
        uint32_t pieces;            /* current connected components; 0: fracture was never set */
        uint32_t pieces_ever;       /* pieces numbered so far */
        uint64_t splits;            /* clusters split so far */
        uint64_t updates_max;       /* most memberships rewritten by splits in one substep */
        uint64_t recluster_events;  /* clusters made by reclustering so far */
        uint64_t recluster_updates; /* most memberships visited by reclustering in one substep,
                                       since the body was created or restored */
        pliant_level_info level[PLIANT_MAX_LEVELS]; /* finest first */
    } pliant_body_info;

    PLIANT_API void pliant_body_info_init(pliant_body_info* info, size_t size);
    PLIANT_API pliant_status pliant_body_get_info(pliant_body body, pliant_body_info* info);

    /* All warnings of the body as sentences, one per line; "" if there are none. Valid until the
     * body is destroyed or advanced, or this function is called for it again. */
    PLIANT_API const char* pliant_body_warning_text(pliant_body body);

    /* Data that can be read from a body. Particle channels are ordered by external id (0, 1, ... as
     * sampled or given), cluster channels by level, then index. f4 is float, f8 double, u4
     * uint32_t, u8 uint64_t; "a particle" means per particle. */
    typedef enum pliant_channel
    {
        PLIANT_POSITION = 0,     /* 3 f4 a particle, relative to the origin given */
        PLIANT_VELOCITY,         /* 3 f4 a particle */
        PLIANT_REST,             /* 3 f4 a particle, relative to the origin given */
        PLIANT_MASS,             /* 1 f4 a particle, kg */
        PLIANT_MASS_QUANTA,      /* 1 u8 a particle */
        PLIANT_SHELL,            /* 1 u4 a particle */
        PLIANT_DEFORMATION,      /* 9 f4 a particle: blended deformation gradients of its clusters,
                                    from the body's rest shape */
        PLIANT_STRETCH,          /* 1 f4 a particle: largest singular value of DEFORMATION */
        PLIANT_NEAREST_CLUSTER,  /* 1 u4 a particle: the cluster of "level" whose centre is nearest
                                    at rest */
        PLIANT_CLUSTER_CENTRE,   /* 3 f4 a cluster of "level": query centre at rest, relative to
                                    origin */
        PLIANT_CLUSTER_RADIUS,   /* 1 f4 a cluster of "level" */
        PLIANT_CLUSTER_MASS,     /* 1 f4 a cluster of "level" */
        PLIANT_CLUSTER_REST,     /* 3 f4 a cluster of "level": centre of mass at rest, relative to
                                    origin */
        PLIANT_CLUSTER_POSITION, /* 3 f4 a cluster of "level": current centre of mass, relative to
                                    origin */
        PLIANT_CLUSTER_GRADIENT, /* 9 f4 a cluster of "level": current F */
        PLIANT_CLUSTER_WIDTH, /* 2 f4 a cluster of "level": RMS radius W_c, largest rest distance */
        PLIANT_CLUSTER_ALPHA, /* 2 f4 a cluster of "level": alpha and damping of the last substep */
        PLIANT_MEMBER_BEGIN,  /* 1 u4 a cluster of "level", and one more: CSR offsets of members */
        PLIANT_MEMBER_PARTICLE, /* 1 u4 a membership: particle id (nested coarse: finer cluster
                                   index) */
        PLIANT_MEMBER_WEIGHT,   /* 1 f4 a membership: normalised weight */
        PLIANT_MEMBER_OFFSET,   /* 3 f4 a membership: rest offset p_ic (nested coarse: q_fc) */
        PLIANT_PLASTIC_STRAIN,  /* 1 f4 a particle: blended plastic strain of its clusters,
                                   accumulated over all flow */
        PLIANT_CLUSTER_PLASTIC, /* 10 f4 a cluster of "level": F^p, plastic strain */
        PLIANT_CLUSTER_PLANES,  /* 24 f4 a cluster of "level": up to six half-spaces n, a that bound
                                   its members (Jones et al. 2015, Eq. 15) and cracks (finest
                                   level): n . r + a <= 0, r at rest and relative to origin; unused
                                   ones have n = 0. Contacts do not use these, but the surface of
                                   pliant_body_surface_distance */
        PLIANT_PARENT,          /* 1 u4 a particle: the particle it is a copy of, or its own id */
        PLIANT_BIRTH,           /* 1 f8 a particle: time of its creation in frames (see fracture);
                                   -INFINITY for the initial ones */
        PLIANT_PIECE,           /* 1 u4 a particle: its piece */
        PLIANT_PIECE_PARENT,    /* 1 u4 a piece ever made: the piece it separated from; its own
                                   number for the initial ones */
        PLIANT_PIECE_BIRTH,     /* 1 f8 a piece ever made: time in frames; -INFINITY for the initial
                                 ones */
        PLIANT_SPLIT_PLANE,   /* 7 f4 a split: point (at rest, relative to origin), normal, reach */
        PLIANT_SPLIT_TIME,    /* 1 f8 a split: time in frames */
        PLIANT_SPLIT_CLUSTER, /* 2 u4 a split: the cluster, and the new one on the side that the
                                 normal points to */
        PLIANT_DIVIDED,       /* 4 u4 a particle that a split divided: split, particle, copy, 1 if
                                 the copy is on the side that the split's normal points to */
        PLIANT_CLUSTER_BIRTH, /* 1 u8 a cluster of "level": the substep that made it, counted from
                                 1; 0 for the initial ones */
        PLIANT_CLUSTER_FADE,  /* 1 f4 a cluster of "level": factor of its weights while it fades;
                                 0: dead, without members */
        PLIANT_RENEWED,       /* 1 f4 a particle: its weight in clusters made by reclustering */
        PLIANT_CELL,       /* 1 u4 a particle: its Voronoi cell; empty for bodies without cells */
        PLIANT_CELL_POINT, /* 3 f4 a cell: its point at rest. A cell is the set of places that are
                              nearest to its point at rest */
        PLIANT_SUCCESSOR,  /* 1 u4 a particle: its own id, or, once it was merged (see resample),
                              the particle that has its mass. A merged particle keeps its place in
                              all channels, with mass 0 and the position of its material */
    } pliant_channel;

    /* Reads a channel. With buffer NULL, *bytes becomes the size needed; otherwise it is the
     * buffer's size on input and the size written on output. "level" 0 is the finest; ignored by
     * particle channels other than NEAREST_CLUSTER. "origin" may be NULL. */
    PLIANT_API pliant_status pliant_body_read(pliant_body body, uint32_t channel, uint32_t level,
                                              const double origin[3], void* buffer,
                                              uint64_t* bytes);

    /* Sets positions (relative to origin) and velocities of all particles, by id; either may be
     * NULL. */
    PLIANT_API pliant_status pliant_body_set_particles(pliant_body body, uint32_t count,
                                                       const double origin[3],
                                                       const float* positions,
                                                       const float* velocities);

    /* Changes the material from the next substep on. density and goal cannot change
     * (PLIANT_ERROR_STATE). */
    PLIANT_API pliant_status pliant_body_set_material(pliant_body body,
                                                      const pliant_material_desc* material);

    typedef enum pliant_factor
    {
        PLIANT_FACTOR_STIFFNESS = 0,
        PLIANT_FACTOR_DAMPING,
        PLIANT_FACTOR_STRAIN_LIMIT,
        PLIANT_FACTOR_YIELD,
        PLIANT_FACTOR_FLOW,
        PLIANT_FACTOR_HARDENING,
        PLIANT_FACTOR_TOUGHNESS,
    } pliant_factor;

    /* Changes painted factors, one per particle by id, from the next substep on. They are averaged
     * to the clusters, which conserves momentum; for the toughness by the harmonic mean, because
     * the weakest places decide (factors below .02 count as .02). NULL: all 1. */
    PLIANT_API pliant_status pliant_body_set_factors(pliant_body body, uint32_t factor,
                                                     uint32_t count, const float* values);

    /* Interpolates values given at the mesh's vertices (vertex_count * width floats) to the
     * particles by id, barycentrically at the nearest point of the surface. For painted values. */
    PLIANT_API pliant_status pliant_body_sample_mesh_values(pliant_body body, uint32_t vertex_count,
                                                            uint32_t width, const float* values,
                                                            float* particle_values);

    /* Sets accelerations in addition to gravity, one per particle by id, until changed; NULL:
     * none. */
    PLIANT_API pliant_status pliant_body_set_accelerations(pliant_body body, uint32_t count,
                                                           const float* accelerations);

    /* ------------------------------------------------------------------ fracture */

    /* A cluster whose largest elastic stretch is over 1 + toughness is split in two by a plane
     * normal to the direction of that stretch; particles that it shares with clusters on both sides
     * are divided, with their mass. Positions and velocities do not change. Compression never
     * breaks anything.
     *
     * Particles keep their ids; copies get new ones. Splitting stops once the number of particles
     * or of splits reaches the initial number of memberships (overlap times particles), or four
     * times the initial number of particles if that is larger. Only bodies that flow reach this
     * limit, because they recluster. Small clusters that cannot be replaced then keep the rest
     * shape that they have flowed to.
     *
     * A copy whose material belongs to another piece (a ghost) is not visible and has no contacts.
     * Exception: in a body that flows, ghosts more than two spacings from all visible particles of
     * their piece collide with colliders.
     *
     * Times are in frames: calls of pliant_scene_advance since the scene was created, with the
     * fraction of the current one. Values per particle may still be given for the initial particles
     * only: copies then get the values of the particle that they are copies of. */
    typedef struct pliant_fracture_desc
    {
        uint32_t size;
        uint32_t settle;   /* non-zero: a cluster is not split again before its stretch has been
                              below 1 + toughness, or one period of its oscillation has passed;
                              default 1 */
        double toughness;  /* elastic stretch over 1 at which a cluster breaks; INFINITY: nothing
                              breaks (default) */
        double boost;      /* t seconds after a split both halves have the toughness times
                              (1 + boost * exp(-falloff t)); default 0 */
        double falloff;    /* rate per second; default 3 */
        double first_time; /* scene time in seconds before which nothing breaks; default 0 */
        double smallest_piece; /* least mass of a new piece over the body's mass, 0 to 1;
                                  default .002 */
        uint32_t most_pieces;  /* maximum number of pieces; 0: no limit (default) */
        uint32_t cells;        /* 2 or more: number of Voronoi cells between which alone the body
                                  breaks: overloaded clusters are divided by the cells of their
                                  members, no particle is divided, and a cell stays whole;
                                  0 (default) or 1: it breaks anywhere */
        uint32_t cell_seed;    /* random seed of the cells; default 0 */
        uint32_t reserved;
    } pliant_fracture_desc;

    PLIANT_API void pliant_fracture_desc_init(pliant_fracture_desc* desc, size_t size);
    /* Takes effect from the next substep on; may be called every frame. It does not mend what has
     * broken. Not for bodies with independent levels or QUADRATIC goals, with resampling, or that
     * have ever had pressure, because they would leak. */
    PLIANT_API pliant_status pliant_body_set_fracture(pliant_body body,
                                                      const pliant_fracture_desc* desc);
    /* Sets the points of the Voronoi cells, in the body's rest shape and relative to "origin"
     * (NULL: the world's zero). They replace "cells" and "cell_seed". Call pliant_body_set_fracture
     * first. count: 2 to 1,048,576, or 0 to use the settings again. */
    PLIANT_API pliant_status pliant_body_set_cells(pliant_body body, uint32_t count,
                                                   const double* origin, const float* points);

/* ------------------------------------------------------------------ pins and following */

/* A pin frequency of this or more holds the particle exactly. */
#define PLIANT_PIN_HELD 1.0e6f

    /* Sets pins, one frequency per particle by id: 0 no pin, below PLIANT_PIN_HELD the frequency in
     * hertz of a critically damped spring to the target, otherwise held exactly. From the next
     * frame on; may be called every frame. NULL: no pins. The target of a particle without one is
     * its current position. */
    PLIANT_API pliant_status pliant_body_set_pins(pliant_body body, uint32_t count,
                                                  const float* frequencies);

    /* Sets the pin targets at the end of the next frame, by particle id, relative to origin. They
     * are interpolated linearly over its substeps, and stay if this is not called again. */
    PLIANT_API pliant_status pliant_body_set_pin_targets(pliant_body body, uint32_t count,
                                                         const double origin[3],
                                                         const float* positions);

    /* Sets the pin targets from the animated mesh: its vertices (as many as in the body's mesh) at
     * the end of the next frame. Each target follows the nearest surface point with its local
     * deformation. */
    PLIANT_API pliant_status pliant_body_set_pin_mesh(pliant_body body, uint32_t vertex_count,
                                                      const double origin[3],
                                                      const float* vertices);

    /* While on, every particle is held at its target. When switched off, the body continues with
     * the velocity of the targets. Default off. */
    PLIANT_API pliant_status pliant_body_set_follow(pliant_body body, int32_t follow);

    /* Gravity compensation: changes the body's rest shape so that the initial positions are in
     * equilibrium with gravity and the pins, instead of sagging in the first frames. Call it once,
     * after pliant_body_set_pins() and before the first frame, with the descriptor of the following
     * frames (its length and substeps). Parts without pins, fields, pressure and contacts are not
     * considered. Surfaces skinned to the body do not change. "share" (may be NULL) becomes the
     * part of gravity that is balanced: 1; less if all of it would strain clusters by more than
     * about half; 0 if pins do not hold the body. If no pin holds exactly, spring pins count as
     * supports and yield a little. Not for bodies with independent levels or QUADRATIC goals
     * (PLIANT_ERROR_STATE). */
    PLIANT_API pliant_status pliant_body_balance(pliant_body body, const pliant_frame_desc* frame,
                                                 double* share);

    /* ------------------------------------------------------------------ colliders */

    typedef enum pliant_shape
    {
        PLIANT_SHAPE_PLANE = 0, /* through position, normal is the rotated z axis; solid below */
        PLIANT_SHAPE_SPHERE,    /* extent[0]: radius */
        PLIANT_SHAPE_BOX,       /* extent: half sizes */
        PLIANT_SHAPE_CAPSULE,   /* extent[0]: radius, extent[1]: half length of the axis (z) */
        PLIANT_SHAPE_CYLINDER,  /* extent[0]: radius, extent[1]: half height (z) */
        PLIANT_SHAPE_MESH,      /* a closed triangle mesh, solid: nothing stays inside. The winding
                                   number defines the inside, so either orientation and nested
                                   shells are allowed */
        PLIANT_SHAPE_SHELL,     /* a triangle mesh, open or closed, as a two-sided surface:
                                   particles stay on their side */
    } pliant_shape;

    typedef struct pliant_pose
    {
        double position[3];
        double rotation[4]; /* quaternion w x y z, normalised by the library */
        double extent[3];
    } pliant_pose;

    typedef struct pliant_collider_desc
    {
        uint32_t size;
        uint32_t shape; /* a pliant_shape */
        pliant_pose pose;
        double friction;     /* Coulomb coefficient; default 0.5 */
        double restitution;  /* 0 to 1; default 0 */
        double thickness;    /* distance kept from the surface; default 0 */
        uint32_t inside_out; /* non-zero: bodies are kept inside (sphere, box, capsule, cylinder) */
        uint32_t groups;     /* reserved: collision groups; default all bits */
        /* Surface velocity for friction, in addition to the shape's own motion (a conveyor belt, a
         * spinning drum): the tangential part of velocity + spin x (point - centre). In the axes of
         * the pose; for a mesh in the world's axes, with the centre relative to the world's zero.
         * Default 0. */
        double surface_velocity[3];
        double surface_spin[3]; /* radians per second */
        double surface_centre[3];
    } pliant_collider_desc;

    PLIANT_API void pliant_collider_desc_init(pliant_collider_desc* desc, size_t size);
    PLIANT_API pliant_status pliant_collider_create(pliant_scene scene,
                                                    const pliant_collider_desc* desc,
                                                    pliant_collider* collider);
    /* Creates a collider of shape MESH or SHELL. The desc's pose is ignored; inside_out must be 0.
     * Degenerate triangles are ignored, now and later. No triangle with an area, an index out of
     * range, or vertices that are not finite give PLIANT_ERROR_MESH. Bodies are kept off the
     * surface by the thickness, or by a few units in the last place of their positions if that is
     * more. */
    PLIANT_API pliant_status pliant_collider_create_mesh(pliant_scene scene,
                                                         const pliant_collider_desc* desc,
                                                         const pliant_mesh_desc* mesh,
                                                         pliant_collider* collider);
    PLIANT_API pliant_status pliant_collider_destroy(pliant_collider collider);
    /* Sets the vertices of a MESH or SHELL (the same number as at creation) at the end of the next
     * frame, relative to origin. They move there linearly; friction uses the velocity of the
     * surface. They stay if this is not called again. */
    PLIANT_API pliant_status pliant_collider_set_mesh(pliant_collider collider,
                                                      uint32_t vertex_count, const double origin[3],
                                                      const float* vertices);
    /* Sets the pose at the end of the next frame; it stays if this is not called again. Not for a
     * MESH or SHELL, which have no pose. */
    PLIANT_API pliant_status pliant_collider_move(pliant_collider collider,
                                                  const pliant_pose* pose);
    /* Sets friction, restitution, thickness and surface velocity from the next frame on; shape and
     * pose of the desc are ignored. */
    PLIANT_API pliant_status pliant_collider_set(pliant_collider collider,
                                                 const pliant_collider_desc* desc);

    /* ------------------------------------------------------------------ bodies against bodies */

    /* Contacts of all bodies with each other and with themselves: particles of one body against the
     * rest surface of the other (half a spacing outside its particles), deformed by its finest
     * clusters. They conserve linear and angular momentum. Soft bodies bounce elastically;
     * restitution adds to that at separation, for whole bodies or pieces. */
    typedef struct pliant_contact_desc
    {
        uint32_t size;
        uint32_t enabled;    /* default 0 */
        double stiffness;    /* firmness, 0 to 1: part of a substep's new overlap that is removed,
                                for any number of iterations; 0: bodies pass through each other;
                                default 1. Existing overlaps are removed within a tenth of a
                                second */
        double friction;     /* Coulomb coefficient; default 0.5 */
        double restitution;  /* 0 to 1; default 0 */
        double thickness;    /* distance kept from surfaces; default 0 */
        uint32_t iterations; /* 1 to 1000; default 8 */
        uint32_t reserved;
    } pliant_contact_desc;

    PLIANT_API void pliant_contact_desc_init(pliant_contact_desc* desc, size_t size);
    /* Takes effect from the next substep on. */
    PLIANT_API pliant_status pliant_scene_set_contacts(pliant_scene scene,
                                                       const pliant_contact_desc* desc);
    /* Sets the collision filter of a body, from the next substep on: it collides with bodies that
     * have a bit of "groups" in common with it (0 means all bits, the default), and if "self" is
     * non-zero (the default) with itself: clusters that share no particle, once they have been
     * separated. */
    PLIANT_API pliant_status pliant_body_set_contacts(pliant_body body, uint32_t groups,
                                                      int32_t self);
    /* Signed distances ("count", negative inside) of points from the body's contact surface at
     * rest, which lies half a spacing outside the particles, without thickness and cracks. Points
     * (count * 3) are in the body's rest shape, relative to origin (3, or NULL). */
    PLIANT_API pliant_status pliant_body_surface_distance(pliant_body body, uint32_t count,
                                                          const double* origin, const float* points,
                                                          float* distances);

    /* Sets the surface properties of a body from the next substep on; a negative value (the default
     * of all three) means the scene's. For a contact of two bodies friction is the geometric mean
     * of both values, restitution and thickness the larger. For a body and a collider the same
     * holds for friction and restitution; without own values the body uses the collider's. */
    PLIANT_API pliant_status pliant_body_set_surface(pliant_body body, double friction,
                                                     double restitution, double thickness);

    typedef struct pliant_weld_desc
    {
        uint32_t size;
        uint32_t reserved;
        pliant_body body;         /* the body whose particles are welded */
        pliant_body other;        /* body it is welded to, in both directions; or 0 */
        pliant_collider collider; /* collider it is welded to; or 0. One of the two must be given */
        double distance; /* largest distance of a welded particle from the other's surface; 0
                            (default): the particles' spacing */
        double strength; /* stress in pascals at which a bond breaks; 0 (default): never */
    } pliant_weld_desc;

    PLIANT_API void pliant_weld_desc_init(pliant_weld_desc* desc, size_t size);
    /* Welds a body to another or to a collider where they touch now. A bond holds one particle at
     * its position relative to the other: a cluster of a body, the pose of a collider, or the
     * nearest triangle of a mesh. Welded bodies have no contacts with each other at bonds. "count"
     * (may be NULL) becomes the number of bonds made. Bonds are destroyed with their body or
     * collider. */
    PLIANT_API pliant_status pliant_scene_weld(pliant_scene scene, const pliant_weld_desc* desc,
                                               uint32_t* count);

    /* Sleep: bodies in contact that had no particle faster than "speed" (units per second) for
     * "seconds" fall asleep together at the end of a frame; they stop and are not simulated. A body
     * wakes when it is hit, when a neighbour wakes, when a moving collider comes near, and when it,
     * gravity, a collider or a field is changed. Bodies with pins or accelerations, and bodies in a
     * scene with force fields, do not sleep. The pieces of a broken body sleep separately, also
     * those without pins of a body with pins. Speed 0 (default): no sleep. */
    PLIANT_API pliant_status pliant_scene_set_sleep(pliant_scene scene, double speed,
                                                    double seconds);

    /* ------------------------------------------------------------------ force fields */

    typedef enum pliant_field_kind
    {
        PLIANT_FIELD_FORCE = 0,
        PLIANT_FIELD_WIND,
        PLIANT_FIELD_VORTEX,
        PLIANT_FIELD_HARMONIC,
        PLIANT_FIELD_TURBULENCE,
        PLIANT_FIELD_DRAG,
    } pliant_field_kind;

    typedef enum pliant_field_shape
    {
        PLIANT_FIELD_POINT = 0,
        PLIANT_FIELD_LINE,
        PLIANT_FIELD_PLANE,
    } pliant_field_shape;

    typedef enum pliant_falloff
    {
        PLIANT_FALLOFF_SPHERE = 0,
        PLIANT_FALLOFF_TUBE,
        PLIANT_FALLOFF_CONE,
    } pliant_falloff;

    typedef enum pliant_falloff_side
    {
        PLIANT_SIDE_BOTH = 0,
        PLIANT_SIDE_POSITIVE,
        PLIANT_SIDE_NEGATIVE,
    } pliant_falloff_side;

    /* Force fields with the parameters of Blender's field settings, by the same names. Radial
     * values are distances for a TUBE and angles in degrees for a CONE. Defaults: identity matrix,
     * strength 1, all else 0. */
    typedef struct pliant_field_desc
    {
        uint32_t size;
        uint32_t kind;         /* a pliant_field_kind */
        uint32_t shape;        /* a pliant_field_shape */
        uint32_t falloff_type; /* a pliant_falloff */
        uint32_t side;         /* a pliant_falloff_side ("z direction") */
        uint32_t use_min_distance;
        uint32_t use_max_distance;
        uint32_t use_radial_min;
        uint32_t use_radial_max;
        uint32_t use_gravity_falloff; /* "gravitation": force over distance squared */
        uint32_t use_global_coords;   /* turbulence in world coordinates */
        uint32_t use_2d_force;        /* of textures in Blender: ignored */
        double matrix[16];            /* object to world, row-major, with scale */
        double strength;
        double flow;
        double inflow; /* Blender's other name for the flow of a VORTEX: ignored */
        double falloff_power;
        double distance_min;
        double distance_max;
        double radial_falloff;
        double radial_min;
        double radial_max;
        double harmonic_damping;
        double rest_length;
        double linear_drag;    /* of DRAG: as in Blender proportional to speed squared; at most 2 */
        double quadratic_drag; /* of DRAG: as in Blender proportional to speed; at most 2 */
        double noise_size;     /* of TURBULENCE: "size"; 0 means 1 */
        double wind_factor;    /* of cloth in Blender: ignored */
    } pliant_field_desc;

    PLIANT_API void pliant_field_desc_init(pliant_field_desc* desc, size_t size);
    PLIANT_API pliant_status pliant_field_create(pliant_scene scene, const pliant_field_desc* desc,
                                                 pliant_field* field);
    PLIANT_API pliant_status pliant_field_destroy(pliant_field field);
    /* Sets the field's parameters at the end of the next frame (position and strength are
     * interpolated over it). */
    PLIANT_API pliant_status pliant_field_set(pliant_field field, const pliant_field_desc* desc);
    /* Accelerations of a field at points with velocities, as used by pliant_scene_advance(). */
    PLIANT_API pliant_status pliant_field_evaluate(const pliant_field_desc* desc, uint32_t count,
                                                   const float* positions, const float* velocities,
                                                   float* accelerations);

    /* ------------------------------------------------------------------ skinning */

    typedef struct pliant_skin_desc
    {
        uint32_t size;
        uint32_t vertex_count;
        const float* vertices; /* at rest, relative to origin; of any mesh */
        const float* normals;  /* at rest, or NULL: no normals can be skinned */
        double origin[3];
        double radius; /* of the kernel; 0: from the particles' spacing (default) */
        /* 1 (default), for skins of stores: a vertex whose particles have flowed apart is bound to
         * the particles near it, without a jump and keeping neighbouring vertices together. No
         * effect on a body that has not flowed. 0: never. */
        int32_t rebind;
        /* Triangles of the same mesh, or 0: they define which vertices are connected. If a body has
         * several parts that share no cluster, connected vertices follow the same part. Without
         * triangles each vertex follows the nearest part. */
        uint32_t triangle_count;
        const uint32_t* triangles; /* 3 * triangle_count, or NULL */
    } pliant_skin_desc;

    PLIANT_API void pliant_skin_desc_init(pliant_skin_desc* desc, size_t size);

    /* Binds vertices to a body's particles. The skin belongs to the scene and becomes unusable when
     * the body is destroyed. */
    PLIANT_API pliant_status pliant_skin_create(pliant_body body, const pliant_skin_desc* desc,
                                                pliant_skin* skin);
    /* Binds vertices to the index-th body of a store. */
    PLIANT_API pliant_status pliant_skin_create_stored(pliant_store store, uint32_t body_index,
                                                       const pliant_skin_desc* desc,
                                                       pliant_skin* skin);
    PLIANT_API pliant_status pliant_skin_destroy(pliant_skin skin);
    /* Skins vertices, normals and velocities (any may be NULL) to the body's current state.
     * Vertices are relative to origin (NULL: the world's zero). A transform (three rows of four, or
     * NULL) maps them, for example to an object's local coordinates:
     *     out[row] = ((t[row][0] x + t[row][1] y) + t[row][2] z) + t[row][3],
     * x, y, z being the result without it, and the sums in double in this order. Normals and
     * velocities stay in the world's axes. */
    PLIANT_API pliant_status pliant_skin_apply(pliant_skin skin, const double origin[3],
                                               const double transform[12], float* vertices,
                                               float* normals, float* velocities);
    /* The same for a stored frame; the skin must be of that store. If the body has flowed, earlier
     * frames are read too (see "rebind"): a skin keeps its bindings in the last frame read and in
     * up to eight earlier frames, evenly spaced, and continues from the nearest one. Reading frames
     * in order is fastest; any other order gives the same result. A skin's memory does not grow
     * with the number of frames. */
    PLIANT_API pliant_status pliant_skin_apply_stored(pliant_skin skin, int32_t frame,
                                                      const double origin[3],
                                                      const double transform[12], float* vertices,
                                                      float* normals, float* velocities);

    /* ------------------------------------------------------------------ the frame store */

    typedef enum pliant_store_mode
    {
        PLIANT_STORE_READ = 0, /* must exist */
        PLIANT_STORE_CREATE,   /* a new, empty store; an existing one is cleared */
        PLIANT_STORE_RESUME, /* must exist; frames after the last checkpoint may be written again */
    } pliant_store_mode;

    typedef enum pliant_compression
    {
        PLIANT_COMPRESS_NONE = 0,
        PLIANT_COMPRESS_ZSTD, /* lossless */
    } pliant_compression;

    typedef struct pliant_store_desc
    {
        uint32_t size;
        uint32_t mode;        /* a pliant_store_mode */
        uint32_t compression; /* a pliant_compression, for CREATE; default ZSTD where built in */
        uint32_t checkpoint_every; /* frames between checkpoints, for CREATE; default 10 */
        const char* path;          /* UTF-8: a folder used for nothing else */
    } pliant_store_desc;

    PLIANT_API void pliant_store_desc_init(pliant_store_desc* desc, size_t size);
    PLIANT_API pliant_status pliant_store_open(const pliant_store_desc* desc, pliant_store* store);
    PLIANT_API pliant_status pliant_store_close(pliant_store store);

    typedef struct pliant_store_info
    {
        uint32_t size;
        uint32_t bodies;
        int32_t first_frame; /* of the finished frames; first > last: none */
        int32_t last_frame;
        int32_t last_checkpoint; /* frame number; below first_frame: none */
        uint32_t compression;
        uint64_t bytes; /* on disk */
    } pliant_store_info;

    PLIANT_API void pliant_store_info_init(pliant_store_info* info, size_t size);
    PLIANT_API pliant_status pliant_store_get_info(pliant_store store, pliant_store_info* info);

    /* A body in the last frame of a store. */
    typedef struct pliant_stored_body_info
    {
        uint32_t size;
        uint32_t particles; /* every frame is read on this set, see pliant_store_read */
        uint32_t copies;    /* of them made by splits; they come last */
        uint32_t clusters;  /* of the finest level */
        uint32_t pieces;    /* ever made; 0: without fracture */
        uint32_t splits;
        double spacing;
    } pliant_stored_body_info;

    PLIANT_API void pliant_stored_body_info_init(pliant_stored_body_info* info, size_t size);
    PLIANT_API pliant_status pliant_store_get_body_info(pliant_store store, uint32_t body_index,
                                                        pliant_stored_body_info* info);

    /* Writes the scene's state as a finished frame: written under a temporary name, synced,
     * renamed, then recorded in the journal with its hash. Writes a checkpoint if one is due. In a
     * resumed store a frame that existed before must have the same hash: otherwise
     * PLIANT_ERROR_STATE, and the store does not change. Frame numbers are consecutive. */
    PLIANT_API pliant_status pliant_store_write_frame(pliant_store store, pliant_scene scene,
                                                      int32_t frame);
    /* Restores the scene from the latest checkpoint at or before "at_most"; *frame becomes its
     * frame. PLIANT_ERROR_STATE if there is none. */
    PLIANT_API pliant_status pliant_store_restore(pliant_store store, pliant_scene scene,
                                                  int32_t at_most, int32_t* frame);
    /* Removes all frames and checkpoints after "frame". */
    PLIANT_API pliant_status pliant_store_truncate(pliant_store store, int32_t frame);
    /* Reads a channel of a stored frame, as pliant_body_read: POSITION, VELOCITY, REST, MASS,
     * SHELL, DEFORMATION, STRETCH, NEAREST_CLUSTER (level 0), PLASTIC_STRAIN, RENEWED, and PARENT
     * to DIVIDED. Every frame is read on the set of particles of the last one: a copy that does not
     * exist yet has the values of its parent, except mass 0. Parents, births, pieces ever made and
     * splits are the same in every frame; their times are in frame numbers of the store. */
    PLIANT_API pliant_status pliant_store_read(pliant_store store, uint32_t body_index,
                                               int32_t frame, uint32_t channel,
                                               const double origin[3], void* buffer,
                                               uint64_t* bytes);
    /* Reads the pairs of particles of the index-th body that shared a cluster, and the last frame
     * in which they did (INFINITY: still in the last frame), for pairs with a rest distance of at
     * most "reach" (0: three times the spacing). With pairs and until NULL, *count becomes the
     * number of pairs; otherwise it is the capacity on input (pairs: 2 each) and the number on
     * output. A copy has no pairs for the time before its birth. */
    PLIANT_API pliant_status pliant_store_read_pairs(pliant_store store, uint32_t body_index,
                                                     double reach, uint32_t* pairs, double* until,
                                                     uint64_t* count);
    /* Reads every file and compares checksums; the error sentence names the first damaged file. */
    PLIANT_API pliant_status pliant_store_verify(pliant_store store);

#ifdef __cplusplus
}
#endif

#endif
