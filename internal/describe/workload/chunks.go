package workload

// Piece is a part of requests' prompts computed in one step: Requests of them,
// Query tokens each, with Seq tokens of the prompt done afterwards.
type Piece struct {
	Requests, Query, Seq int
	Last                 bool // completes the prompt
}

// Chunks cuts a prompt of length tokens into pieces of at most budget. A budget
// below one counts as one.
func Chunks(length, budget int) []Piece {
	budget = max(1, budget)
	var out []Piece
	for done := 0; done < length; {
		q := min(budget, length-done)
		done += q
		out = append(out, Piece{Requests: 1, Query: q, Seq: done, Last: done == length})
	}
	return out
}

// Pack fills steps of budget tokens with the requests of rows, in order; a
// prompt is cut where a step is full. Each step is a list of pieces. A budget
// below one counts as one.
func Pack(rows []Row, budget int) [][]Piece {
	budget = max(1, budget)
	var steps [][]Piece
	left := 0
	for _, r := range rows {
		for range r.Samples {
			for done := 0; done < r.Query; {
				if left == 0 {
					steps = append(steps, nil)
					left = budget
				}
				q := min(left, r.Query-done)
				done += q
				left -= q
				last := len(steps) - 1
				steps[last] = appendPiece(steps[last], Piece{1, q, done, done == r.Query})
			}
		}
	}
	return steps
}

// appendPiece joins equal neighbours.
func appendPiece(pieces []Piece, p Piece) []Piece {
	if n := len(pieces); n > 0 {
		if l := &pieces[n-1]; l.Query == p.Query && l.Seq == p.Seq && l.Last == p.Last {
			l.Requests++
			return pieces
		}
	}
	return append(pieces, p)
}
