// A throw-away hand-fused PPO for exactly one network (actor and critic of 64-64 tanh) and one env
// (CartPole): meant as a bound on what a machine can do, not as a peer. Its gradients were never
// checked against autograd and nothing in it can be configured.
//
//     g++ -O3 -march=native -ffast-math -fopenmp hand.cpp -o hand
//     hand --num-envs N --minibatch B --threads K
//
// It speaks the protocol of protocol.py.
// Legend: T steps, N envs, B rows of a batch; matrices are row-major.

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr int kObs = 4;
constexpr int kHidden = 64;
constexpr int kLanes = 16;
constexpr int kVectors = kHidden / kLanes;  // a hidden row is this many vectors
constexpr int kActions = 2;
constexpr int kSteps = 128;  // T
constexpr int kEpochs = 4;
constexpr int kChunk = 64;  // rows per pass of the learner: activations stay in the L1 cache
constexpr int kMaxThreads = 8;

typedef float Vec __attribute__((vector_size(64)));

inline Vec load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline Vec& at(float* p) { return *reinterpret_cast<Vec*>(p); }
inline Vec broadcast(float x) { return Vec{} + x; }

/// c[B, 64] = a[B, depth] * w[depth, 64] + bias, Rows rows at a time so that sums stay in
/// registers.
template <int Rows>
void matmul_rows(const float* a, int depth, const float* w, const float* bias, float* c) {
  Vec sum[Rows][kVectors];
  for (int r = 0; r < Rows; ++r) {
    for (int j = 0; j < kVectors; ++j) { sum[r][j] = bias ? load(bias + kLanes * j) : Vec{}; }
  }
  for (int k = 0; k < depth; ++k) {
    const Vec w0 = load(w + k * kHidden), w1 = load(w + k * kHidden + 16);
    const Vec w2 = load(w + k * kHidden + 32), w3 = load(w + k * kHidden + 48);
#pragma GCC unroll 6
    for (int r = 0; r < Rows; ++r) {
      const Vec x = broadcast(a[r * depth + k]);
      sum[r][0] += x * w0;
      sum[r][1] += x * w1;
      sum[r][2] += x * w2;
      sum[r][3] += x * w3;
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int j = 0; j < kVectors; ++j) { at(c + r * kHidden + kLanes * j) = sum[r][j]; }
  }
}

void matmul(const float* a, int depth, const float* w, const float* bias, float* c, int rows) {
  int b = 0;
  for (; b + 6 <= rows; b += 6) { matmul_rows<6>(a + b * depth, depth, w, bias, c + b * kHidden); }
  for (; b < rows; ++b) { matmul_rows<1>(a + b * depth, depth, w, bias, c + b * kHidden); }
}

/// g[depth, 64] += a[B, depth]^T * d[B, 64]
void add_outer(const float* a, int depth, const float* d, float* g, int rows) {
  for (int k = 0; k < depth; k += 4) {
    Vec sum[4][kVectors] = {};
    for (int b = 0; b < rows; ++b) {
      const Vec d0 = load(d + b * kHidden), d1 = load(d + b * kHidden + 16);
      const Vec d2 = load(d + b * kHidden + 32), d3 = load(d + b * kHidden + 48);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const Vec x = broadcast(a[b * depth + k + r]);
        sum[r][0] += x * d0;
        sum[r][1] += x * d1;
        sum[r][2] += x * d2;
        sum[r][3] += x * d3;
      }
    }
    for (int r = 0; r < 4; ++r) {
      for (int j = 0; j < kVectors; ++j) { at(g + (k + r) * kHidden + kLanes * j) += sum[r][j]; }
    }
  }
}

void tanh_in_place(float* x, int size) {
  for (int i = 0; i < size; ++i) {
    const float e = expf(2.f * std::min(9.f, std::max(-9.f, x[i])));
    x[i] = 1.f - 2.f / (e + 1.f);
  }
}

