# SPDX-License-Identifier: Apache-2.0
"""Settings for running a dataset: seed, order, errors, limits. None keeps an earlier setting."""

import difflib

from ..errors import InvalidArgumentError

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


class _Group:
    _names = ()
    _old = {}  # older names in TensorFlow: name -> name here, or None: accepted without effect

    def __init__(self):
        for n in self._names:
            object.__setattr__(self, n, None)

    def __getattr__(self, name):
        if name in type(self)._old:
            old = type(self)._old[name]
            return None if old is None else getattr(self, old)
        raise AttributeError(f"{type(self).__name__} has no option {name}")

    def __setattr__(self, name, value):
        if name in self._old:
            if self._old[name] is not None:
                setattr(self, self._old[name], value)
            return
        if name not in self._names:
            near = difflib.get_close_matches(name, self._names, 1, 0.6)
            raise AttributeError(
                f"{type(self).__name__} has no option {name}; "
                + (f"did you mean {near[0]}? " if near else "")
                + f"It has {', '.join(self._names)}"
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __repr__(self):
        """The options that are set."""
        given = ((n, getattr(self, n)) for n in self._names)
        texts = (f"{n}={v!r}" for n, v in given if v is not None and not (isinstance(v, _Group) and v == type(v)()))
        return f"{type(self).__name__}({', '.join(texts)})"

    __hash__ = None

    def merged(self, other):
        """These, overridden by the other's."""
        out = type(self)()
        for n in self._names:
            mine, theirs = getattr(self, n), getattr(other, n)
            value = (
                mine.merged(theirs)
                if isinstance(mine, _Group)
                else mine if theirs is None else theirs
            )
            object.__setattr__(out, n, value)
        return out


class AutotuneOptions(_Group):
    """enabled: False turns tuning off. cpu_budget: most threads. ram_budget: most bytes. initial_parallelism: a stage's
    initial threads (one per core, up to 16). min_parallelism: a stage's fewest threads."""

    _names = (
        "enabled",
        "cpu_budget",
        "ram_budget",
        "autotune_algorithm",
        "initial_parallelism",
        "min_parallelism",
    )


class ThreadingOptions(_Group):
    """private_threadpool_size: most threads; max_intra_op_parallelism is accepted."""

    _names = ("private_threadpool_size", "max_intra_op_parallelism")
    _old = {"experimental_private_threadpool_size": "private_threadpool_size", "experimental_max_intra_op_parallelism": "max_intra_op_parallelism"}


class OptimizationOptions(_Group):
    """TensorFlow's options, accepted; apply_default_optimizations=False is Options.rewrites=False."""

    _names = (
        "apply_default_optimizations",
        "filter_fusion",
        "filter_parallelization",
        "inject_prefetch",
        "map_and_batch_fusion",
        "map_and_filter_fusion",
        "map_fusion",
        "map_parallelization",
        "noop_elimination",
        "parallel_batch",
        "seq_interleave_prefetch",
        "shuffle_and_repeat_fusion",
    )
    _old = dict.fromkeys(
        "autotune autotune_buffers autotune_cpu_budget autotune_ram_budget hoist_random_uniform map_vectorization "
        "filter_with_random_uniform_fusion reorder_data_discarding_ops warm_start graph_rewrites".split()
    )


class DistributeOptions(_Group):
    """Accepted; use Dataset.shard to split."""

    _names = ("auto_shard_policy", "num_devices")
    _old = dict.fromkeys(("num_replicas", "make_stateless"))


class ServiceOptions(_Group):
    """Accepted; this module has no service."""

    _names = ("pinned",)


class Options(_Group):
    """Options of a dataset, given with `with_options`.

    deterministic: whether parallel stages keep the order (default: yes). seed: for every random
    operation. on_error: "stop" (an error ends the loop it occurs in; the next call continues
    after it), "skip" (bad elements are skipped and counted) or ("replace", element). rewrites: False runs the pipeline
    as written (default: rewritten, with the same elements).
    """

    _names = (
        "autotune",
        "deterministic",
        "threading",
        "experimental_optimization",
        "experimental_distribute",
        "experimental_slack",
        "experimental_warm_start",
        "experimental_symbolic_checkpoint",
        "experimental_external_state_policy",
        "dataset_name",
        "framework_type",
        "seed",
        "on_error",
        "rewrites",
    )
    _old = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
        "experimental_autotune_cpu_budget": None,
        **dict.fromkeys(
            "experimental_autotune experimental_autotune_algorithm experimental_autotune_buffers experimental_stats "
            "experimental_stateful_whitelist experimental_numa_aware experimental_make_stateless experimental_service "
            "experimental_autotune_ram_budget experimental_filter_fusion experimental_map_fusion experimental_map_parallelization "
            "experimental_map_vectorization experimental_noop_elimination experimental_shuffle_and_repeat_fusion".split()
        ),
    }

    def __init__(self):
        super().__init__()
        for n, c in (
            ("autotune", AutotuneOptions),
            ("threading", ThreadingOptions),
            ("experimental_optimization", OptimizationOptions),
            ("experimental_distribute", DistributeOptions),
        ):
            object.__setattr__(self, n, c())

    def merge(self, options):
        """These, overridden by the other's."""
        return self.merged(options)

    def run_options(self):
        """The engine's options: a dict."""
        out = {"seed": self.seed, "is_sloppy": self.deterministic is False}
        out["threads"] = self.autotune.cpu_budget or self.threading.private_threadpool_size or 0
        out["ram_bytes"] = self.autotune.ram_budget or 0
        out["initial_parallelism"] = self.autotune.initial_parallelism or 0
        out["min_parallelism"] = self.autotune.min_parallelism or 0
        out["is_untuned"] = self.autotune.enabled is False
        wanted = self.rewrites
        if wanted is None:
            wanted = self.experimental_optimization.apply_default_optimizations
        out["is_as_written"] = wanted is False
        policy = self.on_error
        if isinstance(policy, tuple) and len(policy) == 2 and policy[0] == "replace":
            out["replacement"] = policy[1]
        elif policy == "skip":
            out["skips_errors"] = True
        elif policy not in (None, "stop"):
            raise InvalidArgumentError(
                f"on_error must be 'stop', 'skip' or ('replace', element), not {policy!r}"
            )
        return out
