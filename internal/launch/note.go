package launch

import (
	"encoding/json"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// mark begins the comment with the parts of a deployment that are not engine settings.
const mark = "# plimsoll: "

// note is the part of a deployment that is not in the settings of its engines. Files have it
// as a comment, so that reading a file gives the whole deployment.
type note struct {
	System    string               `json:"system"`
	Engine    string               `json:"engine"`
	Version   string               `json:"version,omitempty"`
	AsFamily  string               `json:"as_family,omitempty"`
	Formats   deployment.Formats   `json:"formats,omitzero"`
	Routing   string               `json:"routing,omitempty"`
	Host      deployment.HostCache `json:"host_cache,omitzero"`
	Modelling deployment.Modelling `json:"modelling,omitzero"`
	Input     int                  `json:"input"`
	Output    int                  `json:"output"`
	Prefix    int                  `json:"prefix,omitempty"`
	Copies    int                  `json:"copies"`
	Pools     []notedPool          `json:"pools,omitempty"`
}

// notedPool is the same of a pool. Its settings are those that its engine has no name for.
type notedPool struct {
	Role            deployment.Role    `json:"role"`
	System          string             `json:"system,omitempty"`
	Formats         deployment.Formats `json:"formats,omitzero"`
	Settings        []string           `json:"settings,omitempty"`
	AcceptanceRates []float64          `json:"acceptance_rates,omitempty"`
}

// Note is the comment line with the parts of a deployment that the settings in a file do not
// contain; pools are the plan's values, and units is the number of copies the file starts.
func (p *Plan) Note(pools []Values, units int) string {
	d := &p.Deployment
	n := &note{
		System: d.System, Engine: pools[0].Engine, Version: pools[0].Version, AsFamily: d.AsFamily,
		Formats: d.Formats, Routing: d.Routing, Host: d.Host, Modelling: d.Modelling, Input: p.Input, Output: p.Output, Prefix: p.Prefix, Copies: units,
	}
	for i := range d.Pools {
		q := &d.Pools[i]
		noted := notedPool{q.Role, q.System, q.Formats, pools[i].ModelOnly, q.AcceptanceRates}
		if q.System != "" || q.Formats != (deployment.Formats{}) || len(noted.Settings)+len(noted.AcceptanceRates) > 0 {
			n.Pools = append(n.Pools, noted)
		}
	}
	return mark + compact(n)
}

// findNote reads the comment of a file, nil if it has none.
func findNote(data string) *note {
	for line := range strings.Lines(data) {
		_, text, ok := strings.Cut(line, mark)
		if !ok {
			continue
		}
		n := &note{}
		if json.Unmarshal([]byte(text), n) == nil {
			return n
		}
	}
	return nil
}

// pool is the note of a pool.
func (n *note) pool(r deployment.Role) notedPool {
	for _, p := range n.Pools {
		if p.Role == r {
			return p
		}
	}
	return notedPool{}
}
