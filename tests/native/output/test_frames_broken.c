// SPDX-License-Identifier: GPL-3.0-or-later
/* Frame stores of bodies that break. */
#include "native/support/breaking.h"

#include <body/edit/edit.h>
#include <stdlib.h>
#include <string.h>

enum
{
    FIRST = 101, /* the store's number of the scene's frame 0 */
    FRAMES = 24
};

static pliant_store open_store(const char* path, uint32_t mode)
{
    pliant_store store = 0;
    pliant_store_desc desc;
    pliant_store_desc_init(&desc, sizeof desc);
    desc.mode = mode;
    desc.path = path;
    desc.checkpoint_every = 4;
    CHECK_OK(pliant_store_open(&desc, &store));
    return store;
}

static void* read_stored(pliant_store store, int32_t frame, uint32_t channel, uint64_t* bytes)
{
    *bytes = 0;
    if (pliant_store_read(store, 0, frame, channel, NULL, NULL, bytes) != PLIANT_OK)
        return NULL;
    void* data = malloc(*bytes + 1);
    CHECK_OK(pliant_store_read(store, 0, frame, channel, NULL, data, bytes));
    return data;
}

static breaking torn_bar(void)
{
    breaking b = breaking_bar(40);
    b.desc.material.yield = .03;
    breaking_make_bar(&b);
    breaking_tough(&b, .05);
    return b;
}

/* What a frame shows, as the body itself had it. */
typedef struct shown
{
    uint32_t count;
    float *x, *f;
    uint32_t *piece, *begin, *particle;
} shown;

static shown show(const breaking* b)
{
    shown s = {.x = breaking_read(b, PLIANT_POSITION, 12, &s.count)};
    s.f = breaking_read(b, PLIANT_DEFORMATION, 36, NULL);
    s.piece = breaking_read(b, PLIANT_PIECE, 4, NULL);
    s.begin = breaking_read(b, PLIANT_MEMBER_BEGIN, 4, NULL);
    s.particle = breaking_read(b, PLIANT_MEMBER_PARTICLE, 4, NULL);
    return s;
}

static void shown_free(shown* s)
{
    free(s->x);
    free(s->f);
    free(s->piece);
    free(s->begin);
    free(s->particle);
}

static uint32_t ancestor(const uint32_t* parent, uint32_t i, uint32_t count)
{
    while (i >= count)
        i = parent[i];
    return i;
}

