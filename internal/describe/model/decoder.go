package model

import (
	"cmp"
	"encoding/json"
	"strings"
)

// decoder is the form that most configs share: grouped-query or latent attention
// and a dense or routed feed-forward part in every layer. Its fields have the
// names that most publishers use; respell brings others to them.
type decoder struct {
	base
	latent
	routed

	AttentionBias bool     `json:"attention_bias"`
	MLPBias       bool     `json:"mlp_bias"`
	UseWindow     *bool    `json:"use_sliding_window"` // absent: where sliding_window is stated
	Window        int      `json:"sliding_window"`
	WindowedFrom  int      `json:"max_window_layers"`      // layers before have no window
	Pattern       letters  `json:"sliding_window_pattern"` // windows and none, again and again
	LayerTypes    []string `json:"layer_types"`            // states them instead
	QKNorm        bool     `json:"use_qk_norm"`
	SharedWidth   int      `json:"shared_expert_intermediate_size"`
	Predict       int      `json:"num_nextn_predict_layers"`
}

// style is what a family's configs do not say, as families.json has it.
type style struct {
	Bias       bool // on q, k and v, regardless of attention_bias
	OutBias    bool // on the output projection likewise
	PlainOut   bool // attention_bias does not apply to the output projection
	MLPBias    bool
	QKNorm     QKNorm
	QKNormSaid bool // only where use_qk_norm says so
	OffsetNorm bool // norms scale by one plus the weight
	Norms      int  // of a layer; 0 = 2
	Parallel   bool
	Ungated    bool
	Fourfold   bool // intermediate_size is 4 · hidden_size unless stated
	Unrotated  bool // no rotary positions
	Learned    bool // an embedding of positions
	Latent     bool // latent attention must be there
	Indexer    bool // and have an indexer
	OutGate    bool
	Sinks      bool
	Joined     bool    // the input projections of linear attention are two matrices
	RotaryDim  int     // rotated part of a head, where the config has it in elements
	Tied       bool    // unless the config says otherwise
	NoWindow   bool    // unless use_sliding_window says otherwise
	Pattern    letters // of windows, unless stated
	Experts    bool    // must be there
	OwnWidth   bool    // and have a width of their own
	Router     Router
	RouterBias bool // unless topk_method says otherwise
	SharedGate bool
}

// decoder reads a config of the common form.
func (r *reader) decoder() *Model {
	var c decoder
	if !r.decode(&c) {
		return nil
	}
	return r.build(&c, nil)
}

// mixed makes the model of a config some of whose layers have another mixer.
func (r *reader) mixed(c *decoder, other Attention, has func(i int) bool) *Model {
	return r.build(c, func(i int, l *Layer) {
		if has(i) {
			l.Attention = other
		}
	})
}

// build makes the model of a config that is read. Layer, if not nil, changes layer i where
// layers differ otherwise.
func (r *reader) build(c *decoder, layer func(i int, l *Layer)) *Model {
	s := &r.style
	if c.Tied == nil && r.outer.Tied == nil {
		c.Tied = new(s.Tied)
	}
	if c.Pattern == "" {
		c.Pattern = s.Pattern
	}
	if c.UseWindow == nil && s.NoWindow {
		c.UseWindow = new(false)
	}
	if c.Intermediate == 0 && s.Fourfold {
		c.Intermediate = 4 * min(c.Hidden, maxHidden)
	}
	m := r.model(&c.base)
	a := r.decoderAttention(c, s)
	dense, moe := r.decoderFFN(c, s)
	r.may("sliding_window", c.Window, maxPositions)
	r.layerKinds("layer_types", c.LayerTypes, c.Layers, "full_attention", "sliding_attention")
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: a, FFN: dense, Norms: cmp.Or(s.Norms, 2), Parallel: s.Parallel}
		if moe.Kind == MoE && c.sparse(i) {
			l.FFN = moe
		}
		if c.windowed(i) {
			l.Attention.Window = c.Window
		}
		if layer != nil {
			layer(i, &l)
		}
		return l
	})
	m.predict(r, c.Predict)
	if s.Learned {
		m.Positions = c.MaxPosition
	}
	return m
}

// decoderAttention checks the token mixer.
func (r *reader) decoderAttention(c *decoder, s *style) Attention {
	if c.KVRank > 0 || s.Latent {
		a := r.latentAttention(&c.base, &c.latent)
		a.OutGate = s.OutGate
		return a
	}
	a := r.attention(&c.base)
	if c.Value > 0 {
		r.may("v_head_dim", c.Value, maxHeadDim)
		a.ValueDim = c.Value
	}
	if !s.QKNormSaid || c.QKNorm {
		a.QKNorm = s.QKNorm
	}
	a.Bias = c.AttentionBias || s.Bias
	a.OutBias = c.AttentionBias && !s.PlainOut || s.OutBias
	a.OutGate, a.Sinks = s.OutGate, s.Sinks
	if s.Unrotated {
		a.RopeDim = 0
	}
	r.rotaryDim(&a, s.RotaryDim)
	return a
}

