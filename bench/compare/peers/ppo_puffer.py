"""PufferLib's trainer on its own CartPole in C, whose episodes end after 200 steps."""
import protocol

import pufferlib.vector
import torch
from pufferlib import pufferl
from pufferlib.ocean.cartpole.cartpole import Cartpole
from torch import nn


def stack(outputs):
    return nn.Sequential(
        nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = stack(2)
        self.critic = stack(1)

    def forward_eval(self, obs, state=None):
        return self.actor(obs), self.critic(obs)

    def forward(self, obs, state=None):
        return self.forward_eval(obs)


def config_of(args):
    """The matched work, and neutral values for what the other systems do not have."""
    work = dict(
        update_epochs=protocol.EPOCHS, batch_size=args.num_envs * protocol.STEPS,
        minibatch_size=args.minibatch, max_minibatch_size=args.minibatch,
        bptt_horizon=protocol.STEPS, learning_rate=protocol.LEARNING_RATE, gamma=protocol.GAMMA,
        gae_lambda=protocol.GAE_LAMBDA, clip_coef=protocol.CLIP, vf_coef=protocol.VALUE_WEIGHT,
        max_grad_norm=protocol.MAX_GRAD_NORM, ent_coef=0.0, optimizer="adam", adam_beta1=0.9,
        adam_beta2=0.999, adam_eps=1e-5, anneal_lr=False, total_timesteps=10**12,
    )
    neutral = dict(
        vf_clip_coef=1e9, vtrace_rho_clip=1.0, vtrace_c_clip=1.0, prio_alpha=0.0, prio_beta0=1.0,
        use_rnn=False, compile=False, compile_mode="default", compile_fullgraph=False,
        device="cpu", precision="float32", cpu_offload=False, torch_deterministic=False, seed=0,
        env="puffer_cartpole", name="compare", project="compare", data_dir="puffer_runs",
        checkpoint_interval=10**9,
    )
    return work | neutral


def main():
    args = protocol.arguments()
    torch.manual_seed(0)
    envs = pufferlib.vector.make(
        Cartpole,
        # Collecting its episode log at every step costs time and serves nobody here.
        env_kwargs=dict(num_envs=args.num_envs, report_interval=protocol.STEPS),
        backend=pufferlib.vector.PufferEnv,
    )
    pufferl.PuffeRL.print_dashboard = lambda self, *args, **kwargs: None
    trainer = pufferl.PuffeRL(config_of(args), envs, Policy())

    def iterate():
        trainer.evaluate()
        trainer.train()

    setting = protocol.pick_torch_threads(iterate, args.threads)
    version = f"3.0.0, torch {torch.__version__}"
    protocol.serve("puffer", version, iterate, args.num_envs * protocol.STEPS, setting)


if __name__ == "__main__":
    main()