void add_rows(const float* d, float* sum, int rows) {
  for (int b = 0; b < rows; ++b) {
    for (int j = 0; j < kHidden; ++j) { sum[j] += d[b * kHidden + j]; }
  }
}

struct Net {
  alignas(64) float w1[kObs * kHidden];
  float b1[kHidden];
  float w2[kHidden * kHidden];
  float b2[kHidden];
  float w3[kActions * kHidden];  // [outputs, 64], the critic uses the first row
  float b3[kLanes];
};
constexpr int kNetFloats = sizeof(Net) / sizeof(float);

/// Actor and critic side by side, so that norm, clipping and Adam are one loop over floats.
struct Nets {
  Net actor, critic;
  float* begin() { return reinterpret_cast<float*>(this); }
  static constexpr int size() { return 2 * kNetFloats; }
};

void initialise(Net& net, int outputs, std::mt19937& random) {
  std::normal_distribution<float> normal;
  for (float& x : net.w1) { x = normal(random) * .7f; }
  for (float& x : net.w2) { x = normal(random) * .17f; }
  for (int i = 0; i < outputs * kHidden; ++i) { net.w3[i] = normal(random) * .05f; }
}

/// Activations and their gradients for one thread.
struct Scratch {
  explicit Scratch(int rows) : h1_(rows), h2_(rows), d1_(rows), d2_(rows) {}
  float* h1() { return h1_.data()->x; }
  float* h2() { return h2_.data()->x; }
  float* d1() { return d1_.data()->x; }
  float* d2() { return d2_.data()->x; }
  alignas(64) float w2_transposed[kHidden * kHidden];

 private:
  struct Row {
    alignas(64) float x[kHidden];
  };
  std::vector<Row> h1_, h2_, d1_, d2_;
};

/// y[B, outputs] of x[B, 4]; the scratch keeps what backward needs.
void forward(const Net& net, const float* x, int rows, Scratch& s, int outputs, float* y) {
  matmul(x, kObs, net.w1, net.b1, s.h1(), rows);
  tanh_in_place(s.h1(), rows * kHidden);
  matmul(s.h1(), kHidden, net.w2, net.b2, s.h2(), rows);
  tanh_in_place(s.h2(), rows * kHidden);
  for (int b = 0; b < rows; ++b) {
    for (int o = 0; o < outputs; ++o) {
      Vec product{};
      for (int j = 0; j < kVectors; ++j) {
        product +=
            load(s.h2() + b * kHidden + kLanes * j) * load(net.w3 + o * kHidden + kLanes * j);
      }
      float sum = net.b3[o];
      for (int j = 0; j < kLanes; ++j) { sum += product[j]; }
      y[b * outputs + o] = sum;
    }
  }
}

/// The last layer's gradients, and d2 = what comes out of it through the second tanh.
void backward_head(const Net& net, int rows, Scratch& s, int outputs, const float* dy, Net& grad) {
  for (int b = 0; b < rows; ++b) {
    for (int j = 0; j < kVectors; ++j) {
      const Vec h = load(s.h2() + b * kHidden + kLanes * j);
      Vec d{};
      for (int o = 0; o < outputs; ++o) {
        d += dy[b * outputs + o] * load(net.w3 + o * kHidden + kLanes * j);
        at(grad.w3 + o * kHidden + kLanes * j) += dy[b * outputs + o] * h;
      }
      at(s.d2() + b * kHidden + kLanes * j) = d * (1.f - h * h);
    }
  }
  for (int b = 0; b < rows; ++b) {
    for (int o = 0; o < outputs; ++o) { grad.b3[o] += dy[b * outputs + o]; }
  }
}