// decoderFFN checks both feed-forward parts. Where the config has experts and no
// width of theirs, intermediate_size is that.
func (r *reader) decoderFFN(c *decoder, s *style) (dense, moe FFN) {
	bias := c.MLPBias || s.MLPBias
	if c.Experts <= 1 && !s.Experts {
		dense = r.dense(c.Intermediate)
		dense.Bias, dense.Ungated = bias, s.Ungated
		return dense, moe
	}
	if c.ExpertWidth == 0 && !s.OwnWidth {
		c.ExpertWidth = c.Intermediate
	}
	dense, moe = r.routedFFN(&c.base, &c.routed)
	if dense.Kind == Dense {
		dense.Bias, dense.Ungated = bias, s.Ungated
	}
	moe.Bias, moe.Ungated, moe.Router = bias, s.Ungated, s.Router
	moe.RouterBias = c.Method == "noaux_tc" || c.Method == "" && s.RouterBias
	r.may("shared_expert_intermediate_size", c.SharedWidth, maxIntermediate)
	if c.SharedWidth > 0 {
		moe.SharedIntermediate, moe.SharedGate = c.SharedWidth, s.SharedGate
	}
	return dense, moe
}

// windowed reports whether layer i has the sliding window.
func (c *decoder) windowed(i int) bool {
	switch {
	case c.Window >= c.MaxPosition, c.UseWindow != nil && !*c.UseWindow:
		return false
	case len(c.LayerTypes) > 0:
		return c.LayerTypes[i] == "sliding_attention"
	case i < c.WindowedFrom:
		return false
	}
	return c.Pattern == "" || c.Pattern[i%len(c.Pattern)] == 'L'
}

// letters is a pattern of layers with a window (L) and without (G), written so or
// as the number of layers up to one without.
type letters string

// UnmarshalJSON takes either form; null and 0 leave the zero value.
func (p *letters) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		err := json.Unmarshal(b, &s)
		*p = letters(s)
		return err
	}
	var n int
	err := json.Unmarshal(b, &n)
	if n > 0 && n <= maxLayers {
		*p = letters(strings.Repeat("L", n-1) + "G")
	}
	return err
}

// spellings are names of fields: ours, then what others call it.
const spellings = `
hidden_size n_embd d_model
num_hidden_layers n_layer n_layers num_layers
num_attention_heads n_head n_heads num_heads
num_key_value_heads num_kv_heads n_head_kv kv_n_heads multi_query_group_num num_attention_groups
head_dim kv_channels attention_head_dim
intermediate_size n_inner ffn_dim ffn_hidden_size
sliding_window window_size
sliding_window_pattern global_attn_every_n_layers
vocab_size padded_vocab_size
max_position_embeddings n_positions max_seq_len max_sequence_length seq_length model_max_length
n_routed_experts num_experts num_local_experts moe_num_experts
num_experts_per_tok moe_topk moe_top_k moe_k num_experts_per_token experts_per_token num_selected_experts
moe_intermediate_size expert_ffn_hidden_size
n_shared_experts num_shared_experts num_shared_expert moe_num_shared_experts
shared_expert_intermediate_size shared_intermediate_size moe_shared_expert_intermediate_size share_expert_dim
decoder_sparse_step interleave_moe_layer_step moe_layer_frequency
moe_layers moe_layers_enum
first_k_dense_replace num_dense_layers moe_layer_start_index
num_nextn_predict_layers mtp_num_hidden_layers
attention_bias use_qkv_bias add_qkv_bias use_bias qkv_bias bias
use_qk_norm qk_layernorm
use_parallel_residual parallel_attn
mamba_n_heads mamba_num_heads
mamba_d_head mamba_head_dim
mamba_n_groups n_groups
mamba_d_state ssm_state_size state_size
mamba_d_conv conv_kernel
mamba_expand expand
mamba_dt_rank time_step_rank
`

// respell gives the fields of the language model's object our names.
func (r *reader) respell() bool {
	text, said, err := respelled(r.text, spellings)
	if err != nil {
		r.errs = append(r.errs, decodeError("config.json", r.path, err))
		return false
	}
	r.text, r.said = text, said
	return true
}

// respelled is an object whose fields have the first name of a line of names, where
// only another one is stated, and what it calls them. A list that has one value for
// every layer becomes that value.
func respelled(object []byte, lines string) (text []byte, said map[string]string, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, nil, err
	}
	said = map[string]string{}
	for line := range strings.Lines(lines) {
		names := strings.Fields(line)
		for _, name := range names {
			if raw := fields[name]; present(raw) {
				fields[names[0]], said[names[0]] = uniform(raw), name
				break
			}
		}
	}
	text, err = json.Marshal(fields)
	return text, said, err
}

// uniform is the value that all entries of a list of numbers have, other values as
// they are.
func uniform(raw json.RawMessage) json.RawMessage {
	var list []json.Number
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return raw
	}
	for _, n := range list {
		if n != list[0] {
			return raw
		}
	}
	return json.RawMessage(list[0])
}