TEST(every_frame_is_presented_on_the_final_particles)
{
    breaking b = torn_bar();
    const char* path = test_folder();
    pliant_store store = open_store(path, PLIANT_STORE_CREATE);
    shown frames[FRAMES + 1];
    for (int f = 0; f <= FRAMES; ++f)
    {
        if (f)
            breaking_pull(&b, 1, .05);
        CHECK_OK(pliant_store_write_frame(store, b.scene, FIRST + f));
        frames[f] = show(&b);
    }
    uint32_t last = frames[FRAMES].count;
    CHECK(breaking_info(&b).pieces > 1 && last > b.count);
    uint64_t bytes;
    uint32_t* parent = read_stored(store, FIRST, PLIANT_PARENT, &bytes);
    CHECK(bytes == 4 * (uint64_t)last);
    for (int f = FRAMES; f >= 0; f -= f > 8 ? 5 : 1)
    {
        const shown* s = &frames[f];
        float* x = read_stored(store, FIRST + f, PLIANT_POSITION, &bytes);
        CHECK(bytes == 12 * (uint64_t)last);
        float* gradient = read_stored(store, FIRST + f, PLIANT_DEFORMATION, &bytes);
        uint32_t* piece = read_stored(store, FIRST + f, PLIANT_PIECE, &bytes);
        float* mass = read_stored(store, FIRST + f, PLIANT_MASS, &bytes);
        double sum = 0;
        for (uint32_t i = 0; i < last; ++i)
        {
            uint32_t from = ancestor(parent, i, s->count);
            CHECK(memcmp(x + 3 * i, s->x + 3 * from, 12) == 0 && piece[i] == s->piece[from] &&
                  memcmp(gradient + 9 * i, s->f + 9 * from, 36) == 0);
            CHECK((mass[i] > 0) == (i < s->count));
            sum += mass[i];
        }
        CHECK_NEAR(sum, breaking_info(&b).mass, 1e-5 * sum);
        free(x);
        free(gradient);
        free(piece);
        free(mass);
    }
    /* times are those of the store: what is born in a frame is there at its end */
    double* birth = read_stored(store, FIRST, PLIANT_BIRTH, &bytes);
    for (uint32_t i = 0; i < last; ++i)
    {
        int f = 0;
        while (i >= frames[f].count)
            ++f;
        CHECK(f == 0 ? isinf(birth[i]) && birth[i] < 0
                     : birth[i] > FIRST + f - 1 && birth[i] <= FIRST + f + 1e-9);
    }
    uint32_t splits = (uint32_t)breaking_info(&b).splits;
    float *plane = read_stored(store, FIRST + 1, PLIANT_SPLIT_PLANE, &bytes), *own;
    own = breaking_read(&b, PLIANT_SPLIT_PLANE, 28, NULL);
    CHECK(bytes == 28 * (uint64_t)splits && memcmp(plane, own, bytes) == 0);
    uint32_t* divided = read_stored(store, FIRST + 1, PLIANT_DIVIDED, &bytes);
    uint32_t* is = breaking_read(&b, PLIANT_DIVIDED, 16, NULL);
    CHECK(bytes == 16 * (uint64_t)(last - b.count) && memcmp(divided, is, bytes) == 0);
    double* time = read_stored(store, FIRST + 1, PLIANT_SPLIT_TIME, &bytes);
    double* when = breaking_read(&b, PLIANT_SPLIT_TIME, 8, NULL);
    for (uint32_t i = 0; i < splits; ++i)
        CHECK_NEAR(time[i], when[i] + FIRST, 1e-9);
    CHECK_OK(pliant_store_verify(store));
    free(parent), free(birth), free(plane), free(own);
    free(divided), free(is), free(time), free(when);
    for (int f = 0; f <= FRAMES; ++f)
        shown_free(&frames[f]);
    CHECK_OK(pliant_store_close(store));
    breaking_free(&b);
}

static bool share(const shown* s, uint32_t clusters, uint32_t a, uint32_t b)
{
    for (uint32_t c = 0; c < clusters; ++c)
    {
        bool has[2] = {false, false};
        for (uint32_t m = s->begin[c]; m < s->begin[c + 1]; ++m)
            has[0] = has[0] || s->particle[m] == a, has[1] = has[1] || s->particle[m] == b;
        if (has[0] && has[1])
            return true;
    }
    return false;
}