/// Adds to grad what dy[B, outputs] brings, after a forward of the same rows.
void backward(const Net& net, const float* x, int rows, Scratch& s, int outputs, const float* dy,
              Net& grad) {
  backward_head(net, rows, s, outputs, dy, grad);
  add_outer(s.h1(), kHidden, s.d2(), grad.w2, rows);
  add_rows(s.d2(), grad.b2, rows);
  for (int i = 0; i < kHidden; ++i) {
    for (int j = 0; j < kHidden; ++j) {
      s.w2_transposed[j * kHidden + i] = net.w2[i * kHidden + j];
    }
  }
  matmul(s.d2(), kHidden, s.w2_transposed, nullptr, s.d1(), rows);
  for (int i = 0; i < rows * kHidden; ++i) { s.d1()[i] *= 1.f - s.h1()[i] * s.h1()[i]; }
  add_outer(x, kObs, s.d1(), grad.w1, rows);
  add_rows(s.d1(), grad.b1, rows);
}

/// A number in [0, 1) by xorshift.
inline float uniform(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return static_cast<float>(state >> 8) * (1.f / 16777216.f);
}

/// One step of CartPole-v1; whether the pole fell or the cart left the track.
inline bool step_cartpole(float* s, bool right) {
  const float force = right ? 10.f : -10.f, cosine = cosf(s[2]), sine = sinf(s[2]);
  const float temp = (force + .05f * s[3] * s[3] * sine) / 1.1f;
  const float theta_acc =
      (9.8f * sine - cosine * temp) / (.5f * (4.f / 3.f - .1f * cosine * cosine / 1.1f));
  const float x_acc = temp - .05f * theta_acc * cosine / 1.1f;
  s[0] += .02f * s[1];
  s[1] += .02f * x_acc;
  s[2] += .02f * s[3];
  s[3] += .02f * theta_acc;
  return fabsf(s[0]) > 2.4f || fabsf(s[2]) > .2095f;
}

class Ppo {
 public:
  Ppo(int num_envs, int minibatch, int threads);
  int samples() const { return num_envs_ * kSteps; }
  void iterate();

 private:
  void roll_out(int thread);
  void step_env(int step, int env, const float* logits, float value);
  void advantages();
  void learn_minibatch(const int* index);
  void add_gradients(int thread, const int* index, float mean, float scale);
  void policy_gradient(const int* index, int rows, float mean, float scale, const float* logits,
                       float* d) const;
  void adam(float* gradient);

  int num_envs_, minibatch_, threads_;
  std::mt19937 random_{0};
  Nets nets_{}, mean_{}, square_{};
  std::vector<Nets> gradients_;  // one per thread
  long num_updates_ = 0;
  std::vector<float> obs_, log_prob_, advantage_, target_, value_, done_;  // [T, N]
  std::vector<int> action_, order_;                                        // [T, N]
  std::vector<float> state_;                                               // [N, 4]
  std::vector<int> age_;                                                   // [N]
  std::vector<unsigned> env_random_;                                       // [N]
  std::vector<std::unique_ptr<Scratch>> scratch_;                          // one per thread
};

Ppo::Ppo(int num_envs, int minibatch, int threads)
    : num_envs_(num_envs),
      minibatch_(minibatch),
      threads_(threads),
      gradients_(threads),
      obs_(samples() * kObs),
      log_prob_(samples()),
      advantage_(samples()),
      target_(samples()),
      value_(samples()),
      done_(samples()),
      action_(samples()),
      order_(samples()),
      state_(num_envs * kObs),
      age_(num_envs),
      env_random_(num_envs) {
  initialise(nets_.actor, kActions, random_);
  initialise(nets_.critic, 1, random_);
  for (int i = 0; i < num_envs; ++i) { env_random_[i] = i * 7919 + 13; }
  std::normal_distribution<float> normal;
  for (float& x : state_) { x = .05f * normal(random_); }
  std::iota(order_.begin(), order_.end(), 0);
  for (int i = 0; i < threads; ++i) {
    scratch_.push_back(std::make_unique<Scratch>(std::max(num_envs, kChunk)));
  }
}

