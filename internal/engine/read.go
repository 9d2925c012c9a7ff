package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"plimsoll/internal/dtype"
	"plimsoll/internal/units"
)

// parse reads the file of an engine: one YAML document for each range of
// versions, newest first. The first is complete; each further one states what was
// different before. Unknown keys are errors.
func parse(data []byte) ([]*Profile, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	var all []*Profile
	var ranges []Range
	var f Facts
	for {
		// Decoding keeps what a document does not mention; what it could change
		// inside is not shared with the profile before.
		f.Host.Times, f.Options = maps.Clone(f.Host.Times), maps.Clone(f.Options)
		if f.ShareRule != nil {
			rule := *f.ShareRule
			f.ShareRule = &rule
		}
		err := decoder.Decode(&f)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		p := f.profile()
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("versions %s: %w", p.Versions, err)
		}
		all, ranges = append(all, p), append(ranges, p.Versions)
	}
	if len(all) == 0 {
		return nil, errors.New("the file is empty")
	}
	return all, checkRanges(ranges)
}

// profile returns the facts in the units of the program. The format "auto", and
// any that check will refuse, is None.
func (f *Facts) profile() *Profile {
	format, _ := dtype.Parse(f.KVFormat)
	p := &Profile{
		Name: f.Name, Title: f.Title, Aliases: f.Aliases, Versions: Range{f.Since, f.Until}, Released: f.Released,
		Policy: f.Policy, ChunkedPrefill: f.ChunkedPrefill, TokenBudget: f.TokenBudget, MaxSequences: f.MaxSequences,
		MemoryShare: f.MemoryShare, MemoryShareOf: f.MemoryShareOf, Workspace: units.Bytes(f.WorkspaceGiB) * units.GiB,
		Communication: units.Bytes(f.CommunicationGiB) * units.GiB, PerPeer: units.Bytes(f.PeerGiB) * units.GiB,
		LogitsCopies: f.LogitsCopies, MaxContext: f.MaxContext, IndexRows: f.IndexRows, WindowShare: f.WindowShare, StateRatio: f.StateRatio,
		BlockTokens: f.BlockTokens, KVFormat: format, Reserve: f.Reserve, PrefixCaching: f.PrefixCaching,
		ReceiveInterval: f.ReceiveInterval, HeldTokens: f.HeldTokens,
		Graph: Graph{f.Graph.MaxBatch, f.Graph.EagerPrefill, units.Bytes(f.Graph.KernelKiB) * units.KiB}, BatchWait: BatchWait(f.BatchWait),
		AttentionDP: AttentionDP(f.AttentionDP), MTP: MTP(f.MTP),
		Exposed: f.Host.Exposed, Hosts: map[string]Terms{},
		Options: f.Options, Source: f.Source,
	}
	for generation, t := range f.Host.Times {
		p.Hosts[generation] = t.terms()
	}
	for _, t := range f.Tiers {
		p.Tiers = append(p.Tiers, Tier{
			units.Bytes(t.BelowGiB) * units.GiB, t.Generations,
			t.TokenBudget, t.MaxSequences, t.GraphBatch, t.WideGraphBatch,
			units.Bytes(t.SetAsideGiB) * units.GiB,
		})
	}
	if r := f.ShareRule; r != nil {
		in := func(mib float64) units.Bytes { return units.Bytes(mib) * units.MiB }
		p.ShareRule = &ShareRule{
			in(r.Fixed), in(r.PerToken), in(r.PerGraph), in(r.PerDevice), in(r.Least), in(r.LeastAbove),
		}
	}
	return p
}

func (t TermFacts) terms() Terms {
	in := func(us float64) units.Seconds { return units.Seconds(us) * units.Microsecond }
	l := t.LaunchFloor
	return Terms{
		PerStep: in(t.PerStep), PerSequence: in(t.PerSequence), PerPrefillStep: in(t.PerPrefillStep),
		PerLayer: in(t.PerLayer),
		Floor:    Floors{in(l.Dense), in(l.MoE), in(l.Latent), in(l.Linear)},
		APIFixed: in(t.APIFixed), APIPerToken: in(t.APIPerToken), First: in(t.First),
	}
}