TEST(pairs_tell_until_when_particles_shared_a_cluster)
{
    breaking b = torn_bar();
    pliant_store store = open_store(test_folder(), PLIANT_STORE_CREATE);
    shown frames[FRAMES + 1];
    uint32_t clusters[FRAMES + 1];
    for (int f = 0; f <= FRAMES; ++f)
    {
        if (f)
            breaking_pull(&b, 1, .05);
        CHECK_OK(pliant_store_write_frame(store, b.scene, FIRST + f));
        frames[f] = show(&b);
        clusters[f] = breaking_info(&b).level[0].clusters;
    }
    uint64_t count = 0, again;
    double reach = 2.2 * breaking_info(&b).spacing;
    CHECK_OK(pliant_store_read_pairs(store, 0, reach, NULL, NULL, &count));
    uint32_t* pairs = malloc(8 * count);
    double* until = malloc(8 * count);
    again = count - 1;
    CHECK(pliant_store_read_pairs(store, 0, reach, pairs, until, &again) == PLIANT_ERROR_BUFFER);
    again = count;
    CHECK_OK(pliant_store_read_pairs(store, 0, reach, pairs, until, &again));
    CHECK(pliant_store_read_pairs(store, 1, reach, NULL, NULL, &again) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_store_read_pairs(store, 0, -1, NULL, NULL, &again) == PLIANT_ERROR_ARGUMENT);
    float* rest = breaking_read(&b, PLIANT_REST, 12, NULL);
    /* some of all pairs near enough, by brute force */
    uint32_t last = frames[FRAMES].count, listed = 0, looked_at = 0, parted = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < last; ++i)
        for (uint32_t j = i + 1; j < last; ++j)
        {
            double square = 0;
            for (uint32_t k = 0; k < 3; ++k)
                square += pow(rest[3 * i + k] - rest[3 * j + k], 2);
            bool known = at < count && pairs[2 * at] == i && pairs[2 * at + 1] == j;
            if (known)
                parted += isfinite(until[at]);
            if (sqrt(square) <= reach && (i * 7919 + j) % 97 == 0)
            {
                int f = FRAMES;
                while (f >= 0 && (j >= frames[f].count || !share(&frames[f], clusters[f], i, j)))
                    --f;
                CHECK_MSG(known == (f >= 0), "pair %u, %u", i, j);
                if (known && f >= 0)
                    CHECK_MSG(f == FRAMES ? isinf(until[at]) : until[at] == FIRST + f,
                              "pair %u, %u until %g, not %d", i, j, until[at], FIRST + f);
                ++looked_at;
            }
            listed += known;
            at += known;
        }
    CHECK_MSG(listed == count && looked_at > 100 && parted > 100, "%u of %llu listed, %u parted",
              listed, (unsigned long long)count, parted);
    free(pairs), free(until), free(rest);
    for (int f = 0; f <= FRAMES; ++f)
        shown_free(&frames[f]);
    CHECK_OK(pliant_store_close(store));
    breaking_free(&b);
}

/* A bake stopped anywhere resumes from its last checkpoint to the same frames. */
TEST(a_bake_of_a_body_that_breaks_is_resumed_to_the_same_frames)
{
    breaking b = torn_bar();
    pliant_store store = open_store(test_folder(), PLIANT_STORE_CREATE);
    char path[512];
    snprintf(path, sizeof path, "%s", test_folder());
    pliant_store second = open_store(path, PLIANT_STORE_CREATE);
    for (int f = 0; f <= FRAMES; ++f)
    {
        if (f == 10)
            breaking_tough(&b, .005);
        if (f)
            breaking_pull(&b, 1, .028);
        CHECK_OK(pliant_store_write_frame(store, b.scene, FIRST + f));
        if (f <= 17)
            CHECK_OK(pliant_store_write_frame(second, b.scene, FIRST + f));
    }
    CHECK_OK(pliant_store_close(second));
    second = open_store(path, PLIANT_STORE_RESUME);
    breaking other = torn_bar();
    int32_t frame;
    CHECK_OK(pliant_store_restore(second, other.scene, FIRST + 6, &frame));
    CHECK(frame == FIRST + 4);
    other.body = world_body(other.scene, 0);
    other.pulled = 4 * .014;
    CHECK_MSG(breaking_info(&other).splits > 0 &&
                  breaking_info(&other).splits < breaking_info(&b).splits,
              "%llu splits of %llu", (unsigned long long)breaking_info(&other).splits,
              (unsigned long long)breaking_info(&b).splits);
    for (int f = 5; f <= FRAMES; ++f)
    {
        if (f == 10)
            breaking_tough(&other, .005);
        breaking_pull(&other, 1, .028);
        CHECK_OK(pliant_store_write_frame(second, other.scene, FIRST + f)); /* compares hashes */
    }
    for (int f = 0; f <= FRAMES; f += 4)
    {
        uint64_t bytes, others;
        void *x = read_stored(store, FIRST + f, PLIANT_POSITION, &bytes),
             *y = read_stored(second, FIRST + f, PLIANT_POSITION, &others);
        CHECK(bytes == others && memcmp(x, y, bytes) == 0);
        free(x), free(y);
        x = read_stored(store, FIRST + f, PLIANT_PIECE, &bytes);
        y = read_stored(second, FIRST + f, PLIANT_PIECE, &others);
        CHECK(bytes == others && memcmp(x, y, bytes) == 0);
        free(x), free(y);
    }
    CHECK(world_hash(b.scene) == world_hash(other.scene));
    CHECK_OK(pliant_store_close(store));
    CHECK_OK(pliant_store_close(second));
    breaking_free(&b);
    breaking_free(&other);
}

