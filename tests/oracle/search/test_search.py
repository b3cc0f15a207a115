"""The Gaussian process over orders beside scikit-learn's, live, on drawn data sets.

The Mallows kernel is a Gaussian of the ten pair signs with length scale sqrt(2 / lambda).
SEARCH_DUMP names the program that answers.
"""

import itertools
import json
import os
import subprocess

import pytest

np = pytest.importorskip("numpy")
gp = pytest.importorskip("sklearn.gaussian_process", reason="scikit-learn is not installed: run scripts/bootstrap")
optimize = pytest.importorskip("scipy.optimize", reason="scipy is not installed: run scripts/bootstrap")
from sklearn.gaussian_process.kernels import RBF, ConstantKernel  # noqa: E402

TIGHT = 1e-8
ORDERS = list(itertools.permutations(range(5)))


def signs(order):
    place = [order.index(i) for i in range(5)]
    return [1.0 if place[i] < place[j] else -1.0 for i in range(5) for j in range(i + 1, 5)]


SIGNS = np.array([signs(order) for order in ORDERS])
LAMBDA_BOUNDS = (2 / 900, 2 / 0.09)
SIGNAL_BOUNDS = (1, 1e5)


def ask(**question):
    done = subprocess.run([os.environ["SEARCH_DUMP"]], input=json.dumps(question), capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def draw(seed):
    """Orders without repetition, values with an effect of some pairs, variances of their own."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 40))
    order = rng.choice(120, size, replace=False)
    variance = rng.uniform(0.2, 6, size)
    value = -60 + SIGNS[order] @ rng.normal(0, 4, 10) + rng.normal(0, np.sqrt(variance))
    return order, value, variance


def regressor(signal_variance, lam, variance):
    return gp.GaussianProcessRegressor(ConstantKernel(signal_variance) * RBF(np.sqrt(2 / lam)), alpha=variance,
                                       optimizer=None)


def close(ours, theirs):
    return np.max(np.abs(np.asarray(ours) - np.asarray(theirs))) < TIGHT


@pytest.mark.parametrize("seed", range(12))
def test_posterior_likelihood_and_ranking(seed):
    order, value, variance = draw(seed)
    rng = np.random.default_rng(1000 + seed)
    lam, signal = float(rng.uniform(0.05, 2)), float(rng.uniform(5, 300))
    model = regressor(signal, lam, variance).fit(SIGNS[order], value - value.mean())
    mean, std = model.predict(SIGNS, return_std=True)
    ours = ask(order=order.tolist(), value=value.tolist(), variance=variance.tolist(), signal_variance=signal,
               noise_variance=0, beta=4, **{"lambda": lam})
    print("deviation", max(np.abs(ours["mean"] - mean - value.mean()).max(), np.abs(ours["std"] - std).max(),
                           abs(ours["log_marginal"] - model.log_marginal_likelihood_value_)))
    assert close(ours["mean"], mean + value.mean())
    assert close(ours["std"], std)
    assert close(ours["log_marginal"], model.log_marginal_likelihood_value_)
    assert ours["ranking"] == np.argsort(-(mean + 2 * std), kind="stable").tolist()


@pytest.mark.parametrize("seed", range(6))
def test_fitted_hyperparameters(seed):
    """Ours is where scikit-learn's own gradient vanishes, and no start of its optimiser ends higher."""
    order, value, variance = draw(seed)
    kernel = ConstantKernel(10.0, SIGNAL_BOUNDS) * RBF(1.0, (0.3, 30))
    model = gp.GaussianProcessRegressor(kernel, alpha=variance, n_restarts_optimizer=10, random_state=0)
    model.fit(SIGNS[order], value - value.mean())
    ours = ask(order=order.tolist(), value=value.tolist(), variance=variance.tolist(),
               bounds={"lambda": LAMBDA_BOUNDS, "signal_variance": SIGNAL_BOUNDS, "noise_variance": (0, 0)})

    theta = np.log([ours["signal_variance"], np.sqrt(2 / ours["lambda"])])
    at_ours, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    assert close(ours["log_marginal"], at_ours)
    print("above", at_ours - model.log_marginal_likelihood_value_, "gradient", np.abs(gradient).max())
    assert ours["log_marginal"] > model.log_marginal_likelihood_value_ - TIGHT
    low, high = model.kernel_.bounds.T
    inside = (theta > low + 1e-9) & (theta < high - 1e-9)
    assert np.all(np.abs(gradient[inside]) < TIGHT)

    # scikit-learn's likelihood, climbed to the end by scipy, has the same optimum.
    def negative(point):
        value_, slope = model.log_marginal_likelihood(point, eval_gradient=True)
        return -value_, -slope
    best = optimize.minimize(negative, model.kernel_.theta, jac=True, method="L-BFGS-B", bounds=model.kernel_.bounds,
                             options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 1000})
    assert abs(-best.fun - ours["log_marginal"]) < TIGHT
    assert np.allclose(best.x, theta, atol=1e-5)
