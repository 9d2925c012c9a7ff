package model

// parseGeneric reads any decoder whose config has the usual fields, under the
// names that spellings lists.
func parseGeneric(r *reader, c *decoder) *Model {
	if c.MaxPosition == 0 {
		c.MaxPosition = genericPositions
		r.notes = append(r.notes, "max_position_embeddings is not stated; 131072 is assumed.")
	}
	r.notes = append(r.notes, "A generic decoder has two norms and a gated feed-forward part per layer, and no vision tower.")
	return r.build(c, nil)
}

// genericPositions is the context that most models of today state.
const genericPositions = 131072
