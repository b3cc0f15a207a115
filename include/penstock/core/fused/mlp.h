#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "penstock/core/fused/aligned.h"
#include "penstock/core/fused/counts.h"
#include "penstock/core/fused/dense.h"

namespace penstock::fused {

// Shapes: R rows of a chunk, F floats of a row, P actor outputs.

/// A linear layer's place in the flat buffers of weights and gradients. Offsets are multiples of
/// kPad, and what pads a parameter is zero.
struct LinearShape {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t weight = 0;  // [outputs, inputs] at this offset
  std::size_t bias = 0;    // [outputs]
  bool by_input = false;   // the weight lies as [inputs, outputs]
};

/// An actor-critic of linear layers with one activation between them: what can be fused.
struct MlpShape {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  Activation activation = Activation::tanh;
  // Above 1: a row is this many tokens, each of `row_size` floats that the layers are applied to,
  // with outputs one behind the other and the mean of the values; a token whose first float is 0
  // is absent, and has outputs of 0. Actors do this; an Mlp knows no rows but tokens then.
  std::size_t tokens = 1;
  std::size_t row_size = 0;         // F
  std::vector<InputPart> parts;     // of a row, where some count; the first layers, which are no
                                    // heads, then lie by input; empty: a row is its features
  std::vector<LinearShape> trunk;   // activated throughout; may be empty
  std::vector<LinearShape> actor;   // the last layer is not activated
  std::vector<LinearShape> critic;  // likewise
  std::size_t log_std = kNone;      // offset of a box policy's parameter
  std::size_t skip = kNone;         // first of the features that are added to the actor's outputs
  float skip_scale = 1;             // what they are multiplied by

  /// Weights that are looked up instead of multiplied.
  [[nodiscard]] std::size_t num_looked_up() const;
};

/// Which of the two networks to run.
struct Parts {
  bool actor = true;
  bool critic = true;
};

/// One layer with what a chunk of rows needs of it.
class Dense {
 public:
  Dense(const LinearShape& shape, bool head, std::size_t chunk_rows);

  /// `counted`: what the parts that hold counts contain, for a first layer; null without such
  /// parts.
  void bind(const float* weights, float* gradient, const Counted* counted);
  /// Reads another buffer of weights; pack() follows.
  void use(const float* weights) { weights_ = weights; }
  /// Lays the weights out again after they changed.
  void pack();
  /// out() = bias + x * W; by rows, or by columns [outputs, chunk] for a head.
  void forward(const Scattered& x, std::size_t rows);
  /// Adds to the gradient of weights and bias. `delta` is the gradient of out().
  void add_gradient(const float* x, std::size_t rows);
  /// dx = delta * W, or onto what is there.
  void backward(float* dx, std::size_t rows, bool add) const;
  void begin_gradient();
  void end_gradient();

  [[nodiscard]] float* out() const { return out_.data(); }
  [[nodiscard]] float* delta() const { return delta_.data(); }
  [[nodiscard]] float* bias_gradient() const { return gradient_ + shape_.bias; }
  [[nodiscard]] std::size_t width() const { return padded(shape_.outputs); }
  [[nodiscard]] std::size_t num_outputs() const { return shape_.outputs; }
  /// Whether forward() reads whole padded rows.
  [[nodiscard]] bool wants_padded_rows() const { return narrow(); }

 private:
  [[nodiscard]] bool narrow() const;
  [[nodiscard]] bool sums_by_input() const;
  [[nodiscard]] bool lies_by_input() const;
  [[nodiscard]] const float* by_input() const;
  void forward_counted(const Scattered& x, std::size_t rows);
  void add_counted_gradient(const float* x, std::size_t rows, bool add);
  [[nodiscard]] float* sum() const;
  [[nodiscard]] const float* by_output() const;
  [[nodiscard]] Scattered deltas() const;

  LinearShape shape_;
  bool head_;
  std::size_t chunk_rows_;
  const float* weights_ = nullptr;  // the flat buffers
  float* gradient_ = nullptr;
  const Counted* counted_ = nullptr;
  AlignedFloats by_input_;        // [inputs, padded outputs], where the flat weights are not
  AlignedFloats by_output_copy_;  // [outputs, padded inputs], where the flat rows are not padded
  AlignedFloats sum_;             // the weight's gradient, where the flat buffer has another layout
  AlignedFloats rows_;            // a wide head's output by rows, on its way to columns
  AlignedFloats out_;
  AlignedFloats delta_;
  bool gradient_is_old_ = false;  // the first chunk's replaces it
};

/// The network on chunks of rows, without a graph: one object per thread. Weights stay in the
/// caller's flat buffer, gradients go to another.
class Mlp {
 public:
  static constexpr std::size_t kChunk = 64;

  /// `gradient` may be null for inference alone.
  Mlp(const MlpShape& shape, const float* weights, float* gradient);

  /// Call after the weights changed.
  void pack(Parts parts);
  /// Reads another buffer of weights from now on.
  void use(const float* weights);

  /// Any number of rows [n, F]: params [n, P] (a box policy's followed by its log std: [n, 2 P])
  /// and value [n]; a null pointer leaves that network out.
  void infer(const float* obs, std::size_t num_rows, float* params, float* value);

  // Learning, chunk by chunk: fill input(), forward(), fill the deltas, backward(); all of it
  // between begin_gradient() and end_gradient(), which leaves the sum in the gradient buffer. What
  // is not in `parts` is not touched.
  [[nodiscard]] float* input() const { return input_.data(); }  // [kChunk, padded(F)]
  void begin_gradient(Parts parts);
  void forward(std::size_t rows, Parts parts);
  void backward(std::size_t rows, Parts parts);
  void end_gradient(Parts parts);

  // By columns of kChunk.
  [[nodiscard]] const float* params() const { return actor_.back().out(); }  // [P, kChunk]
  [[nodiscard]] const float* value() const { return critic_.back().out(); }  // [kChunk]
  [[nodiscard]] float* params_delta() const { return actor_.back().delta(); }
  [[nodiscard]] float* value_delta() const { return critic_.back().delta(); }
  /// Of a box policy: [P] each.
  [[nodiscard]] const float* log_std() const { return weights_ + shape_.log_std; }
  [[nodiscard]] float* log_std_gradient() const { return gradient_ + shape_.log_std; }

  [[nodiscard]] const MlpShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t num_outputs() const { return shape_.actor.back().outputs; }

 private:
  using Stack = std::vector<Dense>;
  Stack make_stack(const std::vector<LinearShape>& layers, bool ends_in_head, bool first) const;
  void forward_stack(Stack& stack, Scattered x, std::size_t rows) const;
  void backward_stack(Stack& stack, const float* x, std::size_t rows, float* dx, bool add) const;
  [[nodiscard]] Scattered trunk_output(const Scattered& obs) const;
  void forward_from(const Scattered& obs, std::size_t rows, Parts parts);
  void add_skip(const Scattered& obs, std::size_t rows);
  template <class Visit>
  void for_each_layer(Parts parts, const Visit& visit);

  MlpShape shape_;
  const float* weights_;
  float* gradient_;
  std::unique_ptr<Counted> counted_;  // null where no part counts
  Stack trunk_;
  Stack actor_;
  Stack critic_;
  AlignedFloats input_;
};

}  // namespace penstock::fused
