"""Train, look, save, load."""

import tempfile

import gymnasium

import penstock

model = penstock.PPO("cartpole", num_envs=64, seed=1)
model.learn(400_000, callbacks=penstock.StopAtReward(480))
print("digest", model.digest, "after", model.num_timesteps, "steps")
print("mean reward", model.evaluate(episodes=100).mean_reward)

env = gymnasium.make("Penstock/CartPole-v1")
obs, _ = env.reset(seed=0)
total, done = 0.0, False
while not done:
    action, _ = model.predict(obs)
    obs, reward, terminated, truncated, _ = env.step(action)
    total += reward
    done = terminated or truncated
print("one episode by hand:", total)

with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/cartpole")
    again = penstock.PPO.load(f"{folder}/cartpole")
    assert again.digest == model.digest
