# SPDX-License-Identifier: Apache-2.0
"""Peer: HolisticTraceAnalysis, its busy/idle and idle-cause breakdowns. Usage: hta_breakdown.py FILE SETTING

parser: its backend; arguments: which of an event's arguments it keeps; collector: whether Python's garbage collector
runs meanwhile. It accepts several processes only for several ranks."""
import gc
import json
import sys

from hta.configs.parser_config import ParserBackend, ParserConfig
from hta.trace_analysis import TraceAnalysis

setting = json.loads(sys.argv[2])
if not setting.get("collector", True):
    gc.disable()
config = ParserConfig.get_default_cfg()
if setting["parser"] != "as it comes":
    config.set_parser_backend(ParserBackend(setting["parser"]))
if setting.get("arguments") == "minimum":
    config.set_args(ParserConfig.get_minimum_args())
ParserConfig.set_default_cfg(config)
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=".")
print(analysis.get_temporal_breakdown(visualize=False).to_string())
print(analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0].to_string())