void Ppo::iterate() {
#pragma omp parallel num_threads(threads_)
  roll_out(omp_get_thread_num());
  advantages();
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    std::shuffle(order_.begin(), order_.end(), random_);
    for (int s = 0; s < samples(); s += minibatch_) { learn_minibatch(&order_[s]); }
  }
}

/// All T steps of this thread's envs: envs do not meet before the learner.
void Ppo::roll_out(int thread) {
  const int begin = static_cast<long>(num_envs_) * thread / threads_;
  const int end = static_cast<long>(num_envs_) * (thread + 1) / threads_;
  const int rows = end - begin;
  Scratch& s = *scratch_[thread];
  std::vector<float> logits(rows * kActions), value(rows);
  const float* x = &state_[begin * kObs];
  for (int t = 0; t < kSteps; ++t) {
    memcpy(&obs_[(t * num_envs_ + begin) * kObs], x, rows * kObs * sizeof(float));
    forward(nets_.actor, x, rows, s, kActions, logits.data());
    forward(nets_.critic, x, rows, s, 1, value.data());
    for (int i = 0; i < rows; ++i) { step_env(t, begin + i, &logits[kActions * i], value[i]); }
  }
}

inline void Ppo::step_env(int step, int env, const float* logits, float value) {
  const int i = step * num_envs_ + env;
  const float right = 1.f / (1.f + expf(logits[0] - logits[1]));
  const bool action = uniform(env_random_[env]) < right;
  action_[i] = action;
  log_prob_[i] = logf(action ? right : 1 - right);
  value_[i] = value;
  float* state = &state_[env * kObs];
  const bool fallen = step_cartpole(state, action);
  const bool done = ++age_[env] >= 500 || fallen;
  done_[i] = done;
  if (done) {
    age_[env] = 0;
    for (int k = 0; k < kObs; ++k) { state[k] = .1f * uniform(env_random_[env]) - .05f; }
  }
}

void Ppo::advantages() {
  std::vector<float> last_value(num_envs_);
  forward(nets_.critic, state_.data(), num_envs_, *scratch_[0], 1, last_value.data());
  for (int env = 0; env < num_envs_; ++env) {
    float running = 0, next_value = last_value[env];
    for (int t = kSteps - 1; t >= 0; --t) {
      const int i = t * num_envs_ + env;
      const float alive = 1 - done_[i];
      const float delta = 1.f + .99f * next_value * alive - value_[i];  // every reward is 1
      running = delta + .99f * .95f * alive * running;
      advantage_[i] = running;
      target_[i] = running + value_[i];
      next_value = value_[i];
    }
  }
}

void Ppo::learn_minibatch(const int* index) {
  float sum = 0, squares = 0;
  for (int i = 0; i < minibatch_; ++i) {
    const float a = advantage_[index[i]];
    sum += a;
    squares += a * a;
  }
  const float mean = sum / minibatch_;
  const float scale = 1.f / (sqrtf(std::max(0.f, squares / minibatch_ - mean * mean)) + 1e-8f);
#pragma omp parallel num_threads(threads_)
  add_gradients(omp_get_thread_num(), index, mean, scale);
  float* total = gradients_[0].begin();
  for (int k = 1; k < threads_; ++k) {
    const float* part = gradients_[k].begin();
    for (int i = 0; i < Nets::size(); ++i) { total[i] += part[i]; }
  }
  adam(total);
}

/// This thread's share of a minibatch, forward, loss and backward chunk by chunk.
void Ppo::add_gradients(int thread, const int* index, float mean, float scale) {
  const int begin = static_cast<long>(minibatch_) * thread / threads_;
  const int end = static_cast<long>(minibatch_) * (thread + 1) / threads_;
  Scratch& s = *scratch_[thread];
  Nets& gradient = gradients_[thread];
  memset(gradient.begin(), 0, sizeof gradient);
  alignas(64) float x[kChunk * kObs];
  float y[kChunk * kActions], dy[kChunk * kActions];
  for (int b = begin; b < end; b += kChunk) {
    const int rows = std::min(kChunk, end - b);
    const int* chunk = index + b;
    for (int i = 0; i < rows; ++i) {
      memcpy(x + kObs * i, &obs_[chunk[i] * kObs], kObs * sizeof(float));
    }
    forward(nets_.actor, x, rows, s, kActions, y);
    policy_gradient(chunk, rows, mean, scale, y, dy);
    backward(nets_.actor, x, rows, s, kActions, dy, gradient.actor);
    forward(nets_.critic, x, rows, s, 1, y);
    for (int i = 0; i < rows; ++i) { dy[i] = .5f * (y[i] - target_[chunk[i]]) / minibatch_; }
    backward(nets_.critic, x, rows, s, 1, dy, gradient.critic);
  }
}

