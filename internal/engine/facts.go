package engine

import (
	"maps"
	"math"

	"plimsoll/internal/dtype"
	"plimsoll/internal/units"
)

// Facts is a profile in the units people use: what its file says, and what is
// shown. Zero fields that mean "none" are left out.
type Facts struct {
	Name    string   `json:"name" yaml:"name"`
	Title   string   `json:"title" yaml:"title"`
	Aliases []string `json:"aliases,omitempty" yaml:"aliases"`
	Since   string   `json:"since,omitempty" yaml:"since"`
	Until   string   `json:"until,omitempty" yaml:"until"`
	// Released is the month in which the range began.
	Released string `json:"released,omitempty" yaml:"released"`

	Policy           Policy  `json:"policy" yaml:"policy"`
	ChunkedPrefill   bool    `json:"chunked_prefill" yaml:"chunked_prefill"`
	TokenBudget      int     `json:"token_budget" yaml:"token_budget"`
	MaxSequences     int     `json:"max_sequences" yaml:"max_sequences"`
	MemoryShare      float64 `json:"memory_share" yaml:"memory_share"`
	MemoryShareOf    ShareOf `json:"memory_share_of" yaml:"memory_share_of"`
	WorkspaceGiB     float64 `json:"workspace_gib" yaml:"workspace_gib"`
	CommunicationGiB float64 `json:"communication_gib" yaml:"communication_gib"`
	PeerGiB          float64 `json:"peer_gib" yaml:"peer_gib"`
	LogitsCopies     float64 `json:"logits_copies" yaml:"logits_copies"`
	MaxContext       int     `json:"max_context" yaml:"max_context"` // 0: what the model knows
	IndexRows        int     `json:"index_rows" yaml:"index_rows"`
	WindowShare      float64 `json:"window_share" yaml:"window_share"`
	StateRatio       float64 `json:"state_ratio" yaml:"state_ratio"`
	BlockTokens      int     `json:"block_tokens" yaml:"block_tokens"`
	KVFormat         string  `json:"kv_format" yaml:"kv_format"` // "auto": what the checkpoint asks for
	Reserve          float64 `json:"reserve" yaml:"reserve"`
	PrefixCaching    bool    `json:"prefix_caching" yaml:"prefix_caching"`
	ReceiveInterval  int     `json:"receive_interval" yaml:"receive_interval"`
	HeldTokens       int     `json:"held_tokens" yaml:"held_tokens"`

	Graph       GraphFacts       `json:"graph" yaml:"graph"`
	BatchWait   BatchWaitFacts   `json:"batch_wait" yaml:"batch_wait"`
	AttentionDP AttentionDPFacts `json:"attention_dp" yaml:"attention_dp"`
	MTP         MTPFacts         `json:"mtp" yaml:"mtp"`
	Host        HostFacts        `json:"host" yaml:"host"`

	Tiers     []TierFacts     `json:"tiers,omitempty" yaml:"tiers"`
	ShareRule *ShareRuleFacts `json:"share_rule_mib,omitempty" yaml:"share_rule_mib"`

	Options map[string]string `json:"options,omitempty" yaml:"options"`
	Source  string            `json:"source" yaml:"source"`
}

// GraphFacts are those of Graph.
type GraphFacts struct {
	MaxBatch     int     `json:"max_batch" yaml:"max_batch"`
	EagerPrefill bool    `json:"eager_prefill" yaml:"eager_prefill"`
	KernelKiB    float64 `json:"kernel_kib" yaml:"kernel_kib"`
}

// BatchWaitFacts are those of BatchWait.
type BatchWaitFacts struct {
	Steps int     `json:"steps" yaml:"steps"`
	Ratio float64 `json:"ratio" yaml:"ratio"`
}

// AttentionDPFacts are those of AttentionDP.
type AttentionDPFacts struct {
	SplitsBudget bool `json:"splits_budget" yaml:"splits_budget"`
}

// MTPFacts are those of MTP.
type MTPFacts struct {
	Tokens     int  `json:"tokens" yaml:"tokens"`
	Overlapped bool `json:"overlapped" yaml:"overlapped"`
}

// HostFacts are the host side: what overlaps, and the times by generation.
type HostFacts struct {
	Overlapped bool                 `json:"overlapped" yaml:"-"` // follows from Exposed
	Exposed    float64              `json:"exposed" yaml:"exposed"`
	Times      map[string]TermFacts `json:"times_us" yaml:"times_us"`
}

// TermFacts are Terms in microseconds.
type TermFacts struct {
	PerStep        float64    `json:"per_step" yaml:"per_step"`
	PerSequence    float64    `json:"per_sequence" yaml:"per_sequence"`
	PerPrefillStep float64    `json:"per_prefill_step" yaml:"per_prefill_step"`
	PerLayer       float64    `json:"per_layer" yaml:"per_layer"`
	LaunchFloor    FloorFacts `json:"launch_floor" yaml:"launch_floor"`
	APIFixed       float64    `json:"api_fixed" yaml:"api_fixed"`
	APIPerToken    float64    `json:"api_per_token" yaml:"api_per_token"`
	First          float64    `json:"first" yaml:"first"`
}

