"""The peers: one row each. A new peer is a script in peers/ and a row here."""
from collections.abc import Callable
from dataclasses import dataclass

import puffer_source

TORCH = "torch==2.13.0"  # on its own and first: other packages must fit it, not the reverse

CLEANRL = ((TORCH,), ("gymnasium==1.4.0", "envpool==1.2.5"))
PUFFER = (
    (TORCH,),
    ("numpy<2", "setuptools<81", "wheel", "gym==0.23.1", "gymnasium==0.29.1"),
    ("pettingzoo==1.24.1", "psutil", "rich", "rich_argparse", "pyro-ppl"),
)


@dataclass(frozen=True)
class Peer:
    name: str
    title: str
    script: str  # in peers/; a .cpp is compiled instead of installed
    note: str  # what a reader of the report must know
    packages: tuple[tuple[str, ...], ...] = ()  # each group is one `pip install`, in order
    venv: str = ""  # the name unless two rows share an environment
    source: Callable | None = None  # makes a source tree in a folder, for pip to build
    arguments: tuple[str, ...] = ()
    threads: tuple[int, ...] = (1, 2)  # env stepping only: which rows to measure


TRAINERS = (
    Peer(
        "sb3",
        "Stable-Baselines3",
        "ppo_sb3.py",
        "its PPO with DummyVecEnv",
        ((TORCH,), ("stable-baselines3==2.9.2", "gymnasium==1.4.0")),
    ),
    Peer(
        "cleanrl",
        "CleanRL style + EnvPool",
        "ppo_cleanrl.py",
        "a single-file PPO on EnvPool's CartPole, without logging",
        CLEANRL,
        arguments=("--backend", "envpool"),
    ),
    Peer(
        "cleanrl-numpy",
        "CleanRL style + Gymnasium",
        "ppo_cleanrl.py",
        "the same on Gymnasium's vectorised (NumPy) CartPole",
        CLEANRL,
        venv="cleanrl",
        arguments=("--backend", "gymnasium"),
    ),
    Peer(
        "jax",
        "whole-program JIT (JAX)",
        "ppo_jax.py",
        "in the style of PureJaxRL: env, rollout and update in one jit; compile time not counted",
        (("jax==0.10.2", "jaxlib==0.10.2"),),
    ),
    Peer(
        "puffer",
        "PufferLib",
        "ppo_puffer.py",
        "its trainer with Adam on its own C CartPole, whose episodes end after 200 steps; "
        "built from the source package, patched to build offline and for the CPU",
        PUFFER,
        source=puffer_source.prepare,
    ),
    Peer(
        "hand",
        "hand-fused C++",
        "hand.cpp",
        "meant as a bound, not a peer: a throw-away program for exactly this network and env",
    ),
)

ENVS = (
    Peer(
        "gymnasium",
        "Gymnasium, vectorised",
        "env_steps.py",
        "NumPy over all envs at once, in one thread",
        CLEANRL,
        venv="cleanrl",
        arguments=("--backend", "gymnasium"),
        threads=(1,),
    ),
    Peer(
        "envpool",
        "EnvPool",
        "env_steps.py",
        "in its synchronous mode",
        (("envpool==1.2.5", "gymnasium==1.4.0"),),
        arguments=("--backend", "envpool"),
    ),
    Peer(
        "puffer-env",
        "PufferLib's C env",
        "env_steps.py",
        "called from Python as its trainer does, in one thread",
        PUFFER,
        venv="puffer",
        source=puffer_source.prepare,
        arguments=("--backend", "puffer"),
        threads=(1,),
    ),
)