/// d[B, 2]: the clipped objective's gradient by the logits.
inline void Ppo::policy_gradient(const int* index, int rows, float mean, float scale,
                                 const float* logits, float* d) const {
  for (int i = 0; i < rows; ++i) {
    const int k = index[i];
    const float right = 1.f / (1.f + expf(logits[2 * i] - logits[2 * i + 1]));
    const float probability = action_[k] ? right : 1 - right;
    const float ratio = expf(logf(probability) - log_prob_[k]);
    const float advantage = (advantage_[k] - mean) * scale;
    const bool clipped = (advantage > 0 && ratio > 1.2f) || (advantage < 0 && ratio < .8f);
    const float by_log_prob = clipped ? 0.f : -advantage * ratio / minibatch_;
    const float by_logit = by_log_prob * ((action_[k] ? 1.f : 0.f) - right);
    d[2 * i] = -by_logit;
    d[2 * i + 1] = by_logit;
  }
}

void Ppo::adam(float* gradient) {
  float norm2 = 0;
  for (int i = 0; i < Nets::size(); ++i) { norm2 += gradient[i] * gradient[i]; }
  const float clip = std::min(1.f, .5f / (sqrtf(norm2) + 1e-6f));
  ++num_updates_;
  const float fix_mean = 1 - powf(.9f, num_updates_), fix_square = 1 - powf(.999f, num_updates_);
  float *p = nets_.begin(), *m = mean_.begin(), *v = square_.begin();
  for (int i = 0; i < Nets::size(); ++i) {
    const float g = gradient[i] * clip;
    m[i] = .9f * m[i] + .1f * g;
    v[i] = .999f * v[i] + .001f * g * g;
    p[i] -= 1e-3f * (m[i] / fix_mean) / (sqrtf(v[i] / fix_square) + 1e-5f);
  }
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double samples_per_second(Ppo& ppo, double seconds) {
  const double start = now();
  for (long count = 1;; ++count) {
    ppo.iterate();
    const double elapsed = now() - start;
    if (elapsed >= seconds) { return static_cast<double>(count) * ppo.samples() / elapsed; }
  }
}

int option(int argc, char** argv, const char* name) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], name) == 0) { return atoi(argv[i + 1]); }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int num_envs = option(argc, argv, "--num-envs");
  const int minibatch = option(argc, argv, "--minibatch");
  const int threads = option(argc, argv, "--threads");
  if (num_envs < 1 || minibatch < 1 || num_envs * kSteps % minibatch != 0 || threads < 1 ||
      threads > kMaxThreads) {
    fprintf(stderr,
            "usage: hand --num-envs N --minibatch B --threads K, B divides 128 N, K <= %d\n",
            kMaxThreads);
    return 2;
  }
  const auto ppo = std::make_unique<Ppo>(num_envs, minibatch, threads);
  samples_per_second(*ppo, 0.2);  // warms up
  printf("{\"ready\": true, \"peer\": \"hand\", \"version\": \"g++ %s\"}\n", __VERSION__);
  fflush(stdout);
  double seconds = 0;
  while (scanf("%lf", &seconds) == 1) {
    printf("{\"rate\": %.1f}\n", samples_per_second(*ppo, seconds));
    fflush(stdout);
  }
}
