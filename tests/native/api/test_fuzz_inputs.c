// SPDX-License-Identifier: GPL-3.0-or-later
/* Replays the seed corpus of the fuzz harnesses and every input that ever failed. */
#include "fuzz/harness.h"
#include "fuzz/small_scenes.h"
#include "native/support/store_scene.h"
#include "native/support/test.h"

static int replay(const char* kind, const char* harness,
                  void (*run)(const uint8_t* data, size_t bytes))
{
    char path[512];
    folder_files files;
    snprintf(path, sizeof path, "%s/%s/%s", PLIANT_FUZZ_FOLDER, kind, harness);
    folder_read(path, &files);
    for (int i = 0; i < files.count; ++i)
        run(files.data[i], files.bytes[i]);
    int count = files.count;
    folder_free(&files);
    return count;
}

static void replay_all(const char* harness, void (*run)(const uint8_t* data, size_t bytes))
{
    CHECK(replay("corpus", harness, run) > 10);
    CHECK(replay("regressions", harness, run) > 0);
}

TEST(fuzz_inputs_of_state_blocks)
{
    replay_all("state", fuzz_state);
}

TEST(fuzz_inputs_of_stores)
{
    replay_all("store", fuzz_store);
}

TEST(fuzz_inputs_of_calls)
{
    replay_all("calls", fuzz_calls);
}

TEST(fuzz_inputs_of_meshes)
{
    replay_all("mesh", fuzz_mesh);
}

/* The small scenes are in the states that their names state. */
TEST(fuzz_scenes_are_broken_resampled_asleep_and_partly_advanced)
{
    static const uint32_t kinds[] = {SMALL_BROKEN,  SMALL_FRAGMENTS, SMALL_CELLS,  SMALL_DRAWN,
                                     SMALL_PRESSED, SMALL_FLOW,      SMALL_ASLEEP, SMALL_PARTLY};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
    {
        pliant_body body = 0;
        pliant_body_info info;
        pliant_scene_info whole;
        pliant_scene scene = small_scene(kinds[i]);
        pliant_body_info_init(&info, sizeof info);
        pliant_scene_info_init(&whole, sizeof whole);
        CHECK_OK(pliant_scene_get_info(scene, &whole));
        CHECK_OK(pliant_scene_get_body(scene, 0, &body));
        CHECK_OK(pliant_body_get_info(body, &info));
        bool right = i < 3    ? info.pieces > 1
                     : i == 3 ? info.particles > 54
                     : i == 4 ? info.particles < 64
                     : i == 5 ? info.recluster_events > 0
                     : i == 6 ? whole.asleep > 0
                              : whole.substep_of_frame > 0;
        CHECK_MSG(right, "scene %u is not in its state", kinds[i]);
        CHECK_OK(pliant_scene_destroy(scene));
    }
}
