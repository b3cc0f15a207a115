"""Plays the agent of this folder in a clone of CybORG: a line of JSON for the program, then one for each episode.

    python evaluate.py --cyborg PATH_OF_CLONE --episodes 100

An episode has 100 steps. Nothing depends on how long it will last, so that its first 30 and 50 are episodes too.
"""

import argparse
import json
import os
import random
import sys

from agent import Agent, wrap

LENGTHS = (30, 50, 100)
REDS = ("bline", "meander", "sleep")


def find_package(clone):
    """The folder of a clone that holds the package CybORG."""
    for folder in (os.path.join(clone, "CybORG"), clone):
        if os.path.exists(os.path.join(folder, "CybORG", "__init__.py")):
            return folder
    sys.exit("%s: no package CybORG in it, nor in its folder CybORG; name a clone of cage-challenge-2" % clone)


def load(clone):
    """Makes the clone's package importable; a dictionary of what it is."""
    sys.path.insert(0, find_package(clone))
    try:
        from CybORG import CYBORG_VERSION
        from CybORG.Simulator.Session import RedAbstractSession
    except ImportError as error:
        sys.exit("%s: %s; give --python one that has CybORG's requirements (for gym 0.21: Python 3.8)" % (clone, error))
    # Since 16 August 2022 a scan makes red forget the ports of the last one; the official scores are older.
    rules = "head" if hasattr(RedAbstractSession, "clearports") else "leaderboard"
    return {"cyborg": CYBORG_VERSION.strip(), "rules": rules}


def make_game(red):
    """A new CybORG of Scenario 2 with this attacker."""
    import inspect

    from CybORG import CybORG
    from CybORG.Agents import B_lineAgent, SleepAgent
    from CybORG.Agents.SimpleAgents.Meander import RedMeanderAgent

    scenario = os.path.join(os.path.dirname(inspect.getfile(CybORG)), "Shared", "Scenarios", "Scenario2.yaml")
    return CybORG(scenario, "sim", agents={"Red": {"bline": B_lineAgent, "meander": RedMeanderAgent,
                                                   "sleep": SleepAgent}[red]})


def play(agent, env, seed):
    """The returns after each of the lengths."""
    random.seed(seed)
    observation = env.reset()
    total, returns = 0.0, []
    for step in range(1, LENGTHS[-1] + 1):
        action = agent.get_action(observation, env.get_action_space("Blue"))
        observation, reward, _, _ = env.step(action)
        total += reward
        if step in LENGTHS:
            returns.append(round(total, 1))
    agent.end_episode()
    return returns


def main():
    parser = argparse.ArgumentParser(description="Plays the agent of this folder in a clone of CybORG.")
    parser.add_argument("--cyborg", required=True, help="a clone of cage-challenge-2; its code is run")
    parser.add_argument("--episodes", type=int, default=100, help="of each attacker (default 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reds", default=",".join(REDS), help="attackers, with commas between")
    parser.add_argument("--penstock", default="penstock", help="the program, for a policy with beliefs (default penstock)")
    args = parser.parse_args()
    print(json.dumps(load(args.cyborg)), flush=True)
    agent = Agent(seed=args.seed, penstock=args.penstock)
    for red in args.reds.split(","):
        env = wrap(make_game(red))
        for episode in range(args.episodes):
            returns = play(agent, env, 1000003 * args.seed + episode)
            print(json.dumps({"red": red, "episode": episode, "returns": returns}), flush=True)


if __name__ == "__main__":
    main()
