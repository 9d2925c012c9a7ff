package model

import (
	"cmp"
	"encoding/json"
)

// ropeScaling is how a config stretches its rotary embedding beyond the positions it
// was trained on.
type ropeScaling struct {
	Type     string  `json:"rope_type"`
	OldType  string  `json:"type"`
	Factor   float64 `json:"factor"`
	Original int     `json:"original_max_position_embeddings"`
}

// reach is the positions that the scaling reaches, 0 where it says nothing of them.
// The max_position_embeddings of other types (llama3, longrope) hold the stretched
// length already; engines do as here.
func (s *ropeScaling) reach(positions int) int {
	from := positions
	switch cmp.Or(s.Type, s.OldType) {
	case "yarn":
		from = cmp.Or(s.Original, positions)
	case "linear", "dynamic":
	default:
		return 0
	}
	if !(s.Factor > 1 && from > 0) {
		return 0
	}
	return int(min(float64(from)*s.Factor, maxPositions))
}

// scaled is the positions that the config's rope scaling reaches beyond the others; 0
// without any. What cannot be read as one scales nothing.
func (r *reader) scaled(positions int) int {
	var config struct {
		Scaling    json.RawMessage `json:"rope_scaling"`
		Parameters json.RawMessage `json:"rope_parameters"` // its newer name
	}
	if json.Unmarshal(r.text, &config) != nil {
		return 0
	}
	most := 0
	for _, raw := range []json.RawMessage{config.Scaling, config.Parameters} {
		var s ropeScaling
		if present(raw) && json.Unmarshal(raw, &s) == nil {
			most = max(most, s.reach(positions))
		}
	}
	if most <= positions {
		return 0
	}
	return most
}

// Context is the most tokens a sequence may have.
func (m *Model) Context() int { return max(m.MaxPosition, m.ScaledPosition) }
