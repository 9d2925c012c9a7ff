package engine

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

//go:embed presets.yaml
var presetsFile []byte

// Preset holds settings of published deployments of an engine.
type Preset struct {
	Engine string `yaml:"engine" json:"engine"`
	Name   string `yaml:"name" json:"name"`
	Source string `yaml:"source" json:"source"`
	// Extends names a preset of the engine whose rules come first.
	Extends string `yaml:"extends" json:"extends,omitempty"`
	// Assumed is the mode of deployments for whose measured rows the preset fills in missing
	// settings, "" for none.
	Assumed string `yaml:"assumed" json:"assumed,omitempty"`
	Rules   []Rule `yaml:"rules" json:"rules"`

	all []Rule // with those of the preset it extends
}

// Rule is settings of some workers.
type Rule struct {
	// Role is that of the workers, "" for any: both, prefill or decode. Generations are those
	// of their devices, Ranks the minimum number of attention data-parallel ranks; Narrow
	// weights have 8 or 4 bits, Recurrent models have layers with a state. Since is the first release
	// whose deployments have the settings; a build that is no release comes before all.
	Role        string   `yaml:"role" json:"role,omitempty"`
	Generations []string `yaml:"generations" json:"generations,omitempty"`
	Narrow      bool     `yaml:"narrow" json:"narrow,omitempty"`
	Recurrent   bool     `yaml:"recurrent" json:"recurrent,omitempty"`
	Ranks       int      `yaml:"ranks" json:"ranks,omitempty"`
	Since       string   `yaml:"since" json:"since,omitempty"`
	// Set are settings, Least those that keep a larger default, each "key=value".
	Set   []string `yaml:"set" json:"set,omitempty"`
	Least []string `yaml:"least" json:"least,omitempty"`
	// Others are further published values of settings.
	Others map[string][]string `yaml:"others" json:"others,omitempty"`
	// Unsaid settings are missing in rows that give others.
	Unsaid bool `yaml:"unsaid" json:"unsaid,omitempty"`
	// Says describes the assumption.
	Says string `yaml:"says" json:"says,omitempty"`
}

// The values that depend on the load.
const (
	asBatch    = "batch"       // the requests of a rank
	belowBatch = "below-batch" // the power of two below, unless it is one or a multiple of graphStep
)

// graphStep is the distance of the larger batches that recipes capture graphs for.
const graphStep = 8

//nolint:gochecknoglobals // read once, never changed
var presets = embedded.Once("engine: presets.yaml", presetsFile, parsePresets)

// parsePresets reads a file of presets.
func parsePresets(data []byte) ([]Preset, error) {
	all, err := embedded.YAML[[]Preset](data)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for i := range all {
		p := &all[i]
		p.all = p.Rules
		if p.Extends == "" {
			continue
		}
		at := slices.IndexFunc(all[:i], func(q Preset) bool { return q.Engine == p.Engine && q.Name == p.Extends })
		if at < 0 {
			return nil, fmt.Errorf("%s: preset %s extends %s, which does not come before it", p.Engine, p.Name, p.Extends)
		}
		p.all = slices.Concat(all[at].all, p.Rules)
	}
	return all, nil
}

// Presets are those of an engine, in the order they are shown. A port has none of the engine's: those are of deployments on other devices or with
// other model code.
func Presets(engine string) []Preset {
	return slices.DeleteFunc(slices.Clone(presets()), func(p Preset) bool { return p.Engine != engine })
}

// PresetNames are the names of presets of any engine, in the order they are shown.
func PresetNames() []string {
	var out []string
	for _, p := range presets() {
		if !slices.Contains(out, p.Name) {
			out = append(out, p.Name)
		}
	}
	return out
}

