// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies that flow and then break: reclustering and splits at the same time. */
#include "native/support/breaking.h"
#include "native/support/edit_check.h"

#include <stdlib.h>

/* A bar that necks while its ends are drawn apart, and tears. */
static breaking bar_of(uint32_t levels, uint32_t threads)
{
    breaking b = breaking_bar(40);
    b.scene_desc.threads = threads;
    b.desc.levels.count = levels;
    b.desc.levels.reduction = 4;
    b.desc.material.yield = .02;
    b.desc.material.flow = 30;
    b.desc.material.recluster_condition = 1.4;
    b.desc.material.recluster_fade_in = .1;
    b.desc.material.recluster_fade_out = .15;
    breaking_make_bar(&b);
    breaking_tough(&b, .2);
    return b;
}

static void check_finite(const breaking* b)
{
    uint32_t count;
    float* at = breaking_read(b, PLIANT_POSITION, 4, &count);
    for (uint32_t i = 0; i < count; ++i)
        if (!(fabsf(at[i]) < 100))
        {
            CHECK_MSG(false, "a particle is at %g", at[i]);
            break;
        }
    free(at);
}

TEST(what_flows_tears_and_nothing_is_lost)
{
    for (uint32_t levels = 1; levels <= 3; levels += 2)
    {
        breaking b = bar_of(levels, 1);
        pl_body* body = breaking_body(&b);
        uint64_t quanta = check_quanta(body), split_after = 0, anew_after = 0;
        for (int frame = 0; frame < 36; ++frame)
        {
            pliant_body_info before = breaking_info(&b);
            breaking_pull(&b, 1, frame < 16 ? .06 : .3);
            pliant_body_info info = breaking_info(&b);
            split_after += info.splits > before.splits && before.recluster_events > 0;
            anew_after += info.recluster_events > before.recluster_events && before.splits > 0;
            if (frame % 6 == 5)
                check_body(body);
            CHECK(check_quanta(body) == quanta);
        }
        pliant_body_info info = breaking_info(&b);
        CHECK_MSG(split_after > 0 && anew_after > 0 && info.pieces >= 2,
                  "%u levels: %llu clusters anew, %llu splits, %u pieces; splits after %llu, anew "
                  "after %llu",
                  levels, (unsigned long long)info.recluster_events,
                  (unsigned long long)info.splits, info.pieces, (unsigned long long)split_after,
                  (unsigned long long)anew_after);
        CHECK(info.mass_quanta == quanta);
        check_finite(&b);
        breaking_free(&b);
    }
}

static uint64_t played(uint32_t levels, uint32_t threads, int saved_at)
{
    breaking b = bar_of(levels, threads);
    for (int frame = 0; frame < 24; ++frame)
    {
        breaking_pull(&b, 1, frame < 16 ? .06 : .3);
        if (frame != saved_at)
            continue;
        CHECK(breaking_info(&b).splits > 0 && breaking_info(&b).recluster_events > 0);
        b.body = world_renew(b.scene);
    }
    uint64_t hash = world_hash(b.scene);
    breaking_free(&b);
    return hash;
}

TEST(flowing_and_tearing_is_the_same_for_every_number_of_threads_and_when_saved)
{
    uint64_t expected = played(3, 1, -1);
    CHECK(played(3, 3, -1) == expected);
    CHECK(played(3, 1, 20) == expected);
    if (test_quick())
        return;
    CHECK(played(3, 2, -1) == expected);
    for (int frame = 18; frame < 23; ++frame)
        CHECK(played(3, 8, frame) == expected);
}
