// SPDX-License-Identifier: Apache-2.0
// Every available Kineto profile against values that an independent analyzer computed from it:
// events read, operations of each device by kind, the union of their times, host operations and
// calls, launches found.
#include "chrome_read.h"

// One line per value: path, what, number. python3 reads the reference.
static const char extract[] =
    "import json,sys\n"
    "files=json.load(open(sys.argv[1]+'/expected.json'))['files']\n"
    "for path,v in sorted(files.items()):\n"
    "  if not path.startswith('kineto/') or v.get('format')!='kineto': continue\n"
    "  c=v['counts']\n"
    "  host=c.get('host_ops',0)+c.get('user_annotations',0)\n"
    "  api=c.get('runtime',0)+c.get('driver',0)\n"
    "  print(path,'events',c['events'])\n"
    "  print(path,'host',host)\n"
    "  print(path,'api',api)\n"
    "  print(path,'python',c.get('python_functions',0))\n"
    "  print(path,'sync',c.get('sync_records',0))\n"
    "  print(path,'linked',v['correlation']['gpu_ops_with_launch'])\n"
    "  print(path,'base',v['base_ns'])\n"
    "  s=v.get('steps') or {}\n"
    "  print(path,'steps',s.get('count',0))\n"
    "  r=v['info'].get('rank'); print(path,'rank',-1 if r is None else r)\n"
    "  r=v['info'].get('world_size'); print(path,'world',-1 if r is None else r)\n"
    "  print(path,'devices',len(v['devices']))\n"
    "  for d in v['devices'].values():\n"
    "    n=d['device_arg']; n=0 if n is None else n\n"
    "    for k in "
    "'kernels','memcpys','memsets','streams','busy_union_ns','first_start_ns','span_ns':\n"
    "      print(path,'%s:%d'%(k,n),d[k])\n";

struct values {
    int64_t kernels, memcpys, memsets, streams, busy_union_ns, first_start_ns, span_ns;
};

struct span {
    int64_t start, end;
};

static int compare_spans(const void *a, const void *b)
{
    int64_t x = ((const struct span *)a)->start, y = ((const struct span *)b)->start;
    return (x > y) - (x < y);
}

static int64_t union_of(struct span *spans, size_t n)
{
    int64_t total = 0, end = INT64_MIN;
    qsort(spans, n, sizeof *spans, compare_spans);
    for (size_t i = 0; i < n; i++) {
        int64_t from = spans[i].start > end ? spans[i].start : end;
        if (spans[i].end > from) {
            total += spans[i].end - from;
            end = spans[i].end;
        }
    }
    return total;
}

static struct values measure_device(const struct stk_trace *t, uint32_t device)
{
    struct values v = {0};
    struct span *spans = malloc((t->count + 1) * sizeof *spans);
    size_t n = 0;
    int64_t end = INT64_MIN, first = INT64_MAX;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        if (track->kind != STK_TRACK_STREAM || track->device != device) {
            continue;
        }
        v.streams += track->parent == STK_NONE;
        for (uint32_t i = track->first; i < track->first + track->count; i++) {
            v.kernels += t->kind[i] == STK_KIND_KERNEL || t->kind[i] == STK_KIND_COLLECTIVE;
            v.memcpys += t->kind[i] == STK_KIND_MEMCPY;
            v.memsets += t->kind[i] == STK_KIND_MEMSET;
            spans[n++] = (struct span){t->start_ns[i], stk_end_ns(t, i)};
            first = t->start_ns[i] < first ? t->start_ns[i] : first;
            end = stk_end_ns(t, i) > end ? stk_end_ns(t, i) : end;
        }
    }
    v.busy_union_ns = union_of(spans, n);
    v.first_start_ns = first;
    v.span_ns = end - first;
    free(spans);
    return v;
}

static int64_t count_kind(const struct stk_trace *t, enum stk_kind kind)
{
    return (int64_t)t->by_kind[kind];
}

static int64_t count_linked(const struct stk_trace *t)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        n += stk_kind_is_device_work(t->kind[i]) && stk_link_of(t, i) != STK_NONE;
    }
    return n;
}

static int64_t count_steps(const struct stk_trace *t)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct stk_ext *ext = stk_ext_of(t, i);
        n += ext && ext->flags & STK_EXT_STEP;
    }
    return n;
}