// Preset finds a preset of the engine.
func (p *Profile) Preset(name string) (*Preset, error) {
	var names []string
	for _, s := range Presets(p.Name) {
		if normal(s.Name) == normal(name) {
			return &s, nil
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("unknown preset %q: the engine %s has none", name, p.Name)
	}
	return nil, fmt.Errorf("unknown preset %q of the engine %s%s (presets: %s)", name, p.Name, nearest.Hint(name, names), strings.Join(names, ", "))
}

// The modes whose measured rows take settings from a preset.
const (
	Aggregated    = "aggregated"
	Disaggregated = "disaggregated"
)

// Assumed is the preset for measured rows of a mode, nil if there is none.
func (p *Profile) Assumed(mode string) *Preset {
	for _, s := range Presets(p.Name) {
		if s.Assumed == mode {
			return &s
		}
	}
	return nil
}

// Unsaid is the preset's description of settings missing in measured rows.
func (s *Preset) Unsaid() *Preset {
	out := *s
	out.all = slices.DeleteFunc(slices.Clone(s.all), func(r Rule) bool { return !r.Unsaid })
	return &out
}

// Place describes workers that a preset may apply to.
type Place struct {
	Role       string
	Generation string
	Narrow     bool
	Recurrent  bool
	Ranks      int
	Release    string  // of the engine, "" is the newest
	Batch      float64 // requests of a rank, on average; 0 is unknown
	// Given reports whether a setting is set, so that the preset does not apply.
	Given func(key string) bool
}

// Drawn is a setting taken from a preset.
type Drawn struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"` // "" is the engine's default, which others differ from
	Says  string `json:"-"`               // description, "" for none
	// Others are further published values.
	Others []string `json:"also,omitempty"`
}

// For lists the settings that the preset gives an engine on its device at a place.
func (s *Preset) For(p *Profile, at Place) []Drawn {
	var out []Drawn
	entry := func(key string) *Drawn {
		i := slices.IndexFunc(out, func(d Drawn) bool { return d.Key == key })
		if i < 0 {
			i = len(out)
			out = append(out, Drawn{Key: key})
		}
		return &out[i]
	}
	for i := range s.all {
		r := &s.all[i]
		if !r.fits(&at) {
			continue
		}
		for _, a := range slices.Concat(r.Set, r.Least) {
			key, value, _ := strings.Cut(a, "=")
			value = at.value(value)
			if at.Given(key) || value == "" || slices.Contains(r.Least, a) && p.atLeast(key, value) {
				continue
			}
			e := entry(key)
			e.Value, e.Says, e.Others = value, r.Says, nil
		}
		for key, others := range r.Others {
			if !at.Given(key) {
				entry(key).Others = others
			}
		}
	}
	for i := range out {
		out[i].Others = slices.DeleteFunc(slices.Clone(out[i].Others), func(v string) bool { return v == out[i].Value })
	}
	slices.SortStableFunc(out, func(a, b Drawn) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// fits reports whether a rule applies to a place.
func (r *Rule) fits(at *Place) bool {
	return (r.Role == "" || r.Role == at.Role) && (len(r.Generations) == 0 || slices.Contains(r.Generations, at.Generation)) &&
		(!r.Narrow || at.Narrow) && (!r.Recurrent || at.Recurrent) && at.Ranks >= r.Ranks &&
		(r.Since == "" || at.Release == "" || version.Compare(at.Release, r.Since) >= 0)
}

// value is the value of a setting under the load, "" if unknown.
func (at *Place) value(word string) string {
	switch n := at.Batch; {
	case word != asBatch && word != belowBatch:
		return word
	case n == 0:
		return ""
	case word == asBatch:
		return strconv.Itoa(int(math.Ceil(n)))
	case n < 1 || math.Mod(n, graphStep) == 0:
		return ""
	default:
		if most := 1 << (bits.Len(uint(n)) - 1); float64(most) < n {
			return strconv.Itoa(most)
		}
		return ""
	}
}

// atLeast reports whether a setting is at least a number, or off.
func (p *Profile) atLeast(key, value string) bool {
	s := withKey(p.settings(), key)
	if s == nil {
		return false
	}
	is, _ := strconv.ParseFloat(s.text(), 64)
	least, _ := strconv.ParseFloat(value, 64)
	return is >= least || is == 0
}
