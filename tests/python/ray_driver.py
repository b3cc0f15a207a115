"""A program that trains with penstock.ray in a network of its own, as Ray's ports are open to everybody:

    unshare --net --pid --fork --kill-child --mount-proc python ray_driver.py '{"run": "...", "temporary": "..."}'

Says in its last line what came of it, as JSON. What it is asked for: see WANTED.
"""

import fcntl
import json
import os
import runpy
import signal
import socket
import struct
import sys
import time

import penstock

SIOCSIFFLAGS, UP_AND_RUNNING = 0x8914, 0x41

WANTED = {
    "run": "",  # directory
    "temporary": "",  # of Ray, a short path
    "resume": False,
    "replay": None,  # a file of arrivals
    "config": {},  # keys beside those of config()
    "num_actors": 2,
    "kill_actors": 0,  # how many, one each time that an update was logged
    "stop_actor": 0,  # for at least that many seconds, once, and until the other was seen to feed the learner alone
    "rest": 0,  # seconds that the learner stands still, once
    "kill_here": 0,  # this process, when so many steps are done
    "address": None,  # of a cluster that is there
    "until": None,  # a file: the run ends when it appears
    "end_at": 0,  # steps; not before those that were killed have filled fragments anew
    "job": None,  # a program to run instead, with the directory as its argument
    "env": "cartpole",  # or "python", or "failing"
}


def open_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", UP_AND_RUNNING))


def python_env():
    import gymnasium

    return gymnasium.make("CartPole-v1")


def failing_env():
    import gymnasium

    class Failing(gymnasium.Wrapper):
        def step(self, action):
            raise ValueError("the sensor is not there")

    return Failing(gymnasium.make("CartPole-v1"))


def config(wanted):
    keys = {"algo": "appo", "env.num_envs": 16, "async.max_lag": 4, "total_timesteps": 10_000_000, "seed": 3, "rollout.steps": 32,
            "rollout.shards": 4, "run.save_every_s": 0.5, "run.eval_episodes": 2, "threads": 1}
    return penstock.Config(**keys | wanted["config"])


def stored_mb():
    """In Ray's object store."""
    import ray

    name = "object_store_memory"
    return (ray.cluster_resources()[name] - ray.available_resources()[name]) / 1e6


class Trouble(penstock.Callback):
    """A callback that makes some."""

    def __init__(self, wanted):
        self.wanted, self.killed, self.stored = wanted, 0, []
        self.stopped, self.stopped_at = None, 0

    def pid(self, model, seat):
        import ray

        try:
            return ray.get(model._carrier._places[seat].actor.here.remote(), timeout=5)
        except ray.exceptions.RayError:
            return None  # it is just being started

    def on_log(self, model, now, metrics):
        wanted = self.wanted
        if 0 < wanted["kill_here"] <= now.timesteps and self.killed == wanted["kill_actors"]:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.killed < wanted["kill_actors"] and (pid := self.pid(model, self.killed % wanted["num_actors"])):
            os.kill(pid, signal.SIGKILL)
            self.killed += 1
        if self.stopped and metrics.get("async/seats") == 1 and time.monotonic() >= self.stopped_at + wanted["stop_actor"]:
            os.kill(self.stopped, signal.SIGCONT)
            self.stopped, wanted["stop_actor"] = None, 0
        if wanted["stop_actor"] and not self.stopped and (pid := self.pid(model, 0)):
            os.kill(pid, signal.SIGSTOP)
            self.stopped, self.stopped_at = pid, time.monotonic()
        if wanted["rest"]:
            for seconds in (2, wanted["rest"]):  # until actors have filled what they were asked for, and then
                time.sleep(seconds)
                self.stored.append(stored_mb())
            wanted["rest"] = 0
        if wanted["until"] and os.path.exists(wanted["until"]):
            return True
        return 0 < wanted["end_at"] <= now.timesteps and self.killed == wanted["kill_actors"] and self.recovered(model)

    def recovered(self, model):
        places = model._carrier._places[:self.killed]
        return all(place.awake and place.number > 2 for place in places)


def main():
    wanted = WANTED | json.loads(sys.argv[1])
    open_loopback()
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_AUTH_TOKEN"] = "of-this-test"
    import penstock.ray
    import ray

    if wanted["address"]:
        ray.init(address=wanted["address"], log_to_driver=False)
    else:
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, _temp_dir=wanted["temporary"],
                 _node_ip_address="127.0.0.1", object_store_memory=100_000_000)
    if wanted["job"]:
        sys.argv = [wanted["job"], wanted["run"]]
        runpy.run_path(wanted["job"], run_name="__main__")
        return
    trouble = Trouble(wanted)
    options = {"num_actors": wanted["num_actors"], "replay_order": wanted["replay"], "callbacks": [trouble], "verbose": 0}
    lost = []
    leave = penstock.ray.Actors.__exit__
    penstock.ray.Actors.__exit__ = lambda actors, *failure: (lost.append(actors.num_lost), leave(actors, *failure))[1]
    if wanted["resume"]:
        model = penstock.ray.resume(wanted["run"], **options)
    else:
        env = {"python": python_env, "failing": failing_env}.get(wanted["env"], wanted["env"])
        model = penstock.ray.train(config(wanted), run_dir=wanted["run"], env=env, **options)
    print(json.dumps({"digest": model.digest, "timesteps": model.summary.total_timesteps, "lost": lost[0], "killed": trouble.killed, "stored": trouble.stored,
                      "reward": model.evaluate(10).mean_reward}))


if __name__ == "__main__":
    main()
