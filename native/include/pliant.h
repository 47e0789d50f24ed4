// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * pliant.h: the public face of the Pliant soft-body library.
 *
 *   mesh or points --> body (particles, clusters, levels) --> frames --> skinned vertices
 *
 * Clustered shape matching: a body is sampled with particles; overlapping clusters of particles
 * each fit their rest shape to where their members are now, and pull the members toward the fit.
 *
 * How the library is used
 *   1. Check pliant_abi_version() against PLIANT_ABI_VERSION before any other call.
 *   2. Create a scene, then bodies, colliders and fields in it.
 *   3. For each frame: tell where colliders, pins and fields are at the END of that frame, then
 *      call pliant_scene_advance(). What moves is interpolated over the frame's substeps.
 *   4. Read particles back, skin meshes with them, or write frames to a store on disk.
 *
 * Conventions
 *   Units are metres, seconds, kilograms (or any consistent set). Arrays of vectors are tightly
 *   packed x y z. Matrices are row-major. Quaternions are w x y z. Indices start at 0.
 *   Positions enter and leave as float relative to an origin in double that the caller names
 *   ("origin", NULL means the world's zero), so that far from zero nothing is lost.
 *   Everything passed in is copied; the caller owns every buffer it gives, for the call only.
 *   Descriptors start with their own size: call the matching ..._init() with sizeof, then change
 *   what you want. Zero-initialising a descriptor by hand is an error that is reported.
 *
 * Errors
 *   Every call that can fail returns a pliant_status. pliant_last_error() then gives a sentence for
 *   a person, naming the offending value; it belongs to the calling thread. Unless a call says
 *   otherwise, a failed call changes nothing.
 *
 * Handles
 *   A handle is an integer with a generation: one that was destroyed, or is from another scene or
 *   invented, gives PLIANT_ERROR_STALE_HANDLE and never a crash. Zero is never a valid handle.
 *
 * Threads and callbacks
 *   A scene may be used by one thread at a time, except pliant_scene_cancel(), which any thread may
 *   call at any time. Different scenes may be used side by side. While pliant_scene_advance(),
 *   pliant_body_create(), pliant_scene_save(), pliant_scene_restore(), pliant_store_write_frame()
 *   or pliant_store_restore() runs on a scene, every other call on it or on its bodies, colliders,
 *   fields and skins of bodies, also one that only reads, is PLIANT_ERROR_STATE and changes
 *   nothing, from another thread as from a progress callback. Only pliant_scene_cancel() works, and
 *   calls on other scenes and on stores. The number of threads a scene uses never changes its
 *   results, nor does the SIMD path.
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

/* Raised whenever a struct, an enum or a function changes meaning. */
#define PLIANT_ABI_VERSION 6

/* Most levels of clusters that a body may have. */
#define PLIANT_MAX_LEVELS 16

/* ------------------------------------------------------------------ status */

/* One list makes the codes, their names and their general meaning. */
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

    /* What the library was built with: LAPACK, compression, SIMD paths. Static storage. */
    PLIANT_API const char* pliant_build_info(void);

    /* The name of a status ("PLIANT_ERROR_MESH"), and what it means in general. Static storage. */
    PLIANT_API const char* pliant_status_name(pliant_status status);
    PLIANT_API const char* pliant_status_text(pliant_status status);

    /* The sentence for this thread's last failure; "" if there was none. Valid until the next
     * call. */
    PLIANT_API const char* pliant_last_error(void);

    /* ------------------------------------------------------------------ handles and callbacks */

    typedef uint64_t pliant_scene;
    typedef uint64_t pliant_body;
    typedef uint64_t pliant_collider;
    typedef uint64_t pliant_field;
    typedef uint64_t pliant_skin;
    typedef uint64_t pliant_store;

    /* Called while something long goes on, on the calling thread. "fraction" grows from 0 to 1,
     * "stage" names what is being done (static storage). Return non-zero to cancel. It may call
     * pliant_scene_cancel(); other calls on the same scene are refused, see above. */
    typedef int32_t (*pliant_progress_fn)(void* user, double fraction, const char* stage);

    /* ------------------------------------------------------------------ scene */

    typedef enum pliant_simd
    {
        PLIANT_SIMD_AUTO = 0, /* the widest that the machine has */
        PLIANT_SIMD_SCALAR = 1,
        PLIANT_SIMD_SSE2 = 2,
        PLIANT_SIMD_AVX2 = 3,
        PLIANT_SIMD_AVX512 = 4,
        PLIANT_SIMD_NEON = 5,
    } pliant_simd;

    typedef struct pliant_scene_desc
    {
        uint32_t size;    /* sizeof this struct, set by init */
        uint32_t threads; /* at most; 0: one for each core (default) */
        uint32_t simd;    /* a pliant_simd; default AUTO. A path the machine lacks is UNSUPPORTED */
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
    /* May be called between frames; never changes results. 0: one for each core. */
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
        uint64_t bytes;            /* memory held */
        uint64_t frame;            /* whole frames advanced */
        uint64_t substep;          /* substeps advanced in all */
        uint32_t substep_of_frame; /* non-zero: an advance was cancelled inside this frame */
        uint32_t substeps;         /* substeps of the last or current frame */
        double time;               /* seconds advanced */
        uint64_t pairs_tested;   /* strain-limit pairs tested in the last substep, all iterations */
        uint64_t pairs_violated; /* of them, those over the limit */
        uint64_t contacts; /* contacts of particles with colliders and bodies in the last substep */
        uint64_t mesh_nodes;     /* of mesh colliders' trees, visited in the last substep */
        uint64_t mesh_triangles; /* looked at there, once for each eight particles */
        uint64_t welds;          /* welded particles that hold */
        uint64_t asleep;         /* bodies */
    } pliant_scene_info;

    PLIANT_API void pliant_scene_info_init(pliant_scene_info* info, size_t size);
    PLIANT_API pliant_status pliant_scene_get_info(pliant_scene scene, pliant_scene_info* info);

    /* The index-th body, in order of creation. Restoring a scene gives its bodies new handles. */
    PLIANT_API pliant_status pliant_scene_get_body(pliant_scene scene, uint32_t index,
                                                   pliant_body* body);
    /* The index-th collider and field, likewise: restoring gives them new handles too. */
    PLIANT_API pliant_status pliant_scene_get_collider(pliant_scene scene, uint32_t index,
                                                       pliant_collider* collider);
    PLIANT_API pliant_status pliant_scene_get_field(pliant_scene scene, uint32_t index,
                                                    pliant_field* field);

    typedef struct pliant_frame_desc
    {
        uint32_t size;
        uint32_t
            substeps; /* 0: as many as the stiffest body needs, at most max_substeps (default) */
        uint32_t max_substeps; /* default 32; 8 times that for bodies that may break, since what is
                                  too soft breaks under its own weight. Stiffness beyond is cut:
                                  PLIANT_WARN_STIFFNESS_CUT */
        uint32_t reserved;
        double dt;                   /* the frame's length in seconds; default 1/24 */
        pliant_progress_fn progress; /* may be NULL */
        void* user;
    } pliant_frame_desc;

    PLIANT_API void pliant_frame_desc_init(pliant_frame_desc* desc, size_t size);

    /* Advances the scene by one frame. PLIANT_CANCELLED leaves the scene between two substeps:
     * calling again with the same descriptor finishes the frame, to the same bits as if nothing had
     * happened. PLIANT_ERROR_UNSTABLE means that a body left the range of numbers; only destroy and
     * restore help. */
    PLIANT_API pliant_status pliant_scene_advance(pliant_scene scene,
                                                  const pliant_frame_desc* desc);

    /* Asks a running advance, create or write on this scene to stop; it answers within one substep.
     * From any thread. The request is used up by the call that it stops; none running: the next one
     * stops. */
    PLIANT_API pliant_status pliant_scene_cancel(pliant_scene scene);

    /* How many substeps advance() would take for a frame of this length with substeps = 0.
     * max_substeps is between 1 and 100,000, as in pliant_frame_desc. */
    PLIANT_API pliant_status pliant_scene_auto_substeps(pliant_scene scene, double dt,
                                                        uint32_t max_substeps, uint32_t* substeps);

    /* A hash of the whole simulated state: the same for every thread count, SIMD path and run. */
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

    /* Milliseconds spent in each stage since the scene was made or reset was last given. */
    PLIANT_API pliant_status pliant_scene_profile(pliant_scene scene, double ms[PLIANT_STAGE_COUNT],
                                                  int32_t reset);
    PLIANT_API const char* pliant_stage_name(uint32_t stage);

    /* The whole state (settings, bodies, colliders, fields, where in a frame) as one checksummed
     * block. With buffer NULL, *bytes becomes the size needed; otherwise it is the buffer's size
     * going in and the size used coming out. A restored scene goes on to the same bits. */
    PLIANT_API pliant_status pliant_scene_save(pliant_scene scene, void* buffer, uint64_t* bytes);
    /* Replaces everything in the scene but its thread count and SIMD path. A damaged block or one
     * of another version is PLIANT_ERROR_FORMAT and leaves the scene as it was. */
    PLIANT_API pliant_status pliant_scene_restore(pliant_scene scene, const void* buffer,
                                                  uint64_t bytes);

    /* ------------------------------------------------------------------ what a body is made of */

    /* A triangle soup. Any defects are allowed; what cannot be used is left out and warned of. */
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
        PLIANT_SAMPLE_GRID,       /* a regular grid in the volume; blue noise where none has about
                                     as many points */
        PLIANT_SAMPLE_SURFACE,    /* Poisson disks on the surface */
        PLIANT_SAMPLE_VERTICES,   /* the mesh's own vertices */
    } pliant_sampling;

    /* What becomes of the shells of a mesh: parts of it that share no vertex. */
    typedef enum pliant_shells
    {
        PLIANT_SHELLS_TOGETHER = 0, /* clusters ignore shells: what is near hangs together */
        PLIANT_SHELLS_TOUCHING = 1, /* those that overlap, lie inside each other, or are no more
                                       than the spacing apart are one; others share no cluster */
        PLIANT_SHELLS_APART = 2,    /* none shares a cluster with another, unless it lies inside it
                                       and does not touch it. What belongs to two is the smaller
                                       one's */
    } pliant_shells;

    typedef struct pliant_sample_desc
    {
        uint32_t size;
        uint32_t mode;  /* a pliant_sampling */
        uint32_t count; /* particles wanted, met within 2 %; used if spacing is 0; default 5000 */
        uint32_t seed;
        double spacing;        /* least distance between particles; 0: from count (default) */
        double thickness;      /* of the material, for SURFACE and open VERTICES; 0: the spacing
                                  (default) */
        uint32_t shells_apart; /* a pliant_shells. Each vertex of a skin follows the particles of
                                  one part; default TOUCHING */
        uint32_t reserved;
    } pliant_sample_desc;

    PLIANT_API void pliant_sample_desc_init(pliant_sample_desc* desc, size_t size);

    typedef enum pliant_clustering
    {
        PLIANT_CLUSTER_FUZZY = 0, /* the method of Jones et al. 2015 */
        PLIANT_CLUSTER_KMEANS,
        PLIANT_CLUSTER_RANDOM, /* has no count of its own: the radius decides */
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
        uint32_t count;      /* clusters wanted; 0: from cluster_size (default) */
        double cluster_size; /* length; 0: so that about 30 particles come on a cluster (default).
                              No smaller than three particles for each cluster */
        double radius;       /* of the clusters; 0: the smallest that converges with the overlap */
        double overlap;      /* memberships a particle wanted with radius 0; default 5 */
        double kernel_parameter; /* 0: the kernel's default */
        uint32_t max_iterations; /* default 100 */
        uint32_t seed;
        uint32_t
            fixed; /* non-zero: count and radius are not grown; not converging is then a warning */
        uint32_t reserved;
    } pliant_cluster_desc;

    PLIANT_API void pliant_cluster_desc_init(pliant_cluster_desc* desc, size_t size);

    typedef enum pliant_level_kind
    {
        PLIANT_LEVELS_NESTED = 0,  /* coarse clusters are made of fine clusters */
        PLIANT_LEVELS_INDEPENDENT, /* each level clusters the particles anew, as Kaliappan and
                                      Bargteil 2020 do */
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
        uint32_t count;     /* levels; 1: the finest only (default); 0: down to a single cluster */
        uint32_t reduction; /* clusters of a level over those of the next coarser; default 8 */
        double radius_multiplier; /* default 2 */
        uint32_t weighting;       /* a pliant_weighting */
        uint32_t favour_fine; /* non-zero: finer levels weigh more; zero: coarser ones (default) */
        double a;             /* the weighting's parameters; -1: its own (default) */
        double b;
        double weights[PLIANT_MAX_LEVELS]; /* for MANUAL, finest first; normalised by the library */
        double damping[PLIANT_MAX_LEVELS]; /* factors on the damping, finest first; default 1 */
    } pliant_levels_desc;

    PLIANT_API void pliant_levels_desc_init(pliant_levels_desc* desc, size_t size);

    typedef enum pliant_stiffness
    {
        PLIANT_STIFFNESS_FREQUENCY = 0, /* hertz, of the whole body: a look that scales with it */
        PLIANT_STIFFNESS_YOUNG,         /* pascals */
        PLIANT_STIFFNESS_ALPHA,         /* alpha a substep, 0 to 2 (Kaliappan and Bargteil
                                           2020) */
    } pliant_stiffness;