// FloorFacts are Floors in microseconds.
type FloorFacts struct {
	Dense  float64 `json:"dense" yaml:"dense"`
	MoE    float64 `json:"moe" yaml:"moe"`
	Latent float64 `json:"latent" yaml:"latent"`
	Linear float64 `json:"linear" yaml:"linear"`
}

// TierFacts are those of Tier.
type TierFacts struct {
	BelowGiB       float64  `json:"below_gib,omitempty" yaml:"below_gib"`
	Generations    []string `json:"generations,omitempty" yaml:"generations"`
	TokenBudget    int      `json:"token_budget,omitempty" yaml:"token_budget"`
	MaxSequences   int      `json:"max_sequences,omitempty" yaml:"max_sequences"`
	GraphBatch     int      `json:"graph_batch,omitempty" yaml:"graph_batch"`
	WideGraphBatch int      `json:"wide_graph_batch,omitempty" yaml:"wide_graph_batch"`
	SetAsideGiB    float64  `json:"set_aside_gib,omitempty" yaml:"set_aside_gib"`
}

// ShareRuleFacts are those of ShareRule, in MiB.
type ShareRuleFacts struct {
	Fixed      float64 `json:"fixed" yaml:"fixed"`
	PerToken   float64 `json:"per_token" yaml:"per_token"`
	PerGraph   float64 `json:"per_graph" yaml:"per_graph"`
	PerDevice  float64 `json:"per_device" yaml:"per_device"`
	Least      float64 `json:"least" yaml:"least"`
	LeastAbove float64 `json:"least_above" yaml:"least_above"`
}

// auto is how files and tables write the KV format of the checkpoint.
const auto = "auto"

// Facts returns the profile in the units people use.
func (p *Profile) Facts() Facts {
	f := Facts{
		Name: p.Name, Title: p.Title, Aliases: p.Aliases, Since: p.Versions.Since, Until: p.Versions.Until, Released: p.Released,
		Policy: p.Policy, ChunkedPrefill: p.ChunkedPrefill, TokenBudget: p.TokenBudget, MaxSequences: p.MaxSequences,
		MemoryShare: p.MemoryShare, MemoryShareOf: p.MemoryShareOf, WorkspaceGiB: p.Workspace.GiB(),
		CommunicationGiB: p.Communication.GiB(), PeerGiB: p.PerPeer.GiB(), LogitsCopies: p.LogitsCopies,
		MaxContext: p.MaxContext, IndexRows: p.IndexRows, WindowShare: p.WindowShare, StateRatio: p.StateRatio,
		BlockTokens: p.BlockTokens, KVFormat: p.KVFormat.String(), Reserve: p.Reserve, PrefixCaching: p.PrefixCaching,
		ReceiveInterval: p.ReceiveInterval, HeldTokens: p.HeldTokens,
		Graph: GraphFacts{p.Graph.MaxBatch, p.Graph.EagerPrefill, float64(p.Graph.Kernel / units.KiB)}, BatchWait: BatchWaitFacts(p.BatchWait),
		AttentionDP: AttentionDPFacts(p.AttentionDP), MTP: MTPFacts(p.MTP),
		Host:    HostFacts{Overlapped: p.Exposed < 1, Exposed: p.Exposed, Times: map[string]TermFacts{}},
		Options: maps.Clone(p.Options), Source: p.Source,
	}
	if p.KVFormat == dtype.None {
		f.KVFormat = auto
	}
	for generation, t := range p.Hosts {
		f.Host.Times[generation] = t.facts()
	}
	for _, t := range p.Tiers {
		f.Tiers = append(f.Tiers, TierFacts{
			t.Below.GiB(), t.Generations, t.TokenBudget, t.MaxSequences, t.GraphBatch, t.WideGraphBatch, t.SetAside.GiB(),
		})
	}
	if r := p.ShareRule; r != nil {
		in := func(b units.Bytes) float64 { return float64(b / units.MiB) }
		f.ShareRule = &ShareRuleFacts{
			in(r.Fixed), in(r.PerToken), in(r.PerGraph), in(r.PerDevice), in(r.Least), in(r.LeastAbove),
		}
	}
	return f
}

func (t Terms) facts() TermFacts {
	return TermFacts{
		PerStep: us(t.PerStep), PerSequence: us(t.PerSequence), PerPrefillStep: us(t.PerPrefillStep),
		PerLayer:    us(t.PerLayer),
		LaunchFloor: FloorFacts{us(t.Floor.Dense), us(t.Floor.MoE), us(t.Floor.Latent), us(t.Floor.Linear)},
		APIFixed:    us(t.APIFixed), APIPerToken: us(t.APIPerToken), First: us(t.First),
	}
}

// us is a time in microseconds, to the picosecond: without float dust.
func us(s units.Seconds) float64 {
	const digits = 1e6
	return math.Round(s.Us()*digits) / digits
}