// check returns every value that makes no sense.
func (p *Profile) check() error {
	var errs []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	must(p.Name != "" && p.Title != "" && p.Source != "", "name, title and source are needed")
	must(slices.Contains([]Policy{DecodeFirst, PrefillFirst, InFlight}, p.Policy),
		"policy must be %s, %s or %s, got %q", DecodeFirst, PrefillFirst, InFlight, p.Policy)
	must(slices.Contains([]ShareOf{OfTotal, OfStatic, OfFree}, p.MemoryShareOf),
		"memory_share_of must be %s, %s or %s, got %q", OfTotal, OfStatic, OfFree, p.MemoryShareOf)
	must(p.MemoryShare > 0 && p.MemoryShare <= 1, "memory_share must be above 0 and at most 1, got %g", p.MemoryShare)
	must(p.TokenBudget > 0, "token_budget must be positive, got %d", p.TokenBudget)
	must(p.MaxSequences > 0, "max_sequences must be positive, got %d", p.MaxSequences)
	must(p.BlockTokens > 0, "block_tokens must be positive, got %d", p.BlockTokens)
	must(p.Workspace >= 0, "workspace_gib must not be negative, got %g", p.Workspace.GiB())
	must(p.Communication >= 0, "communication_gib must not be negative, got %g", p.Communication.GiB())
	must(p.PerPeer >= 0, "peer_gib must not be negative, got %g", p.PerPeer.GiB())
	must(p.LogitsCopies >= 0, "logits_copies must not be negative, got %g", p.LogitsCopies)
	must(p.MaxContext >= 0, "max_context must not be negative, got %d", p.MaxContext)
	must(p.IndexRows >= 0, "index_rows must not be negative, got %d", p.IndexRows)
	must(inUnit(p.WindowShare), "window_share must be from 0 to 1, got %g", p.WindowShare)
	must(p.StateRatio >= 0, "state_ratio must not be negative, got %g", p.StateRatio)
	must(inUnit(p.Reserve), "reserve must be from 0 to 1, got %g", p.Reserve)
	must(inUnit(p.Exposed), "host.exposed must be from 0 to 1, got %g", p.Exposed)
	must(inUnit(p.BatchWait.Ratio), "batch_wait.ratio must be from 0 to 1, got %g", p.BatchWait.Ratio)
	must(p.BatchWait.Steps >= 0, "batch_wait.steps must not be negative, got %d", p.BatchWait.Steps)
	must(p.ReceiveInterval > 0, "receive_interval must be positive, got %d", p.ReceiveInterval)
	must(p.HeldTokens >= 0, "held_tokens must not be negative, got %d", p.HeldTokens)
	must(p.Graph.MaxBatch >= 0, "graph.max_batch must not be negative, got %d", p.Graph.MaxBatch)
	must(p.Graph.Kernel >= 0, "graph.kernel_kib must not be negative, got %g", float64(p.Graph.Kernel/units.KiB))
	must(p.MTP.Tokens >= 0, "mtp.tokens must not be negative, got %d", p.MTP.Tokens)
	must(len(p.Hosts) > 0 && p.Hosts[Generic] != Terms{}, "host.times_us.%s is missing", Generic)
	for _, generation := range slices.Sorted(maps.Keys(p.Hosts)) {
		t := p.Hosts[generation]
		least := min(t.PerStep, t.PerSequence, t.PerPrefillStep, t.PerLayer, t.APIFixed, t.APIPerToken, t.First,
			t.Floor.Dense, t.Floor.MoE, t.Floor.Latent, t.Floor.Linear)
		must(least >= 0, "host.times_us.%s: a time must not be negative, got %s", generation, least)
	}
	return errors.Join(errs...)
}

// inUnit is false for NaN.
func inUnit(x float64) bool { return x >= 0 && x <= 1 }
