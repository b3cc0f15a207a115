"""torch, and the extension that uses its libtorch. What needs them has them from here, so that a missing torch is told
with the remedy."""

try:
    import torch  # first: the extension uses the libtorch that this loads

    import penstock._core as _core
except ImportError as error:
    raise ImportError(f"training, penstock.Config and the command line need torch: pip install torch==2.13.* ({error}). "
                      "Without torch there are penstock.Policy, VectorEnv, Env and check_env") from error

from penstock._core import EvalResult, Progress, Summary

__all__ = ["EvalResult", "Progress", "Summary", "_core", "torch"]