/* A surface bound before the break keeps following its particles. */
TEST(skins_go_on_when_the_body_breaks)
{
    breaking b = torn_bar();
    pliant_store store = open_store(test_folder(), PLIANT_STORE_CREATE);
    pliant_skin skin, stored;
    pliant_skin_desc desc;
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertex_count = b.count / 10;
    desc.vertices = b.points.at;
    CHECK_OK(pliant_skin_create(b.body, &desc, &skin));
    for (int f = 0; f <= FRAMES; ++f)
    {
        if (f)
            breaking_pull(&b, 1, .05);
        CHECK_OK(pliant_store_write_frame(store, b.scene, FIRST + f));
    }
    CHECK_OK(pliant_skin_create_stored(store, 0, &desc, &stored));
    float* a = malloc(12 * (size_t)desc.vertex_count);
    float* c = malloc(12 * (size_t)desc.vertex_count);
    CHECK_OK(pliant_skin_apply(skin, NULL, NULL, a, NULL, NULL));
    CHECK_OK(pliant_skin_apply_stored(stored, FIRST + FRAMES, NULL, NULL, c, NULL, NULL));
    CHECK(memcmp(a, c, 12 * (size_t)desc.vertex_count) == 0);
    /* one that is bound now is bound to the same particles */
    pliant_skin late;
    CHECK_OK(pliant_skin_create(b.body, &desc, &late));
    CHECK_OK(pliant_skin_apply(late, NULL, NULL, c, NULL, NULL));
    CHECK(memcmp(a, c, 12 * (size_t)desc.vertex_count) == 0);
    for (uint32_t i = 0; i < 3 * desc.vertex_count; ++i)
        CHECK(isfinite(a[i]) && fabsf(a[i]) < 10);
    free(a), free(c);
    CHECK_OK(pliant_skin_destroy(skin));
    CHECK_OK(pliant_skin_destroy(late));
    CHECK_OK(pliant_skin_destroy(stored));
    CHECK_OK(pliant_store_close(store));
    breaking_free(&b);
}

/* The capacity reserved by an abandoned edit stays: the next frame has more clusters. */
TEST(an_abandoned_edit_does_not_stop_a_bake)
{
    breaking b = torn_bar();
    pliant_store store = open_store(test_folder(), PLIANT_STORE_CREATE);
    CHECK_OK(pliant_store_write_frame(store, b.scene, FIRST));
    pl_body* body = breaking_body(&b);
    uint32_t clusters = body->level_begin[1], fresh;
    uint64_t revision = 0;
    for (int turn = 1; turn <= 2; ++turn)
    {
        pl_edit* edit;
        REQUIRE_OK(pl_edit_begin(body, turn, &edit));
        for (uint32_t i = 0; i < 10; ++i)
            CHECK_OK(pl_edit_add_cluster(edit, i, &fresh));
        pl_edit_abandon(edit);
        CHECK(body->level_begin[1] > clusters);
        CHECK(turn == 1 || body->valid.memberships == revision); /* the second edit found room */
        revision = body->valid.memberships;
        CHECK_OK(pliant_store_write_frame(store, b.scene, FIRST + turn));
    }
    uint64_t bytes;
    float* x = read_stored(store, FIRST + 2, PLIANT_POSITION, &bytes);
    CHECK(x != NULL);
    free(x);
    breaking_pull(&b, 2, .05);
    CHECK_OK(pliant_store_write_frame(store, b.scene, FIRST + 3));
    CHECK_OK(pliant_store_verify(store));
    CHECK_OK(pliant_store_close(store));
    breaking_free(&b);
}
