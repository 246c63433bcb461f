# SPDX-License-Identifier: Apache-2.0
"""Peer: HolisticTraceAnalysis, its busy/idle and idle-cause breakdowns. Usage: hta_breakdown.py FILE"""
import sys

from hta.trace_analysis import TraceAnalysis

analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=".")
print(analysis.get_temporal_breakdown(visualize=False).to_string())
print(analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0].to_string())