/* The most that goals may follow what stretches and bends: with 1 they resist a change of volume
 * alone, nothing resists shear, and the energy of an undamped body grows without end. */
#define PLIANT_BETA_MOST 0.95

    typedef enum pliant_goal
    {
        PLIANT_GOAL_RIGID = 0,
        PLIANT_GOAL_LINEAR,    /* rigid blended with the volume-preserving linear fit by "beta" */
        PLIANT_GOAL_QUADRATIC, /* and with bending and twisting modes (Mueller et al. 2005); with
                                  stiffness in hertz or pascals these are as stiff as the material,
                                  whatever beta is */
    } pliant_goal;

    typedef enum pliant_rotation
    {
        PLIANT_ROTATION_GRADIENT = 0, /* of the deformation gradient, torque removed */
        PLIANT_ROTATION_MOMENT,       /* of A_xr (Mueller et al. 2005) */
    } pliant_rotation;

    /* What becomes of clusters whose rest shape has flowed too far. */
    typedef enum pliant_recluster
    {
        PLIANT_RECLUSTER_OFF = 0,
        PLIANT_RECLUSTER_ON,    /* they fade out, and clusters made anew where the body's rest shape
                                   fits best into space fade in (Falkenstein 2017) */
        PLIANT_RECLUSTER_WORLD, /* the new ones are made of where particles are, for comparison:
                                   what is strained elastically then is forgotten */
    } pliant_recluster;

    typedef struct pliant_material_desc
    {
        uint32_t size;
        uint32_t stiffness_kind; /* a pliant_stiffness */
        double stiffness;        /* in the kind's unit; default 2 (Hz) */
        double damping;          /* per second: the energy of what bends, stretches and twists falls
                                    as exp(-damping t), so the amplitude of each such mode as
                                    exp(-damping t / 2), whatever clusters, levels and substeps are,
                                    up to critical damping. In the frame of the rigid motion of each
                                    part that hangs together: momentum and spin are kept. Held
                                    particles carry that frame, and what touches does where it
                                    hardly moves: bodies come to rest. Default 1 */
        double density;          /* kg per cubic metre; default 1000. Fixed once the body is made */
        double strain_limit;     /* gamma: how far a member may be from its goal, over the cluster's
                                    width; 0: off (default) */
        double strain_relaxation;   /* omega at 1/60 s; default 0.3 */
        uint32_t strain_iterations; /* default 4 */
        uint32_t goal;              /* a pliant_goal. Fixed once the body is made */
        double beta;                /* of LINEAR and QUADRATIC, 0 to PLIANT_BETA_MOST; default 0.5.
                                       With hertz or pascals Young's modulus stays as asked, and
                                       Poisson's ratio is beta / (3 - beta) */
        uint32_t rotation;          /* a pliant_rotation */
        uint32_t damping_per_step;  /* non-zero: damping is k_d a substep, 0 to 1 (Kaliappan and
                                       Bargteil 2020) */
        double pressure;  /* strength with which the enclosed volume is kept, in pascals for each
                             unit of relative volume lost; 0: off (default). Needs a mesh of which
                             some part encloses a volume, small holes apart; each part keeps its
                             own. More than a substep can carry acts as what it can carry */
        double inflation; /* the volume to keep, over the rest volume; default 1 */
        double drag;      /* rate per second toward rest in the world (air); default 0 */
        double yield; /* strain from which on it flows and keeps its new shape: |s - 1| with s the
                         elastic stretch without its change of volume; 0: flows at once; INFINITY:
                         never (default). Not with QUADRATIC goals, nor with independent levels */
        double flow;  /* rate per second at which strain over the yield strain flows; default 20 */
        double hardening; /* added to the yield strain for each unit of plastic strain; negative:
                             it softens; default 0 */
        double plastic_limit; /* largest plastic strain |s_p - 1|: there it is elastic again; 0: no
                                 limit (default) */
        uint32_t flow_per_step; /* non-zero: flow is nu a substep (Falkenstein 2017): of 1 or more,
                                   all that is over the yield strain flows at once */
        uint32_t recluster;     /* a pliant_recluster, of bodies that yield; default ON */
        double recluster_condition; /* a cluster goes when its plastic stretches are this many times
                                       one another (the condition number of F^p), over 1;
                                       default 2 */
        double recluster_fade_in;   /* seconds in which a new cluster comes; default .4 */
        double recluster_fade_out;  /* seconds in which an old one goes, once there are others for
                                       its particles; default .6 */
        uint32_t recluster_least;   /* a new cluster is made where a particle would be in fewer
                                       clusters that stay (Falkenstein 2017: 1); 0: so many that the
                                       memberships a particle stay about as many (default) */
        uint32_t resample; /* non-zero: a particle whose material was drawn out to twice the spacing
                              becomes two, with its mass, momentum and angular momentum, up to four
                              times as many as there were. Two whose material was pressed thinner
                              than half the spacing, one beside the other that way, become one with
                              their mass and momentum: their ids go, and it has a new one
                              (PLIANT_SUCCESSOR). Of each id that goes or comes there are at most
                              eight times as many as there were particles. Not of bodies that may
                              break; those under pressure stay as they are. Default 0 */
    } pliant_material_desc;

    PLIANT_API void pliant_material_desc_init(pliant_material_desc* desc, size_t size);

    /* ------------------------------------------------------------------ bodies */

    typedef struct pliant_body_desc
    {
        uint32_t size;
        uint32_t point_count; /* 0: sample the mesh (default) */
        const float*
            points; /* particles given instead, 3 * point_count, relative to points_origin */
        const float* volumes; /* one a point, or NULL: from the spacing */
        double points_origin[3];
        pliant_mesh_desc mesh; /* may be empty if points are given (then no pressure) */
        pliant_sample_desc sample;
        pliant_cluster_desc cluster;
        pliant_levels_desc levels;
        pliant_material_desc material;
        double velocity[3];         /* at the start */
        double angular_velocity[3]; /* radians a second, about the centre of mass */
        /* Painted factors, one for each mesh vertex (for each point where points are given), or
         * NULL. */
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

    /* What had to be bent to make or run the body; each has a sentence in
     * pliant_body_warning_text(). */
    typedef enum pliant_warning
    {
        PLIANT_WARN_NO_VOLUME = 1,        /* sampled on its surface because nothing is enclosed */
        PLIANT_WARN_MESH_DEFECTS = 2,     /* triangles or vertices were left out */
        PLIANT_WARN_CLUSTERS_GROWN = 4,   /* clusters and radius grew until it converged */
        PLIANT_WARN_NOT_CONVERGED = 8,    /* the clustering did not settle */
        PLIANT_WARN_FLAT_CLUSTERS = 16,   /* some clusters have no thickness and were regularised */
        PLIANT_WARN_STIFFNESS_MOVED = 32, /* carried by coarser levels than asked */
        PLIANT_WARN_STIFFNESS_CUT = 64,   /* not reached with the substeps allowed: it is softer */
        PLIANT_WARN_COUNT_MISSED = 128,   /* the particle count wanted could not be met */
        PLIANT_WARN_SHELLS_JOINED = 256,  /* shells too small for clusters of their own */
        PLIANT_WARN_STIFF_BENDING = 512,  /* hardly thicker than its clusters: with RIGID or LINEAR
                                             goals it bends less than its stiffness says */
        PLIANT_WARN_LOOSE_CLUSTERS = 1024, /* its stiffness is uncertain: clusters are few, or share
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
        uint32_t particles; /* that there are; channels also have those that were merged */
        uint32_t levels;
        uint32_t warnings; /* pliant_warning bits */
        uint32_t sampling; /* the pliant_sampling in use */
        uint32_t cluster_iterations;
        uint32_t chunks;
        uint32_t reserved;
        double spacing;     /* between particles */
        double mass;        /* kg */
        double rest_volume; /* of the particles together */
        double sample_ms;   /* how long the stages of making it took */
        double cluster_ms;
        double cluster_radius;
        double overlap;       /* memberships a particle at the finest level */
        double width;         /* W_body: mass-weighted RMS radius */
        double mass_quantum;  /* kg; masses are whole multiples of it */
        uint64_t mass_quanta; /* the body's mass as such a multiple, exactly kept */
        uint64_t bytes;
        double centre[3]; /* centre of mass now, in the world */
        double momentum[3];
        double angular_momentum[3]; /* about the centre of mass */
        double kinetic_energy;
        double enclosed_volume;     /* of the skinned mesh where pressure is on, otherwise 0 */
        uint32_t pieces;            /* connected parts now; 0: fracture was never asked for */
        uint32_t pieces_ever;       /* numbers given to pieces so far */
        uint64_t splits;            /* clusters split so far */
        uint64_t updates_max;       /* memberships that splits rewrote in one substep, at most */
        uint64_t recluster_events;  /* clusters made anew so far */
        uint64_t recluster_updates; /* most memberships that reclustering has gone over in a
                                       substep, since the body was made or restored */
        pliant_level_info level[PLIANT_MAX_LEVELS]; /* finest first */
    } pliant_body_info;

    PLIANT_API void pliant_body_info_init(pliant_body_info* info, size_t size);
    PLIANT_API pliant_status pliant_body_get_info(pliant_body body, pliant_body_info* info);

    /* All warnings of the body as sentences, one a line; "" if there are none. Valid until the body
     * is destroyed, advanced or asked again. */
    PLIANT_API const char* pliant_body_warning_text(pliant_body body);

    /* What can be read of a body. Particle channels are ordered by external id (0, 1, ... as
     * sampled or given); cluster channels by level, then index. f4 is float, u4 uint32_t, u8
     * uint64_t. */
    typedef enum pliant_channel
    {
        PLIANT_POSITION = 0,     /* 3 f4 a particle, relative to the origin given */
        PLIANT_VELOCITY,         /* 3 f4 a particle */
        PLIANT_REST,             /* 3 f4 a particle, relative to the origin given */
        PLIANT_MASS,             /* 1 f4 a particle, kg */
        PLIANT_MASS_QUANTA,      /* 1 u8 a particle */
        PLIANT_SHELL,            /* 1 u4 a particle */
        PLIANT_DEFORMATION,      /* 9 f4 a particle: its clusters' blended deformation gradients,
                                    from the body's rest shape */
        PLIANT_STRETCH,          /* 1 f4 a particle: largest singular value of that */
        PLIANT_NEAREST_CLUSTER,  /* 1 u4 a particle: the cluster of "level" whose centre is nearest
                                    at rest */
        PLIANT_CLUSTER_CENTRE,   /* 3 f4 a cluster of "level": query centre at rest, relative to
                                    origin */
        PLIANT_CLUSTER_RADIUS,   /* 1 f4 a cluster of "level" */
        PLIANT_CLUSTER_MASS,     /* 1 f4 a cluster of "level" */
        PLIANT_CLUSTER_REST,     /* 3 f4 a cluster of "level": centre of mass at rest, relative to
                                    origin */
        PLIANT_CLUSTER_POSITION, /* 3 f4 a cluster of "level": centre of mass now, relative to
                                    origin */
        PLIANT_CLUSTER_GRADIENT, /* 9 f4 a cluster of "level": F now */
        PLIANT_CLUSTER_WIDTH, /* 2 f4 a cluster of "level": RMS radius W_c, largest rest distance */
        PLIANT_CLUSTER_ALPHA, /* 2 f4 a cluster of "level": alpha and damping of the last substep */
        PLIANT_MEMBER_BEGIN,  /* 1 u4 a cluster of "level", and one more: where its members begin */
        PLIANT_MEMBER_PARTICLE, /* 1 u4 a membership: particle id (nested coarse: finer cluster
                                   index) */
        PLIANT_MEMBER_WEIGHT,   /* 1 f4 a membership: normalised weight */
        PLIANT_MEMBER_OFFSET,   /* 3 f4 a membership: rest offset p_ic (nested coarse: q_fc) */
        PLIANT_PLASTIC_STRAIN,  /* 1 f4 a particle: its clusters' blended plastic strain, the sum of
                                   all flow */
        PLIANT_CLUSTER_PLASTIC, /* 10 f4 a cluster of "level": F^p, plastic strain */
        PLIANT_CLUSTER_PLANES,  /* 24 f4 a cluster of "level": up to six half-spaces n, a that bound
                                   its members (Jones et al. 2015, Eq. 15) and cracks (finest
                                   level): n . r + a <= 0, r at rest and relative to origin; n is
                                   nil where there are fewer. Contacts do not go by these, but by
                                   pliant_body_surface_distance */
        PLIANT_PARENT,          /* 1 u4 a particle: of whom it is a copy; its own id otherwise */
        PLIANT_BIRTH,           /* 1 f8 a particle: when that was, in frames (see fracture);
                                   -INFINITY for the first ones */
        PLIANT_PIECE,           /* 1 u4 a particle: the piece that it is in */
        PLIANT_PIECE_PARENT,    /* 1 u4 a piece ever made: from which it came; its own number for
                                   the first ones */
        PLIANT_PIECE_BIRTH,   /* 1 f8 a piece ever made: when, in frames; -INFINITY for the first */
        PLIANT_SPLIT_PLANE,   /* 7 f4 a split: point (at rest, relative to origin), normal, reach */
        PLIANT_SPLIT_TIME,    /* 1 f8 a split: when, in frames */
        PLIANT_SPLIT_CLUSTER, /* 2 u4 a split: the cluster, and the new one on the side that the
                                 normal points to */
        PLIANT_DIVIDED,       /* 4 u4 a particle that a split divided: split, particle, copy, 1 if
                                 the copy is on the side that the split's normal points to */
        PLIANT_CLUSTER_BIRTH, /* 1 u8 a cluster of "level": the substep that made it, counted from
                                 1; 0 for the first ones */
        PLIANT_CLUSTER_FADE,  /* 1 f4 a cluster of "level": its share of the weight it would have;
                                 0: it has no members any more */
        PLIANT_RENEWED,       /* 1 f4 a particle: its weight in clusters that were made anew */
        PLIANT_CELL,       /* 1 u4 a particle: its cell of the pattern along which the body breaks;
                              nothing without one */
        PLIANT_CELL_POINT, /* 3 f4 a cell of that pattern: the point about which it is. A cell is
                              what is nearest to its point at rest */
        PLIANT_SUCCESSOR,  /* 1 u4 a particle: its own id, or, once it was merged with another where
                              they were crowded, the particle that has its mass now. It keeps its
                              place in all channels: mass 0, where its material is (see resample) */
    } pliant_channel;

    /* Reads a channel. With buffer NULL, *bytes becomes the size needed; otherwise it is the
     * buffer's size going in and the size written coming out. "level" 0 is the finest; ignored by
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

    /* Changes what may be animated of a material (all but density and goal), from the next substep
     * on. */
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

    /* Changes painted factors, one a particle by id, from the next substep on. They are averaged to
     * the clusters, so that momentum is kept; of the toughness it is the harmonic mean, since a
     * part is as tough as its weakest places (factors below .02 are as .02). NULL: all 1. */
    PLIANT_API pliant_status pliant_body_set_factors(pliant_body body, uint32_t factor,
                                                     uint32_t count, const float* values);

    /* Samples values given at the mesh's vertices (count times width floats) at the particles by
     * id: the nearest point of the surface, barycentrically. For painting. */
    PLIANT_API pliant_status pliant_body_sample_mesh_values(pliant_body body, uint32_t vertex_count,
                                                            uint32_t width, const float* values,
                                                            float* particle_values);

    /* Accelerations of each particle by id for the next frames, on top of gravity; NULL: none. */
    PLIANT_API pliant_status pliant_body_set_accelerations(pliant_body body, uint32_t count,
                                                           const float* accelerations);

    /* ------------------------------------------------------------------ fracture */

    /* A cluster whose largest elastic stretch is over 1 + toughness is split in two, across the
     * direction of that stretch; particles that it shares with clusters on both sides are divided,
     * with their mass. Positions and velocities stay as they are. Compression never breaks
     * anything.
     *
     * Particles keep their ids; copies get new ones. No cluster is split any more once there are
     * more particles, or as many splits, as the body had memberships at first (overlap times
     * particles), or four times its particles if that is more. Only bodies that flow come to that:
     * their clusters are made anew. Small clusters that nothing can take the place of are kept
     * there with the rest shape that they have flowed to.
     *
     * A copy whose material another piece has is not seen and touches nothing. Colliders touch
     * those of a body that flows which are more than two spacings from all that is seen of their
     * piece.
     *
     * Times are in frames: whole calls of pliant_scene_advance since the scene was made, and the
     * part of the one under way. Where values are given for each particle, they may go on to be
     * given for as many as there were at first: copies then get what the particle has that they are
     * copies of. */
    typedef struct pliant_fracture_desc
    {
        uint32_t size;
        uint32_t settle;   /* non-zero: a cluster that has been split is not split again before its
                              stretch has been below 1 + toughness, or as long as it takes to swing
                              once; default 1 */
        double toughness;  /* INFINITY: nothing breaks (default) */
        double boost;      /* t seconds after a split what is left of the cluster bears toughness *
                              (1 + boost * exp(-falloff t)); default 0 */
        double falloff;    /* rate per second; default 3 */
        double first_time; /* seconds of the scene before which nothing breaks; default 0 */
        double smallest_piece; /* share of the body's mass, 0 to 1: nothing smaller comes off;
                                  default .002 */
        uint32_t most_pieces;  /* 0: as many as there come (default) */
        uint32_t cells;        /* 2 or more: the body is cut into so many Voronoi cells beforehand,
                                  and breaks only between them: overloaded clusters are divided by
                                  the cells of their members, no particle is divided, and what lies
                                  within one cell stays whole; 0 (default) or 1: it breaks
                                  anywhere */
        uint32_t cell_seed;    /* another one, other cells; default 0 */
        uint32_t reserved;
    } pliant_fracture_desc;

    PLIANT_API void pliant_fracture_desc_init(pliant_fracture_desc* desc, size_t size);
    /* From the next substep on; may be called every frame. What has broken stays broken. Not for
     * bodies with independent levels or QUADRATIC goals, that are resampled, or that have ever been
     * under pressure: they would leak. */
    PLIANT_API pliant_status pliant_body_set_fracture(pliant_body body,
                                                      const pliant_fracture_desc* desc);
    /* The points of the pattern's cells, where the caller has some of its own: as the body rests,
     * relative to "origin" (NULL: the world's zero). They take the place of "cells" and "cell_seed"
     * for as long as the body has fracture, which it must have been given before. From 2 to
     * 1,048,576; 0: none, and the settings count again. */
    PLIANT_API pliant_status pliant_body_set_cells(pliant_body body, uint32_t count,
                                                   const double* origin, const float* points);

/* ------------------------------------------------------------------ pins and following */

/* A pin frequency of this or more holds the particle exactly. */
#define PLIANT_PIN_HELD 1.0e6f

    /* Pins: for each particle by id, how it is pulled toward its target: 0 not at all, otherwise
     * the frequency in hertz of a critically damped spring, PLIANT_PIN_HELD or more: exactly. From
     * the next frame on; may be called every frame. NULL: no pins. A particle that gets its first
     * pin without a target is pinned where it is. */
    PLIANT_API pliant_status pliant_body_set_pins(pliant_body body, uint32_t count,
                                                  const float* frequencies);

    /* Where the pin targets are at the end of the next frame, by particle id, relative to origin;
     * interpolated linearly over its substeps. Not called: they stay. */
    PLIANT_API pliant_status pliant_body_set_pin_targets(pliant_body body, uint32_t count,
                                                         const double origin[3],
                                                         const float* positions);

    /* The same from the animated mesh: vertices (as many as the body's mesh) at the end of the next
     * frame. Each particle follows the surface point it is nearest to, with its local
     * deformation. */
    PLIANT_API pliant_status pliant_body_set_pin_mesh(pliant_body body, uint32_t vertex_count,
                                                      const double origin[3],
                                                      const float* vertices);

    /* While on, every particle is held to its target; switched off (the release frame), the body
     * goes on with the velocity that the targets had. Default off. */
    PLIANT_API pliant_status pliant_body_set_follow(pliant_body body, int32_t follow);

    /* Gravity compensation: changes the body's rest shape so that it hangs in equilibrium from its
     * pins where it was created, instead of sagging in the first frames. To be called once, after
     * pliant_body_set_pins() and before the first frame, with the descriptor of the frames to come
     * (its length and substeps). What the pins do not hold is left alone, as are fields, pressure
     * and contacts. Surfaces skinned to the body stay as they were modelled. "share" (may be NULL)
     * becomes the part of gravity that is balanced: 1, or less where all of it would strain
     * clusters by more than about half, or 0 where pins do not hold the body. Where no pin holds
     * exactly, those that pull count as supports and give way a little. Not for bodies with
     * independent levels or QUADRATIC goals (PLIANT_ERROR_STATE). */
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
        PLIANT_SHAPE_MESH,      /* a closed triangle mesh, solid: nothing stays inside. What lies
                                   inside is told by the winding number, so either orientation and
                                   shells in shells will do */
        PLIANT_SHAPE_SHELL,     /* a triangle mesh, open or closed, as a surface with two sides:
                                   particles stay on the side on which they are */
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
        /* A surface that runs although the shape stands still (a conveyor belt, a spinning drum):
         * what touches it is dragged by friction as if it moved, on top of its own motion, with the
         * part along the surface of velocity + spin x (point - centre). In the axes of the pose; in
         * the world's for a mesh, where the centre is relative to the world's zero. Default 0. */
        double surface_velocity[3];
        double surface_spin[3]; /* radians a second */
        double surface_centre[3];
    } pliant_collider_desc;

    PLIANT_API void pliant_collider_desc_init(pliant_collider_desc* desc, size_t size);
    PLIANT_API pliant_status pliant_collider_create(pliant_scene scene,
                                                    const pliant_collider_desc* desc,
                                                    pliant_collider* collider);
    /* A collider of shape MESH or SHELL; the desc's pose and inside_out are not used and inside_out
     * must be 0. Triangles without an area are passed by, now and later. No triangle with one, an
     * index that names no vertex and vertices that are not finite are PLIANT_ERROR_MESH. Bodies are
     * kept off the surface by the thickness, or by a few units in the last place of their
     * positions, whichever is more. */
    PLIANT_API pliant_status pliant_collider_create_mesh(pliant_scene scene,
                                                         const pliant_collider_desc* desc,
                                                         const pliant_mesh_desc* mesh,
                                                         pliant_collider* collider);
    PLIANT_API pliant_status pliant_collider_destroy(pliant_collider collider);
    /* Where the vertices of a MESH or SHELL (as many as it was made with) are at the end of the
     * next frame, relative to origin; each goes there in a straight line, and the surface's
     * velocity drags what touches it. Not called: they stay where they are. */
    PLIANT_API pliant_status pliant_collider_set_mesh(pliant_collider collider,
                                                      uint32_t vertex_count, const double origin[3],
                                                      const float* vertices);
    /* The pose at the end of the next frame. Not called: it stays where it is. Not for a MESH or
     * SHELL, which have no pose. */
    PLIANT_API pliant_status pliant_collider_move(pliant_collider collider,
                                                  const pliant_pose* pose);
    /* Friction, restitution, thickness and how the surface runs, from the next frame on; shape and
     * pose of the desc are ignored. */
    PLIANT_API pliant_status pliant_collider_set(pliant_collider collider,
                                                 const pliant_collider_desc* desc);

    /* ------------------------------------------------------------------ bodies against bodies */

    /* Contacts of all bodies with each other and with themselves: particles of one against the
     * finest clusters of the other, which say where its surface at rest (half a spacing outside of
     * its particles) is now. They keep linear and angular momentum. Soft bodies bounce by
     * themselves; restitution adds to it when they part: bodies, and pieces of those that broke,
     * as wholes. */
    typedef struct pliant_contact_desc
    {
        uint32_t size;
        uint32_t enabled;    /* default 0 */
        double stiffness;    /* firmness, 0 to 1: the part of the overlap that a substep would make
                                which is removed, for any number of iterations; 0: bodies pass
                                through each other; default 1. Overlaps that are there before go
                                within a tenth of a second */
        double friction;     /* Coulomb coefficient; default 0.5 */
        double restitution;  /* 0 to 1; default 0 */
        double thickness;    /* distance kept from surfaces; default 0 */
        uint32_t iterations; /* 1 to 1000; default 8 */
        uint32_t reserved;
    } pliant_contact_desc;

    PLIANT_API void pliant_contact_desc_init(pliant_contact_desc* desc, size_t size);
    /* From the next substep on. */
    PLIANT_API pliant_status pliant_scene_set_contacts(pliant_scene scene,
                                                       const pliant_contact_desc* desc);
    /* Which bodies a body collides with, from the next substep on: those that have a bit of
     * "groups" in common with it (0 is as all bits, the default), and with "self" non-zero (the
     * default) its own parts: clusters that share no particle, once they have been apart. */
    PLIANT_API pliant_status pliant_body_set_contacts(pliant_body body, uint32_t groups,
                                                      int32_t self);
    /* How far points are from the surface at which others touch the body, as it rests: "distances"
     * (count), below 0 inside. It lies half a spacing outside of the particles, without the
     * thickness; cracks are not in it. Points are count * 3, as the body rests, relative to origin
     * (3, or NULL). */
    PLIANT_API pliant_status pliant_body_surface_distance(pliant_body body, uint32_t count,
                                                          const double* origin, const float* points,
                                                          float* distances);

    /* What a body's own surface is like, from the next substep on; a number below 0 (the default of
     * all three) is not its own. Two bodies that touch, each with its own numbers or else the
     * scene's: friction is the geometric mean, so that something slippery is slippery on anything;
     * restitution and thickness are the larger of the two. Of a body and a collider friction and
     * restitution go by the same rule; without its own the body takes the collider's. */
    PLIANT_API pliant_status pliant_body_set_surface(pliant_body body, double friction,
                                                     double restitution, double thickness);

    typedef struct pliant_weld_desc
    {
        uint32_t size;
        uint32_t reserved;
        pliant_body body;  /* whose particles are welded */
        pliant_body other; /* to this body, whose particles are welded to the first too; or 0 */
        pliant_collider collider; /* or to this collider; or 0 */
        double distance; /* of a particle from the other's surface, at most; 0 (the default): the
                            particles' spacing */
        double strength; /* pascals that a bond bears; 0 (the default): it never breaks */
    } pliant_weld_desc;

    PLIANT_API void pliant_weld_desc_init(pliant_weld_desc* desc, size_t size);
    /* Welds a body to another, or to a collider, where they touch now. A bond holds one particle
     * where it is relative to the other: to a cluster of a body, to the pose of a collider, to the
     * nearest triangle of a mesh, wherever that goes. Bodies welded together do not push each other
     * there. count
     * (may be NULL) is how many bonds were made. Bonds go with their body or collider. */
    PLIANT_API pliant_status pliant_scene_weld(pliant_scene scene, const pliant_weld_desc* desc,
                                               uint32_t* count);

    /* A body none of whose particles was faster than "speed" (units a second) for "seconds" falls
     * asleep at the end of a frame, together with all that it touches: it stops and costs next to
     * nothing. It wakes when it is hit, when a neighbour wakes, when a moving collider comes near,
     * and when it, gravity, a collider or a field is set. Bodies with pins or accelerations, and
     * bodies in a scene with force fields, do not sleep. The pieces of a body that broke sleep one
     * by one, and of a body with pins those that have none. Speed 0: no body does (the default). */
    PLIANT_API pliant_status pliant_scene_set_sleep(pliant_scene scene, double speed,
                                                    double seconds);

    /* ------------------------------------------------------------------ force fields, as in
     * Blender */

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

    /* The parameters of Blender's field settings, by their names there. The radial numbers are
     * distances for a TUBE and angles in degrees for a CONE. Defaults: the matrix is the identity,
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
        uint32_t use_2d_force;        /* of textures in Blender: not used */
        double matrix[16];            /* object to world, row-major, with scale */
        double strength;
        double flow;
        double inflow; /* Blender's other name for the flow of a VORTEX: not used */
        double falloff_power;
        double distance_min;
        double distance_max;
        double radial_falloff;
        double radial_min;
        double radial_max;
        double harmonic_damping;
        double rest_length;
        double linear_drag;    /* of DRAG: as in Blender this one goes with speed squared */
        double quadratic_drag; /* and this one with speed; each counts up to 2 */
        double noise_size;     /* of TURBULENCE: "size"; 0 is as 1 */
        double wind_factor;    /* of cloth in Blender: not used */
    } pliant_field_desc;

    PLIANT_API void pliant_field_desc_init(pliant_field_desc* desc, size_t size);
    PLIANT_API pliant_status pliant_field_create(pliant_scene scene, const pliant_field_desc* desc,
                                                 pliant_field* field);
    PLIANT_API pliant_status pliant_field_destroy(pliant_field field);
    /* The field's parameters from the next frame on (position and strength interpolated over
     * it). */
    PLIANT_API pliant_status pliant_field_set(pliant_field field, const pliant_field_desc* desc);
    /* The acceleration that a field gives at points with velocities: what advance() uses. */
    PLIANT_API pliant_status pliant_field_evaluate(const pliant_field_desc* desc, uint32_t count,
                                                   const float* positions, const float* velocities,
                                                   float* accelerations);

    /* ------------------------------------------------------------------ skinning */

    typedef struct pliant_skin_desc
    {
        uint32_t size;
        uint32_t vertex_count;
        const float* vertices; /* at rest, relative to origin: any mesh, also not the body's own */
        const float* normals;  /* at rest, or NULL: normals cannot be asked for */
        double origin[3];
        double radius; /* of the kernel; 0: from the particles' spacing (default) */
        /* 1 (default), for skins of stores: a vertex whose particles have flowed turns to those
         * that are near it then. Nothing jumps when it does, and neighbouring vertices stay
         * together. A body that has not flowed is skinned as without. 0: never. */
        int32_t rebind;
        /* Of the same mesh, or 0: how its vertices hang together. Where a body has several parts
         * that share no cluster, all vertices of what hangs together follow the same one. Without
         * triangles each follows the part that is nearest to it. */
        uint32_t triangle_count;
        const uint32_t* triangles; /* 3 * triangle_count, or NULL */
    } pliant_skin_desc;

    PLIANT_API void pliant_skin_desc_init(pliant_skin_desc* desc, size_t size);

    /* Binds vertices to a body's particles, once and for all. The skin belongs to the scene and
     * outlives the body's frames, not the body. */
    PLIANT_API pliant_status pliant_skin_create(pliant_body body, const pliant_skin_desc* desc,
                                                pliant_skin* skin);
    /* Binds vertices to the index-th body of a store. */
    PLIANT_API pliant_status pliant_skin_create_stored(pliant_store store, uint32_t body_index,
                                                       const pliant_skin_desc* desc,
                                                       pliant_skin* skin);
    PLIANT_API pliant_status pliant_skin_destroy(pliant_skin skin);
    /* Vertices, normals and velocities (any may be NULL) for where the body is now. Vertices are
     * relative to origin (NULL: the world's zero); with a transform (three rows of four, or NULL)
     * they are then mapped by it, which gives them in an object's own coordinates:
     *     out[row] = ((t[row][0] x + t[row][1] y) + t[row][2] z) + t[row][3],
     * x, y, z being what would be written without it, and the sums in double in this order. Normals
     * and velocities stay in the world's axes. */
    PLIANT_API pliant_status pliant_skin_apply(pliant_skin skin, const double origin[3],
                                               const double transform[12], float* vertices,
                                               float* normals, float* velocities);
    /* The same for a stored frame; the skin must be of that store. Where a body has flowed, frames
     * before it are read too (see "rebind"): a skin knows what vertices followed in the frame that
     * it was asked for last and in up to eight before it, evenly spread, and goes on from the
     * nearest of these. So asking for frames in their order is fastest, any other order gives the
     * same, and a skin's memory does not grow with the number of frames. */
    PLIANT_API pliant_status pliant_skin_apply_stored(pliant_skin skin, int32_t frame,
                                                      const double origin[3],
                                                      const double transform[12], float* vertices,
                                                      float* normals, float* velocities);

    /* ------------------------------------------------------------------ the frame store */

    typedef enum pliant_store_mode
    {
        PLIANT_STORE_READ = 0, /* must exist */
        PLIANT_STORE_CREATE,   /* a new, empty store; one that is there is cleared */
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
        const char* path;          /* UTF-8: a folder of its own */
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

    /* A body as it is in the last frame of a store. */
    typedef struct pliant_stored_body_info
    {
        uint32_t size;
        uint32_t particles; /* on which every frame is presented */
        uint32_t copies;    /* of them: made by splits, the last ones */
        uint32_t clusters;  /* of the finest level */
        uint32_t pieces;    /* ever made; 0: it could not break */
        uint32_t splits;
        double spacing;
    } pliant_stored_body_info;

    PLIANT_API void pliant_stored_body_info_init(pliant_stored_body_info* info, size_t size);
    PLIANT_API pliant_status pliant_store_get_body_info(pliant_store store, uint32_t body_index,
                                                        pliant_stored_body_info* info);

    /* Writes the scene's state as a finished frame: temporary name, synced, renamed, then entered
     * in the journal with its hash. Writes a checkpoint too where one is due. In a resumed store a
     * frame that was there before must come out the same: otherwise PLIANT_ERROR_STATE and the
     * store is left as it was. Frames are numbered one after the other. */
    PLIANT_API pliant_status pliant_store_write_frame(pliant_store store, pliant_scene scene,
                                                      int32_t frame);
    /* Restores the scene from the latest checkpoint at or before "at_most", and says which frame
     * that was. PLIANT_ERROR_STATE if there is none. */
    PLIANT_API pliant_status pliant_store_restore(pliant_store store, pliant_scene scene,
                                                  int32_t at_most, int32_t* frame);
    /* Forgets all frames and checkpoints after "frame". */
    PLIANT_API pliant_status pliant_store_truncate(pliant_store store, int32_t frame);
    /* Reads a channel of a stored frame; as pliant_body_read. POSITION, VELOCITY, REST, MASS,
     * SHELL, DEFORMATION, STRETCH, NEAREST_CLUSTER (level 0), PLASTIC_STRAIN, RENEWED and those
     * from PARENT to DIVIDED can be had. Every frame is presented on the set of particles of the
     * last one: a particle that is not born yet is where the one is that it will be a copy of, and
     * has all of its values but its mass, which is 0. Parents, births, pieces ever made and splits
     * are the same in every frame; their times are numbers of frames as the store has them. */
    PLIANT_API pliant_status pliant_store_read(pliant_store store, uint32_t body_index,
                                               int32_t frame, uint32_t channel,
                                               const double origin[3], void* buffer,
                                               uint64_t* bytes);
    /* Which particles of the index-th body shared a cluster, and until when: in the last frame too
     * (INFINITY), or the last frame in which they did. Of those that rest at most "reach" apart (0:
     * three times the spacing). With pairs and until NULL, *count becomes how many there are;
     * otherwise it is the room (pairs: 2 each) going in and their number coming out. A copy is not
     * paired for the time before its birth, in which it was its parent. */
    PLIANT_API pliant_status pliant_store_read_pairs(pliant_store store, uint32_t body_index,
                                                     double reach, uint32_t* pairs, double* until,
                                                     uint64_t* count);
    /* Reads every file through and compares checksums; the sentence names the first bad file. */
    PLIANT_API pliant_status pliant_store_verify(pliant_store store);

#ifdef __cplusplus
}
#endif

#endif