static int64_t device_value(const struct stk_trace *t, int64_t clock_ns, const char *what)
{
    const char *colon = strchr(what, ':');
    int64_t ordinal = strtoll(colon + 1, NULL, 10);
    for (uint32_t d = 0; d < t->device_count; d++) {
        if (t->devices[d].ordinal != ordinal) {
            continue;
        }
        struct values v = measure_device(t, d);
        size_t n = (size_t)(colon - what);
        return !strncmp(what, "kernels", n)         ? v.kernels
               : !strncmp(what, "memcpys", n)       ? v.memcpys
               : !strncmp(what, "memsets", n)       ? v.memsets
               : !strncmp(what, "streams", n)       ? v.streams
               : !strncmp(what, "busy_union_ns", n) ? v.busy_union_ns
               : !strncmp(what, "span_ns", n)       ? v.span_ns
                                                    : v.first_start_ns + t->base_ns - clock_ns;
    }
    return -1;
}

static int64_t count_devices(const struct stk_trace *t)
{
    int64_t n = 0;
    for (uint32_t d = 0; d < t->device_count; d++) {
        for (uint32_t k = 0; k < t->track_count; k++) {
            if (t->tracks[k].kind == STK_TRACK_STREAM && t->tracks[k].device == d) {
                n++;
                break;
            }
        }
    }
    return n;
}

static int64_t value_of(const struct stk_trace *t, int64_t clock_ns, const char *what)
{
    if (!strcmp(what, "events")) {
        return (int64_t)t->read;
    }
    if (!strcmp(what, "host")) {
        return count_kind(t, STK_KIND_HOST_OP) + count_kind(t, STK_KIND_ANNOTATION) +
               count_kind(t, STK_KIND_INPUT);
    }
    if (!strcmp(what, "api")) {
        return count_kind(t, STK_KIND_RUNTIME);
    }
    if (!strcmp(what, "python")) {
        return count_kind(t, STK_KIND_PYTHON);
    }
    if (!strcmp(what, "sync")) {
        return count_kind(t, STK_KIND_SYNC);
    }
    if (!strcmp(what, "linked")) {
        return count_linked(t);
    }
    if (!strcmp(what, "steps")) {
        return count_steps(t);
    }
    if (!strcmp(what, "rank")) {
        return t->rank;
    }
    if (!strcmp(what, "world")) {
        return t->world_size;
    }
    if (!strcmp(what, "devices")) {
        return count_devices(t);
    }
    return device_value(t, clock_ns, what);
}

static void check_value(const struct stk_trace *t, int64_t clock_ns, const char *path,
                        const char *what, int64_t want)
{
    int64_t got = value_of(t, clock_ns, what);
    CHECK_SAY(got == want, "%s: %s is %" PRId64 ", wanted %" PRId64, path, what, got, want);
}

static void check_all(const char *dir, FILE *in)
{
    char path[512], what[64], open_path[512] = "", full[4096];
    struct stk_trace *t = NULL;
    struct stoker_err err;
    int64_t want, clock_ns = 0;
    int files = 0;
    while (fscanf(in, "%511s %63s %" SCNd64, path, what, &want) == 3) {
        if (strcmp(path, open_path) != 0) {
            stk_trace_free(t);
            snprintf(full, sizeof full, "%s/%s", dir, path);
            t = chrome_read_file(full, 1 + files % 2, &err);
            strcpy(open_path, path);
            clock_ns = 0;
            files++;
            CHECK(t != NULL);
            if (!t) {
                fprintf(stderr, "%s: %s\n", path, err.message);
            }
        }
        if (!t) {
            continue;
        }
        if (!strcmp(what, "base")) {
            clock_ns = want;
        } else {
            check_value(t, clock_ns, path, what, want);
        }
    }
    stk_trace_free(t);
    CHECK(files >= 50);
}

static void test_fixtures(const char *dir)
{
    char command[8192];
    snprintf(command, sizeof command, "python3 -c \"%s\" '%s'", extract, dir);
    FILE *in = popen(command, "r");
    if (!in) {
        check_skip("python3 cannot be run");
        return;
    }
    check_all(dir, in);
    pclose(in);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    const char *dir = check_fixtures();
    if (dir) {
        CHECK_RUN(test_fixtures, dir);
    }
    return check_done("unit.chrome_fixtures");
}
