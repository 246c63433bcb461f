// SPDX-License-Identifier: Apache-2.0
// The timeline of open profiles, in pieces that a viewer requests: tracks, tiles of merged events,
// single events with their links, statistics of an area, search.
//
//   struct stoker_profiles *p; struct stoker_timeline *t; struct stoker_blob b; struct stoker_err
//   e; if (stoker_open(paths, 1, NULL, &p, &e) == STOKER_OK) {
//       if (stoker_timeline_open(p, &t, &e) == STOKER_OK) {
//           if (stoker_timeline_tracks(t, &b, &e) == STOKER_OK) {
//               fwrite(b.data, 1, b.size, stdout);
//               stoker_blob_free(&b);
//           }
//           stoker_timeline_free(t);
//       }
//       stoker_close(p);
//   }
//
// Times are nanoseconds since the run's first event. Ids of events and tracks are those in the
// tables of stoker_query (below 2^53, exact in a double); ids of names fit 32 bits.
#ifndef STOKER_TIMELINE_H
#define STOKER_TIMELINE_H

#include <stddef.h>

#include "stoker/query.h"

#ifdef __cplusplus
extern "C" {
#endif

// An answer, owned by the caller; free it with stoker_blob_free. A 0 follows the data and isn't
// counted in `size`. Empty after a failure.
struct stoker_blob {
    char *data;
    size_t size;
};
void stoker_blob_free(struct stoker_blob *bytes); // empties it; takes NULL

// Like stoker_open (stoker/query.h), and also keeps what stoker_timeline_ribbon returns: 16 to 32
// bytes for each piece of a device's time.
enum stoker_status stoker_open_to_view(const char *const *paths, size_t count,
                                       const struct stoker_why_options *options,
                                       struct stoker_profiles **out, struct stoker_err *err);

// For one thread at a time, like the profiles that it uses until it is freed.
struct stoker_timeline;

// Builds the index: about 5 bytes per event. On success the caller must free *out.
enum stoker_status stoker_timeline_open(struct stoker_profiles *profiles,
                                        struct stoker_timeline **out, struct stoker_err *err);
void stoker_timeline_free(struct stoker_timeline *timeline); // takes NULL

// Saves the timeline to a file, for this build of the library on this machine, with the bytes of
// `note`. Written under a temporary name and renamed, so it is never incomplete. `interrupted` may
// be NULL; if it returns non-zero, no file is left. The timeline may be used meanwhile.
enum stoker_status stoker_timeline_save(const struct stoker_timeline *timeline, const char *path,
                                        const struct stoker_blob *note,
                                        int (*interrupted)(void *arg), void *arg,
                                        struct stoker_err *err);
// Loads the timeline of such a file, which is mapped, and its note; the caller owns both. Events'
// arguments are still read from the profiles' files, so the caller must ensure that these haven't
// changed. STOKER_EMISSING: the file is missing, incomplete, from another build, or writable by
// others.
enum stoker_status stoker_timeline_load(const char *path, struct stoker_timeline **out,
                                        struct stoker_blob *note, struct stoker_err *err);

// {"first_ns","last_ns","events","clocks":[{"rank","zero_ns"}],"tracks":[{"id","label","group","rank","device","rows","events"}]}
// group: device, comm, host, input, counter, other. rank and device are null if unknown. clocks:
// the run's time at which each profile's own clock is zero. A
// track has at most STOKER_TIMELINE_ROWS rows; further overlapping events share the last one.
#define STOKER_TIMELINE_ROWS 256
enum stoker_status stoker_timeline_tracks(struct stoker_timeline *timeline,
                                          struct stoker_blob *json, struct stoker_err *err);

// One tile: 1024 buckets of 2^level ns from index * 1024 * 2^level on. In each row, events shorter
// than a bucket that start in the same one are merged into an item, represented by the longest.
// Little-endian:
//   u32 magic, n, merged, events; f64 from_ns, unit_ns; u32 trace, far;
//   u32 start[n], dur[n], event[n], name[n], count[n]; u16 row[n]; u8 kind[n], flags[n];
//   f64 start_ns, dur_ns: `far` times
// An item starts at from_ns + start * unit_ns, and lasts dur ns; one flagged STOKER_TILE_FAR has
// both in the list at the end, at index `start`. unit_ns is 1 up to level 22, else 1/2^22 of a
// bucket. The id of an event is trace * 2^32 + event. events: how many start in the tile; merged:
// how many of these are in items of more than one. The counts sum to `events`, without the items
// flagged STOKER_TILE_BEFORE, which start in an earlier tile (times below 0 belong to tile 0).
// kind: the index of stoker_event_kind plus one, 0 for the kind "other". For counters, dur_ns is
// the value if the profile has it, and the value at the tile's start is among the items. A tile
// past the end is empty. STOKER_EUSAGE: no such track,
// level (0 to 52) or index.
#define STOKER_TILE_MAGIC 0x32544b53u // "SKT2"
#define STOKER_TILE_OUTLIER                                                                        \
    1 // more than four times the mean of its name's events, if
      // there are at least eight
#define STOKER_TILE_BEFORE 4
#define STOKER_TILE_FAR 8
enum stoker_status stoker_timeline_tile(struct stoker_timeline *timeline, int64_t track, int level,
                                        int64_t index, struct stoker_blob *tile,
                                        struct stoker_err *err);

// The same tile of several tracks, in order, each preceded by its length in 8 bytes. Sizes of tiles
// are multiples of 8. Threads share the work (STOKER_THREADS). STOKER_ELIMIT: more than 256 MB.
enum stoker_status stoker_timeline_tiles(struct stoker_timeline *timeline, const int64_t *tracks,
                                         size_t count, int level, int64_t index,
                                         struct stoker_blob *tiles, struct stoker_err *err);

// {"names":{"1":"..."}} for at most 10000 ids from tiles; unknown ids are left out.
enum stoker_status stoker_timeline_names(struct stoker_timeline *timeline, const int64_t *ids,
                                         size_t count, struct stoker_blob *json,
                                         struct stoker_err *err);

// {"id","name","kind","track","row","start_ns","dur_ns","step","args":[[key,value]],"links":[{"id",
// "track","row","start_ns","dur_ns","name","dir":"from"|"to"}],"links_left_out","prev","next"}
// prev and next: its neighbors in the row, or null. args_error: why the arguments, which are read
// from the profile's file, are unavailable. STOKER_EUSAGE: no such event.
enum stoker_status stoker_timeline_event(struct stoker_timeline *timeline, int64_t id,
                                         struct stoker_blob *json, struct stoker_err *err);

// Document of tables (stoker.table/1): the events of the tracks that overlap [t0_ns, t1_ns), by
// name and kind, longest sum first. Durations are clipped to the area; union_ns counts
// overlapping time once. No tracks: all of them.
enum stoker_status stoker_timeline_area(struct stoker_timeline *timeline, int64_t t0_ns,
                                        int64_t t1_ns, const int64_t *tracks, size_t count,
                                        struct stoker_blob *json, struct stoker_err *err);

// The call tree of the tracks' events in [t0_ns, t1_ns), merged by name and kind along each path:
// {"from_ns","to_ns","calls":[[parent, name, kind, total_ns, self_ns, count, longest]],"left_out",
// "events_left_out"}. parent: the caller's index in `calls`, which is lower; -1: none. Times are
// clipped to the area. longest: id of the longest event. Only the 4000 longest calls are included;
// left_out counts the others, whose time is in their callers'. No tracks: all of them.
enum stoker_status stoker_timeline_calls(struct stoker_timeline *timeline, int64_t t0_ns,
                                         int64_t t1_ns, const int64_t *tracks, size_t count,
                                         struct stoker_blob *json, struct stoker_err *err);

// {"count","hits":[{"id","name","track","row","start_ns","dur_ns"}]} by time; the pattern is
// stoker_find's. limit: at most 10000.
enum stoker_status stoker_timeline_search(struct stoker_timeline *timeline, const char *pattern,
                                          size_t limit, struct stoker_blob *json,
                                          struct stoker_err *err);

// All events with the name and kind of this one:
// {"name","kind","count","total_ns","min_ns","max_ns","median_ns","p95_ns","bins":[{"from_ns",
// "to_ns","count","longest":{"id","name","track","row","start_ns","dur_ns"}}]}; a bin includes its
// ends; longest is null if it is empty.
enum stoker_status stoker_timeline_runs(struct stoker_timeline *timeline, int64_t id,
                                        struct stoker_blob *json, struct stoker_err *err);

// The steps' phases on the CPU, from the names of operations:
// {"phases":[{"phase","rank","start_ns","dur_ns","events"}],"left_out"}; phase: forward, loss,
// backward or optimizer; by rank and time, the first 20000.
enum stoker_status stoker_timeline_phases(struct stoker_timeline *timeline,
                                          struct stoker_blob *json, struct stoker_err *err);

// What a device, or without one the CPU, did in [from_ns, to_ns), split into `buckets` of equal
// length: {"device","from_ns","to_ns","bucket_ns","parts":[id],"cells":[[bucket, part, ns in steps
// that count, ns outside of them]],"segments":[{"part","start_ns","dur_ns","event","name",
// "around","function","file","line"}],"segments_left_out","devices":[{"id","name"}]}. The first
// numbers of a part's cells add up to its figure in the report, if the range covers everything.
// segments: stretches of one part, the longest of each, in time order; event is null if no event is
// known to fill it; function, file and line: the user's own. device: as in the report, "host", or
// "rank N" of several; NULL: the first. buckets: 1 to 4096. `devices` is empty if the profiles
// weren't opened to view, or have no device and no steps.
enum stoker_status stoker_timeline_ribbon(struct stoker_timeline *timeline, const char *device,
                                          int64_t from_ns, int64_t to_ns, size_t buckets,
                                          struct stoker_blob *json, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
