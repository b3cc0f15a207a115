"""A training job for a Ray cluster that goes on where it was, whoever was killed:

    ray job submit --working-dir examples/ray --runtime-env-json '{"pip": ["penstock[ray]"]}' -- python job.py /shared/runs/first

The folder must outlive the job: one that all machines of the cluster see. Handed in again after a failure, the job resumes.
"""

import pathlib
import sys

import penstock
import penstock.ray

ACTORS = 4


def main() -> None:
    run = pathlib.Path(sys.argv[1])
    if (run / "ckpt" / "LATEST").exists():
        model = penstock.ray.resume(run, ACTORS)
    else:
        config = penstock.Config(algo="appo", seed=1, total_timesteps=200_000, env={"id": "cartpole", "num_envs": 64},
                                 async_={"max_lag": 4})
        model = penstock.ray.train(config, ACTORS, run_dir=run)
    print(model.summary.line())


if __name__ == "__main__":
    main()
